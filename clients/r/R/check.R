# An audit: one call of `tcdp-audit check`, and its result.

tcdp_check <- function(data, policy, original = NULL, population = NULL, report = NULL, options = character()) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  name <- name_of(substitute(data))
  arguments <- call_arguments(data, policy, original, population, report, options, folder, name)
  answer <- call_for_json(c("check", arguments, "--json"), folder)
  audit <- new_audit(answer)
  if (audit$status == "error") warning("the audit is incomplete: ", audit$sentence, call. = FALSE)
  audit
}

#' A name for the file of a frame: that of the variable, if it is one.
name_of <- function(expression) {
  name <- if (is.symbol(expression)) as.character(expression) else ""
  if (grepl("^[A-Za-z][A-Za-z0-9._]*$", name)) name else "data"
}

#' The arguments that commands on a release have in common. Frames become files in `folder`.
call_arguments <- function(data, policy, original, population, report, options, folder, name) {
  if (!is.character(options)) stop("options must be text, such as c(\"--memory\", \"1GiB\")", call. = FALSE)
  if (any(options == "--json")) stop("options: --json is set here", call. = FALSE)
  named <- function(option, value) if (is.null(value)) character() else as.vector(rbind(option, value))
  c(
    release_path(data, folder, name),
    "--policy", policy_path(policy, folder),
    named("--original", companion_path(original, folder, "original")),
    named("--population", companion_path(population, folder, "population")),
    named("--report", report),
    options
  )
}

#' The path of a release: a path as it is, a frame or an object of sdcMicro as a file; none for NULL.
release_path <- function(data, folder, name) {
  if (is.null(data)) return(character())
  if (is.character(data) && length(data) == 1 && !is.na(data)) return(data)
  if (is_sdc(data)) data <- tcdp_data_from_sdc(data)
  write_table(data, folder, name)
}

companion_path <- function(table, folder, name) {
  if (is.null(table) || is.character(table)) table else release_path(table, folder, name)
}

new_audit <- function(answer) {
  result <- answer$value
  structure(
    class = "tcdp_audit",
    list(
      status = result$status,
      passed = answer$code == 0,
      title = result$verdict$title,
      sentence = result$verdict$sentence,
      exposed = or_na(result$exposed$records),
      outcomes = outcomes_of(result$outcomes),
      columns = columns_of(result$columns),
      exit_code = answer$code,
      result = result,
      json = answer$json
    )
  )
}

#' A row for each outcome: schema checks first, then the demands in the policy's order.
outcomes_of <- function(outcomes) {
  text <- function(key) vapply(outcomes, function(one) or_na(one[[key]], NA_character_), "")
  number <- function(get) vapply(outcomes, function(one) figure_of(get(one)), 0)
  table <- data.frame(
    check = text("check"),
    attribute = text("attribute"),
    scenario = text("scenario"),
    unit = text("unit"),
    status = text("status"),
    observed = number(function(one) one$observed),
    comparison = text("comparison"),
    threshold = number(function(one) one$threshold),
    severity = text("severity"),
    records = number(function(one) one$records$total),
    failing = number(function(one) one$records$failing),
    schema = vapply(outcomes, function(one) identical(one$source, "tcdp-audit: structure"), NA),
    message = text("message"),
    stringsAsFactors = FALSE
  )
  table$parameters <- lapply(outcomes, function(one) one$parameters)
  table$details <- lapply(outcomes, function(one) one$details)
  as_table(table)
}

columns_of <- function(columns) {
  text <- function(key) vapply(columns, function(one) or_na(one[[key]], NA_character_), "")
  number <- function(key) vapply(columns, function(one) figure_of(one[[key]]), 0)
  as_table(data.frame(
    name = text("name"), role = text("role"), scale = text("scale"),
    values = number("values"), missing = number("missing"),
    present = vapply(columns, function(one) isTRUE(one$present), NA),
    stringsAsFactors = FALSE
  ))
}

#' A figure of a result: JSON has no infinity, and says so in words.
figure_of <- function(value) {
  if (is.null(value)) NA_real_ else if (identical(value, "infinity")) Inf else as.numeric(value)
}

or_na <- function(value, missing = NA) if (is.null(value)) missing else value

tcdp_details <- function(audit) {
  if (inherits(audit, "tcdp_repair")) audit <- audit$audit
  if (!inherits(audit, "tcdp_audit")) stop("audit must be a result of tcdp_check() or tcdp_fix()", call. = FALSE)
  outcomes <- audit$outcomes
  rows <- lapply(which(!outcomes$schema), function(i) {
    figures <- Filter(function(value) is.numeric(value) && length(value) == 1, outcomes$details[[i]])
    if (length(figures) == 0) return(NULL)
    data.frame(
      outcome = i, check = outcomes$check[i], attribute = outcomes$attribute[i], detail = names(figures),
      value = as.numeric(unlist(figures)), stringsAsFactors = FALSE
    )
  })
  empty <- data.frame(
    outcome = integer(), check = character(), attribute = character(), detail = character(), value = numeric()
  )
  as_table(do.call(rbind, c(list(empty), rows)))
}

as.data.frame.tcdp_audit <- function(x, ...) as.data.frame(x$outcomes)

print.tcdp_audit <- function(x, ...) {
  cat(x$title, "\n", sep = "")
  cat(strwrap(x$sentence), sep = "\n")
  demands <- x$outcomes[!x$outcomes$schema | x$outcomes$status %in% c("failed", "error"), ]
  if (nrow(demands)) {
    cat("\n")
    print(demand_lines(demands), row.names = FALSE, right = FALSE)
  }
  invisible(x)
}

demand_lines <- function(demands) {
  figure <- function(x) ifelse(is.na(x), "", vapply(x, format, "", digits = 4, scientific = 7))
  about <- ifelse(is.na(demands$attribute), "", demands$attribute)
  demanded <- ifelse(is.na(demands$threshold), "", paste(demands$comparison, figure(demands$threshold)))
  data.frame(
    status = demands$status, check = demands$check, attribute = about,
    observed = figure(demands$observed), demanded = demanded
  )
}
