# The objects were made with sdcMicro 5.8.1 from an invented table of 119 people in 40 households, and hold its figures:
# sdc_plain.rds by four keys, sdc_household.rds with households, sdc_suppressed.rds after local suppression and
# microaggregation.

figures_of <- function(audit) {
  details <- tcdp_details(audit)
  function(name) details$value[details$check == "individual_risk" & details$detail == name][1]
}

test_that("the current variables are read without sdcMicro", {
  data <- tcdp_data_from_sdc(stored_object("sdc_suppressed"))

  expect_identical(dim(data), c(119L, 12L))
  expect_identical(vapply(data[c("region", "sex", "age", "job")], function(x) sum(is.na(x)), 0L), c(region = 1L, sex = 0L, age = 7L, job = 29L))
  expect_identical(as.character(data$note[1:2]), c("n 1", "n 2"))
})

test_that("slots become roles", {
  expect_message(policy <- tcdp_policy_from_sdc(stored_object("sdc_household"), k = 3, l = 2, at_most = 0.1), "note")
  roles <- vapply(policy$attributes, function(one) one$role, "")

  expect_identical(names(roles)[roles == "quasi_identifier"], c("region", "sex", "age", "job"))
  expect_identical(names(roles)[roles == "sensitive"], "illness")
  expect_identical(names(roles)[roles == "TODO"], "note")
  expect_identical(policy$weight, "weight")
  expect_identical(policy$household, "home")
  expect_identical(policy$attributes$age$order, c("0-17", "18-64", "65+"))
  expect_identical(policy$expect[[3]], list(k_anonymity = list(k = 3, known_rows = "one")))
})

test_that("the figures are sdcMicro's own", {
  skip_without_program()
  for (name in c("sdc_plain", "sdc_household", "sdc_suppressed")) {
    sdc <- stored_object(name)
    risk <- attr(sdc, "risk")
    policy <- suppressMessages(tcdp_policy_from_sdc(sdc, k = 2, others = "insensitive"))

    audit <- tcdp_check(sdc, policy)
    figure <- figures_of(audit)
    k <- audit$outcomes[audit$outcomes$check == "k_anonymity", ]

    expect_equal(figure("expected"), risk$global$risk_ER, tolerance = 1e-12)
    expect_equal(figure("highest"), max(risk$individual[, "risk"]), tolerance = 1e-12)
    expect_identical(k$failing, as.numeric(sum(risk$individual[, "fk"] < 2)))
    expect_identical(k$observed, min(risk$individual[, "fk"]))
    if (name != "sdc_plain") {
      expect_equal(figure("through_household"), risk$global$hier_risk_ER, tolerance = 1e-12)
    }
  }
})

test_that("undecided columns are refused by the program, and decided ones accepted", {
  skip_without_program()
  sdc <- stored_object("sdc_household")

  expect_error(tcdp_check(sdc, suppressMessages(tcdp_policy_from_sdc(sdc, k = 2))), "TODO")
})

test_that("the policy is written to a file", {
  file <- tempfile(fileext = ".tcdp.yaml")

  policy <- suppressMessages(tcdp_policy_from_sdc(stored_object("sdc_plain"), k = 3, file = file))

  expect_identical(readLines(file), policy_lines(policy))
})

test_that("faults are named", {
  sdc <- stored_object("sdc_plain")

  expect_error(tcdp_policy_from_sdc(data.frame()), "class sdcMicroObj")
  expect_error(tcdp_policy_from_sdc(sdc, l = 2), "has none; give sensibleVar")
  attr(sdc, "keyVars") <- 99L
  expect_error(tcdp_policy_from_sdc(sdc), "slot keyVars numbers a column")
  attr(sdc, "origData") <- NULL
  expect_error(tcdp_data_from_sdc(sdc), "holds no data")
})
