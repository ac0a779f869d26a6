# A data frame as a file that the program reads, and the file that it writes as a data frame.
#
# A table is written as CSV. There an empty cell is missing, whatever the policy says, and so cannot be an empty text: a
# frame that has one is written as JSON lines, where null and "" differ.

#' Write a data frame into a folder. Returns the path.
write_table <- function(data, folder, name) {
  require_frame(data)
  cells <- lapply(seq_along(data), function(i) cell_texts(data[[i]], names(data)[i]))
  names(cells) <- utf8_texts(names(data))
  empty_text <- any(vapply(cells, function(cell) any(cell == "", na.rm = TRUE), NA))
  path <- file.path(folder, paste0(name, if (empty_text) ".jsonl" else ".csv"))
  lines <- if (empty_text) json_lines(cells) else csv_lines(cells)
  connection <- file(path, "wb")
  on.exit(close(connection))
  writeLines(lines, connection, sep = "\n", useBytes = TRUE)
  path
}

require_frame <- function(data) {
  if (!is.data.frame(data)) stop("data must be a data frame, or the path of a file", call. = FALSE)
  if (length(data) == 0) stop("the data frame has no column", call. = FALSE)
  if (anyNA(names(data)) || any(names(data) == "")) {
    stop("column ", which(is.na(names(data)) | names(data) == "")[1], " has no name; name every column", call. = FALSE)
  }
  if (anyNA(utf8_texts(names(data)))) stop("a column's name is in no known encoding; rename it", call. = FALSE)
  if (anyDuplicated(names(data))) {
    stop("two columns are named '", names(data)[anyDuplicated(names(data))], "'; rename one", call. = FALSE)
  }
}

#' The cells of a column as text, NA where it has no value.
cell_texts <- function(column, name) {
  refuse <- function(what) stop("column '", name, "' ", what, call. = FALSE)
  if (is.list(column)) refuse("is a list; give it one value in each row")
  if (length(dim(column)) > 1) refuse("is a matrix; make a column of each of its columns")
  if (inherits(column, "integer64")) {
    if (!isNamespaceLoaded("bit64")) refuse("is of class integer64; load bit64 with library(bit64), or convert it")
    texts <- as.character(column)
  } else if (is.factor(column)) {
    texts <- levels(column)[as.integer(column)]
  } else if (inherits(column, "Date")) {
    texts <- format(column, "%Y-%m-%d")
  } else if (inherits(column, "POSIXt")) {
    texts <- time_texts(column)
  } else if (is.character(column)) {
    texts <- as.vector(column)
  } else if (is.logical(column)) {
    texts <- ifelse(as.vector(column), "TRUE", "FALSE")
  } else if (is.integer(column)) {
    texts <- sprintf("%d", as.vector(unclass(column)))
  } else if (is.double(column)) {
    texts <- number_texts(as.vector(unclass(column)))
  } else {
    refuse(paste0("is of type ", typeof(column), "; give text, numbers, dates, factors or TRUE and FALSE"))
  }
  texts[is.na(column)] <- NA_character_
  present <- !is.na(texts)
  texts <- utf8_texts(texts)
  if (anyNA(texts[present])) refuse("holds text in no known encoding; convert it to UTF-8 with iconv()")
  texts
}

#' Texts in UTF-8; NA where the encoding is not known. R would write such a byte as `<ff>`, and so change the cell.
utf8_texts <- function(texts) {
  native <- which(!is.na(texts) & Encoding(texts) == "unknown")
  if (isTRUE(l10n_info()[["Latin-1"]])) {
    texts[native] <- iconv(texts[native], "latin1", "UTF-8")
  } else {
    Encoding(texts[native]) <- "UTF-8"
  }
  texts[Encoding(texts) == "latin1"] <- enc2utf8(texts[Encoding(texts) == "latin1"])
  texts[Encoding(texts) == "bytes" | !validUTF8(texts)] <- NA_character_
  texts
}

