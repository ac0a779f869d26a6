# Tests that call the program are skipped where it is not installed, and fail where everything is promised to be there.

skip_without_program <- function() {
  if (tcdp_available()) return(invisible())
  if (nzchar(Sys.getenv("TCDP_AUDIT_REQUIRE_ALL"))) stop("must not be skipped here: tcdp-audit was not found")
  skip("tcdp-audit was not found")
}

stored_object <- function(name) readRDS(test_path(paste0(name, ".rds")))

people <- function() {
  data.frame(
    town = c("A", "A", "B", "B", "B", "A"), age = c(31L, 31L, 42L, 42L, 57L, 60L),
    illness = c("flu", "gout", "flu", "flu", "none", "gout"), stringsAsFactors = FALSE
  )
}

people_policy <- function(k = 2) {
  tcdp_policy(people(), c("town", "age"), "illness", expect = list(list(k_anonymity = list(k = k))))
}
