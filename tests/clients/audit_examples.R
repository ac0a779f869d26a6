# Audit the examples that a file of JSON lists, and write what R has of each: arguments are that file and the output.

library(tcdpaudit)

places <- commandArgs(trailingOnly = TRUE)
examples <- jsonlite::fromJSON(places[1], simplifyVector = FALSE)

read_frame <- function(example) {
  if (is.null(example$table)) return(NULL)
  types <- if (example$typed) NA else "character"
  utils::read.csv(example$table, colClasses = types, na.strings = "", check.names = FALSE, encoding = "UTF-8")
}

figure <- function(x) ifelse(is.na(x), "null", ifelse(is.infinite(x), "infinity", sprintf("%.17g", x)))

answers <- lapply(examples, function(example) {
  frame <- read_frame(example)
  audit <- suppressWarnings(tcdp_check(frame, example$policy))
  list(
    json = audit$json,
    exit_code = audit$exit_code,
    observed = I(figure(audit$outcomes$observed)),
    threshold = I(figure(audit$outcomes$threshold)),
    failing = I(figure(audit$outcomes$failing)),
    status = I(audit$outcomes$status),
    check = I(audit$outcomes$check)
  )
})

writeLines(jsonlite::toJSON(answers, auto_unbox = TRUE), places[2], useBytes = TRUE)
