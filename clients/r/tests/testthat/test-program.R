left_behind <- function() list.files(tempdir(), "^tcdpaudit-")

test_that("an audit has the program's figures", {
  skip_without_program()

  audit <- tcdp_check(people(), people_policy())
  demand <- audit$outcomes[!audit$outcomes$schema, ]

  expect_identical(audit$status, "failed")
  expect_false(audit$passed)
  expect_identical(audit$exposed, 2L)
  expect_identical(demand$check, "k_anonymity")
  expect_identical(c(demand$observed, demand$threshold, demand$failing, demand$records), c(1, 2, 2, 6))
  expect_identical(audit$columns$name, c("age", "illness", "town"))
  expect_output(print(audit), "Not fit for release")
  expect_identical(left_behind(), character())
})

test_that("NA and an empty text are different values where the policy says so", {
  skip_without_program()
  data <- data.frame(a = c("", "", NA, NA), stringsAsFactors = FALSE)
  policy <- tcdp_policy(data, "a", expect = list(list(k_anonymity = list(k = 2))))
  missing <- function(policy) tcdp_check(data, policy)$columns$missing

  expect_identical(missing(policy), 4)
  policy$conventions <- list(missing_tokens = character())
  expect_identical(missing(policy), 2)
})

test_that("a call that the program refuses is an error with its sentence, and leaves no file", {
  skip_without_program()

  refused <- tryCatch(tcdp_check(people(), list(version = 1, attributes = list())), error = identity)

  expect_s3_class(refused, "tcdp_error")
  expect_identical(refused$exit_code, 2L)
  expect_match(conditionMessage(refused), "policy.tcdp.yaml")
  expect_false(grepl("tcdpaudit-", conditionMessage(refused)))
  expect_error(tcdp_check("nowhere.csv", people_policy()), "no such file")
  expect_error(tcdp_check(data.frame(a = I(list(1))), people_policy()), "is a list")
  expect_identical(left_behind(), character())
})

test_that("an incomplete audit is a warning and does not pass", {
  skip_without_program()
  policy <- people_policy()
  policy$expect <- c(policy$expect, list(list(individual_risk = list(measure = "expected", at_most = 1))))

  expect_warning(audit <- tcdp_check(people()[c(1, 1, 3, 3), ], policy), "incomplete")
  expect_identical(audit$status, "error")
  expect_false(audit$passed)
  expect_error(tcdp_check(people()[0, ], people_policy()), "no records")
})

test_that("a policy that demands nothing measures and does not pass", {
  skip_without_program()
  audit <- tcdp_check(people(), people_policy(k = 1))

  expect_identical(audit$status, "measured")
  expect_false(audit$passed)
})

test_that("a repair returns the table in its types", {
  skip_without_program()
  data <- people()
  data$town <- factor(data$town)

  repair <- tcdp_fix(data, people_policy())

  expect_true(repair$passed)
  expect_true(repair$audit$passed)
  expect_identical(sort(names(repair$data)), c("age", "illness", "town"))
  expect_s3_class(repair$data$town, "factor")
  expect_gt(length(repair$remedies), 0)
  expect_true(repair$loss > 0 && repair$loss <= 1)
  expect_output(print(repair), "remedies: ")
  expect_identical(left_behind(), character())
})

test_that("where no remedy helps, nothing is written and nothing passes", {
  skip_without_program()
  output <- tempfile(fileext = ".csv")

  repair <- tcdp_fix(people(), people_policy(k = 50), output)

  expect_false(repair$passed)
  expect_null(repair$data)
  expect_true(nzchar(repair$reason))
  expect_false(file.exists(output))
})

test_that("an empty text stays one through a repair", {
  skip_without_program()
  data <- data.frame(a = c("x", "x", "y", "y"), b = c("", NA, "s", "t"), n = c(1.5, 2, NA, 0.1), stringsAsFactors = FALSE)
  policy <- tcdp_policy(data, "a", others = "insensitive", expect = list(list(k_anonymity = list(k = 2))))

  repaired <- tcdp_fix(data, policy)$data

  expect_identical(sort(repaired$b, na.last = TRUE), sort(data$b, na.last = TRUE))
  expect_identical(sort(repaired$n), sort(data$n))
})

test_that("a frontier has points, and pictures", {
  skip_without_program()

  front <- tcdp_frontier(people(), people_policy(), list(k_anonymity = c(2, 3)), options = c("--workers", "1"))

  expect_identical(front$demands, "k_anonymity")
  expect_true(front$complete)
  expect_false(is.unsorted(front$points$loss))
  expect_true(all(front$points$k_anonymity >= front$points$demanded_k_anonymity))
  expect_output(print(front), "on the front")
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  plot(front)
  grDevices::dev.off()
  expect_gt(file.size(picture), 1000)
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::autoplot(front)
  expect_s3_class(drawn, "ggplot")
  expect_identical(nrow(ggplot2::ggplot_build(drawn)$data[[2]]), nrow(front$points))
  expect_error(tcdp_frontier(people(), people_policy(), c(2, 3)), "vary must name")
})

test_that("without the program an error says how to get it", {
  before <- options(tcdpaudit.command = "no-such-program")
  on.exit(options(before))

  expect_false(tcdp_available())
  expect_error(tcdp_check(people(), people_policy()), "was not found: install it")
})

test_that("options must be text and not what is set here", {
  expect_error(tcdp_check(people(), people_policy(), options = 1), "options must be text")
  expect_error(tcdp_check(people(), people_policy(), options = "--json"), "--json is set here")
})
