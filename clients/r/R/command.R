# The program: where it is, and one call of it. Every call has a folder of its own, which is removed however it ends.

COMMAND <- "tcdp-audit"
PYTHON_MODULE <- c("-m", "tcdp_audit")

#' The program and the arguments that come before those of a call; NULL where there is none.
find_command <- function() {
  command <- getOption("tcdpaudit.command", Sys.getenv("TCDP_AUDIT_COMMAND"))
  if (!is.character(command) || anyNA(command)) {
    stop("the option tcdpaudit.command holds no text; set it to the path of tcdp-audit", call. = FALSE)
  }
  if (length(command) == 0 || identical(command, "")) command <- COMMAND
  program <- Sys.which(command[1])
  if (!nzchar(program)) NULL else c(unname(program), command[-1])
}

tcdp_available <- function() !is.null(find_command())

#' The program, or an error that says how to get it.
require_command <- function() {
  command <- find_command()
  if (is.null(command)) {
    stop(
      "the program tcdp-audit was not found: install it (pip install PATH/TO/COPY), or name it by ",
      "options(tcdpaudit.command = \"/path/to/tcdp-audit\") or the variable TCDP_AUDIT_COMMAND",
      call. = FALSE
    )
  }
  command
}

#' A folder for the files of one call, which other users cannot read.
private_folder <- function() {
  folder <- tempfile("tcdpaudit-")
  if (!dir.create(folder, mode = "0700")) {
    stop("cannot make a folder for temporary files in ", tempdir(), call. = FALSE)
  }
  folder
}

#' Run the program. Returns its exit code, its standard output as one text, and its standard error.
run_command <- function(arguments, folder) {
  command <- require_command()
  out <- file.path(folder, "stdout")
  err <- file.path(folder, "stderr")
  quotes <- if (.Platform$OS.type == "windows") "cmd2" else "sh"
  arguments <- shQuote(c(command[-1], enc2utf8(arguments)), type = quotes)
  code <- suppressWarnings(system2(command[1], arguments, stdout = out, stderr = err))
  list(code = code, output = read_text(out), complaint = trimws(read_text(err)))
}

#' The JSON that a call of the program prints. Without any, its complaint becomes an error of class `tcdp_error`.
call_for_json <- function(arguments, folder) {
  run <- run_command(arguments, folder)
  if (startsWith(run$output, "{")) {
    value <- fromJSON(run$output, simplifyVector = FALSE)
    return(list(value = value, code = run$code, complaint = run$complaint, json = run$output))
  }
  complaint <- gsub(paste0(folder, "/"), "", run$complaint, fixed = TRUE) # lists and frames have no path
  if (!nzchar(complaint)) complaint <- paste("tcdp-audit ended with code", run$code, "and said nothing")
  stop(structure(
    class = c("tcdp_error", "error", "condition"),
    list(message = complaint, call = NULL, exit_code = run$code)
  ))
}

read_text <- function(path) {
  if (!file.exists(path)) return("")
  bytes <- readBin(path, "raw", file.size(path))
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}
