test_that("a policy has a line for each column and demand", {
  expect_identical(
    policy_lines(people_policy()),
    c(
      "version: 1", "attributes:",
      "  \"town\": {\"role\": \"quasi_identifier\", \"scale\": \"nominal\"}",
      "  \"age\": {\"role\": \"quasi_identifier\", \"scale\": \"numeric\"}",
      "  \"illness\": {\"role\": \"sensitive\", \"scale\": \"nominal\"}",
      "expect:", "  - {\"k_anonymity\": {\"k\": 2}}"
    )
  )
})

test_that("a list of one stays a list where a policy has one", {
  expect_identical(as_json(list(order = "a", t = 1 / 3)), "{\"order\": [\"a\"], \"t\": 0.3333333333333333}")
  expect_identical(as_json(list(a = I("x"), b = TRUE, c = NULL)), "{\"a\": [\"x\"], \"b\": true, \"c\": null}")
  expect_identical(as_json(list(attributes = "x")), "{\"attributes\": [\"x\"]}")
})

test_that("an ordered factor has its order", {
  data <- data.frame(x = factor("low", levels = c("low", "high"), ordered = TRUE))

  expect_identical(tcdp_policy(data, "x")$attributes$x$order, c("low", "high"))
})

test_that("undecided columns are TODO, a weight is numeric", {
  policy <- tcdp_policy(data.frame(a = "x", w = 1, b = "y"), "a", weight = "w")

  expect_identical(policy$attributes$b, list(role = "TODO"))
  expect_identical(policy$attributes$w, list(role = "insensitive", scale = "numeric"))
})

test_that("faults are named", {
  expect_error(tcdp_policy(people(), "city"), "no column 'city'")
  expect_error(tcdp_policy(people(), "town", "town"), "'town' has two roles")
  expect_error(tcdp_policy(people(), "town", character(), character(), "TODO", list(), "w"), "name what else")
  expect_error(policy_path("nowhere.yaml", tempdir()), "nowhere.yaml: no such file")
  expect_error(policy_path(3, tempdir()), "must be the path of a policy")
  expect_error(as_json(list(f = mean)), "no place for a function")
})

test_that("a file is written whole and never replaced", {
  file <- tempfile(fileext = ".tcdp.yaml")

  tcdp_write_policy(people_policy(), file)

  expect_identical(readLines(file), policy_lines(people_policy()))
  expect_error(tcdp_write_policy(people_policy(), file), "exists already")
  expect_false(file.exists(paste0(file, ".part")))
})

test_that("paths of a list start from the working folder", {
  policy <- list(original = "a.csv", population = "postgresql://host/db", attributes = list(x = list(hierarchy = "h.csv")))

  placed <- with_places(policy)

  expect_identical(placed$original, normalizePath("a.csv", mustWork = FALSE))
  expect_identical(placed$population, policy$population)
  expect_identical(placed$attributes$x$hierarchy, normalizePath("h.csv", mustWork = FALSE))
})
