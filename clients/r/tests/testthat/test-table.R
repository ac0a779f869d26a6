written <- function(data) {
  folder <- tempfile()
  dir.create(folder)
  path <- write_table(data, folder, "data")
  list(path = path, lines = readLines(path, encoding = "UTF-8"))
}

test_that("numbers have the fewest digits that give them back", {
  numbers <- c(0.1, 1 / 3, 0.1 + 0.2, 1e15, 123456789012, 100000, 1e5 + 0.5, -0, 2^53 + 2, 1e300, pi * 1e-8)

  texts <- number_texts(numbers)

  expect_identical(as.numeric(texts), numbers)
  expect_identical(texts[c(1, 4, 6, 8)], c("0.1", "1000000000000000", "100000", "0"))
  expect_lte(max(nchar(gsub("e.*|[^0-9]|^0+", "", sub("^0\\.", "", texts[1:3])))), 17)
})

test_that("a random number comes back from a file bit by bit", {
  set.seed(1)
  data <- data.frame(x = c(rnorm(500), exp(rnorm(500, 0, 50)), sample(1e6, 100)), y = 1L)

  back <- read_table(written(data)$path, data)

  expect_identical(back$x, data$x)
  expect_identical(back$y, data$y)
})

test_that("whole numbers have no exponent", {
  expect_identical(cell_texts(c(100000L, 1L, NA), "x"), c("100000", "1", NA))
})

test_that("NA is an empty cell of CSV", {
  file <- written(data.frame(a = c("x", NA, "NA"), b = c(1.5, NA, NaN)))

  expect_match(file$path, "\\.csv$")
  expect_identical(file$lines, c("\"a\",\"b\"", "\"x\",\"1.5\"", ",", "\"NA\","))
})

test_that("a frame with an empty text is JSON lines, where null differs from it", {
  file <- written(data.frame(a = c("", NA, "q\"\\"), b = factor(c("x", NA, ""))))

  expect_match(file$path, "\\.jsonl$")
  expect_identical(
    file$lines,
    c("{\"a\":\"\",\"b\":\"x\"}", "{\"a\":null,\"b\":null}", "{\"a\":\"q\\\"\\\\\",\"b\":\"\"}")
  )
  expect_identical(read_table(file$path)$a, c("", NA, "q\"\\"))
})

test_that("a missing cell of a single column is a line", {
  expect_identical(written(data.frame(a = c("x", NA)))$lines, c("\"a\"", "\"x\"", "\"\""))
})

test_that("factors are their labels, also those of other order, and dates are ISO", {
  data <- data.frame(
    f = factor(c("low", "high", NA), levels = c("low", "high"), ordered = TRUE),
    d = as.Date(c("2026-11-20", NA, "1899-01-05")),
    t = as.POSIXct(c("2026-11-20 10:00:00", NA, "2026-11-20 10:00:01"), tz = "UTC"),
    l = c(TRUE, NA, FALSE)
  )

  back <- read_table(written(data)$path, data)

  expect_identical(as.data.frame(back), data)
})

test_that("text with commas, quotes, line ends and letters beyond ASCII comes back", {
  data <- data.frame(a = c("a,b", "say \"no\"", "two\nlines", "M\u00fcller \u6771\u4eac", " blank "), b = 1:5)

  expect_identical(as.data.frame(read_table(written(data)$path, data)), data)
})

test_that("Latin-1 text is written as UTF-8", {
  name <- iconv("M\u00fcller", "UTF-8", "latin1")

  expect_identical(written(data.frame(a = name))$lines[2], "\"M\u00fcller\"")
})

test_that("a missing level of a factor is a missing cell", {
  expect_identical(cell_texts(addNA(factor(c("x", NA))), "f"), c("x", NA))
})

test_that("what has no cell is refused by the column's name", {
  expect_error(write_table(data.frame(a = I(list(1, 2))), tempdir(), "x"), "column 'a' is a list")
  expect_error(write_table(data.frame(a = I(matrix(1:4, 2))), tempdir(), "x"), "column 'a' is a matrix")
  expect_error(write_table(data.frame(a = 1i), tempdir(), "x"), "column 'a' is of type complex")
  expect_error(write_table(data.frame(a = structure(1, class = "integer64")), tempdir(), "x"), "integer64|bit64")
  expect_error(write_table(data.frame(a = "\xff\xfe"), tempdir(), "x"), "no known encoding")
  expect_error(write_table(data.frame(a = 1, a = 2, check.names = FALSE), tempdir(), "x"), "two columns are named 'a'")
  expect_error(write_table(setNames(data.frame(1, 2), c("a", "")), tempdir(), "x"), "column 2 has no name")
  expect_error(write_table(data.frame(), tempdir(), "x"), "no column")
  expect_error(write_table(1:3, tempdir(), "x"), "must be a data frame")
})

test_that("generalised cells stay text, and a factor gets their labels", {
  expect_identical(as_before(c("[20, 30)", "31"), c(1, 2)), c("[20, 30)", "31"))
  expect_identical(as_before(c("21", NA), c(1L, 2L)), c(21L, NA))
  expect_setequal(levels(as_before(c("{a, b}", "a"), factor(c("a", "b")))), c("{a, b}", "a"))
})