#' Numbers in the fewest of 15 to 17 digits that give the same number back.
number_texts <- function(x) {
  x[!is.na(x) & x == 0] <- 0 # without the sign of -0
  texts <- sprintf("%.15g", x)
  finite <- which(is.finite(x))
  for (digits in 16:17) {
    inexact <- finite[as.numeric(texts[finite]) != x[finite]]
    texts[inexact] <- sprintf(paste0("%.", digits, "g"), x[inexact])
  }
  whole <- which(is.finite(x) & x == trunc(x) & abs(x) < 2^53)
  texts[whole] <- sprintf("%.0f", x[whole])
  texts
}

#' Instants in UTC, with as many decimals of a second as they have.
time_texts <- function(x) {
  x <- as.POSIXct(x)
  seconds <- as.numeric(x)
  form <- if (all(seconds == trunc(seconds), na.rm = TRUE)) "%Y-%m-%dT%H:%M:%SZ" else "%Y-%m-%dT%H:%M:%OS6Z"
  format(x, form, tz = "UTC")
}

csv_lines <- function(cells) {
  quoted <- function(x) paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\"")
  missing <- if (length(cells) == 1) "\"\"" else "" # a line without a sign would be skipped
  rows <- lapply(cells, function(texts) ifelse(is.na(texts), missing, quoted(texts)))
  c(paste(quoted(names(cells)), collapse = ","), if (length(rows[[1]])) do.call(paste, c(unname(rows), sep = ",")))
}

json_lines <- function(cells) {
  names <- json_texts(names(cells))
  members <- Map(function(name, texts) paste0(name, ":", ifelse(is.na(texts), "null", json_texts(texts))), names, cells)
  paste0("{", do.call(paste, c(unname(members), sep = ",")), "}")
}

#' Read a table that the program wrote, with the types and levels of the frame that it was made from.
read_table <- function(path, like = NULL) {
  data <- if (grepl("\\.(jsonl|ndjson)$", path)) read_json_lines(path) else read_text_cells(path)
  for (name in intersect(names(data), names(like))) data[[name]] <- as_before(data[[name]], like[[name]])
  as_table(data)
}

read_text_cells <- function(path) {
  separator <- if (grepl("\\.tsv(\\.gz)?$", path)) "\t" else ","
  read.csv(
    path,
    sep = separator, colClasses = "character", na.strings = "", check.names = FALSE, fill = FALSE,
    blank.lines.skip = FALSE, encoding = "UTF-8", quote = "\"", comment.char = "", strip.white = FALSE
  )
}

read_json_lines <- function(path) {
  connection <- file(path, encoding = "UTF-8")
  on.exit(close(connection))
  rows <- lapply(readLines(connection, warn = FALSE), fromJSON, simplifyVector = FALSE)
  columns <- names(rows[[1]])
  cells <- lapply(columns, function(name) vapply(rows, function(row) text_of(row[[name]]), ""))
  data.frame(setNames(cells, columns), check.names = FALSE, stringsAsFactors = FALSE)
}

text_of <- function(value) {
  if (is.null(value)) NA_character_ else if (is.numeric(value)) number_texts(value) else as.character(value)
}

#' Cells in the type that the column had, where all of them are of it; generalised cells such as `[20, 30)` stay text.
as_before <- function(texts, before) {
  if (is.factor(before)) {
    levels <- levels(before)
    if (all(texts %in% levels | is.na(texts))) return(factor(texts, levels, ordered = is.ordered(before)))
    return(factor(texts))
  }
  convert <- if (inherits(before, "Date")) {
    function(x) as.Date(x, format = "%Y-%m-%d")
  } else if (inherits(before, "POSIXt")) {
    function(x) as.POSIXct(x, format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")
  } else if (is.logical(before)) {
    as.logical
  } else if (is.integer(before)) {
    function(x) if (all(is.na(x) | grepl("^-?[0-9]{1,9}$", x))) as.integer(x) else suppressWarnings(as.numeric(x))
  } else if (is.numeric(before)) {
    function(x) suppressWarnings(as.numeric(x))
  } else {
    identity
  }
  values <- convert(texts)
  if (anyNA(values[!is.na(texts)])) texts else values
}

#' A tibble where tibble is installed, else a data frame.
as_table <- function(data) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(data) else as.data.frame(data)
}
