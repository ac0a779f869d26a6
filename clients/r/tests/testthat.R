library(testthat)
library(tcdpaudit)

test_check("tcdpaudit")
