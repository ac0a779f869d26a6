# A repair: one call of `tcdp-audit fix`, and the repaired table.

tcdp_fix <- function(data, policy, output = NULL, original = NULL, population = NULL, report = NULL,
                     options = character()) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  name <- name_of(substitute(data))
  arguments <- call_arguments(data, policy, original, population, report, options, folder, name)
  written <- if (is.null(output)) output_path(arguments[1], folder) else output
  answer <- call_for_json(c("fix", arguments, "--output", written, "--json"), folder)
  like <- if (is_sdc(data)) tcdp_data_from_sdc(data) else if (is.data.frame(data)) data
  audit <- new_audit(answer)
  log <- answer$value$change_log
  structure(
    class = "tcdp_repair",
    list(
      passed = answer$code == 0,
      data = if (is_readable(written)) read_table(written, like),
      audit = audit,
      reason = or_na(log$reason, ""),
      remedies = vapply(log$steps, function(step) step$remedy, ""),
      records_suppressed = figure_of(log$records_suppressed),
      cells_changed = unlist(log$cells_changed),
      loss = figure_of(log$loss$total),
      change_log = log
    )
  )
}

#' A private file for the repaired release, in the form of the input where it is one of text.
output_path <- function(release, folder) {
  form <- regmatches(release, regexpr("\\.(csv|tsv|jsonl|ndjson)$", release))
  file.path(folder, paste0("repaired", if (length(form)) form else ".csv"))
}

is_readable <- function(path) {
  file.exists(path) && !dir.exists(path) && grepl("\\.(csv|tsv|jsonl|ndjson)$", path)
}

print.tcdp_repair <- function(x, ...) {
  print(x$audit)
  cat("\n")
  if (length(x$remedies)) cat("remedies: ", paste(x$remedies, collapse = ", "), "\n", sep = "")
  if (!is.na(x$loss)) cat("mean loss of a cell: ", format(x$loss, digits = 3), "\n", sep = "")
  if (nzchar(x$reason)) cat(strwrap(x$reason), sep = "\n")
  if (is.null(x$data)) {
    cat("no table was read back\n")
  } else {
    cat("data: ", nrow(x$data), " records, ", ncol(x$data), " columns\n", sep = "")
  }
  invisible(x)
}
