# Policies: a file, or a list with the keys of one, written as JSON, which is YAML too.

LISTS <- c( # keys whose value is a list, also of one
  "order", "missing_tokens", "suppressed_tokens", "expect", "remedy", "plugins", "knows", "attributes",
  "previous_policies"
)
PLACES <- c("release", "original", "population", "holdout", "registry", "previous", "schema", "suite")

tcdp_policy <- function(data, quasi_identifiers = character(), sensitive = character(), identifiers = character(),
                        others = c("TODO", "insensitive"), expect = list(), ...) {
  others <- match.arg(others)
  require_frame(data)
  named <- list(quasi_identifier = quasi_identifiers, sensitive = sensitive, identifier = identifiers)
  all <- unlist(named, use.names = FALSE)
  absent <- setdiff(all, names(data))
  if (length(absent)) stop("the data have no column '", absent[1], "'", call. = FALSE)
  if (anyDuplicated(all)) stop("column '", all[anyDuplicated(all)], "' has two roles; give it one", call. = FALSE)
  role_of <- function(name) {
    role <- names(Filter(function(columns) name %in% columns, named))
    if (length(role)) role else others
  }
  further <- list(...)
  if (length(further) && (is.null(names(further)) || any(names(further) == ""))) {
    stop("name what else the policy says, such as weight = \"w\"", call. = FALSE)
  }
  weights <- unlist(further[c("weight", "household_weight")])
  attributes <- lapply(setNames(nm = names(data)), function(name) {
    if (name %in% setdiff(weights, all)) return(list(role = "insensitive", scale = "numeric"))
    attribute_of(data[[name]], role_of(name))
  })
  new_policy(c(list(version = 1, attributes = attributes), further, list(expect = expect)))
}

#' What a policy says of a column: its role, and its scale where the role asks for one.
attribute_of <- function(column, role, scale = NULL, reason = NULL) {
  attribute <- list(role = role)
  if (role %in% c("quasi_identifier", "sensitive")) {
    attribute$scale <- if (!is.null(scale)) scale else scale_of(column)
    if (attribute$scale == "ordinal") attribute$order <- levels(column)
  }
  attribute$reason <- reason
  attribute
}

scale_of <- function(column) {
  if (is.ordered(column)) "ordinal" else if (is.numeric(column) && !is.factor(column)) "numeric" else "nominal"
}

new_policy <- function(policy) structure(policy, class = "tcdp_policy")

print.tcdp_policy <- function(x, ...) {
  cat(policy_lines(x), sep = "\n")
  invisible(x)
}

tcdp_write_policy <- function(policy, file) {
  if (!is.list(policy)) stop("policy must be a list", call. = FALSE)
  if (!is.character(file) || length(file) != 1) stop("file must be one path, such as people.tcdp.yaml", call. = FALSE)
  if (file.exists(file)) stop(file, ": exists already; remove it, or write to another file", call. = FALSE)
  aside <- paste0(file, ".part")
  on.exit(unlink(aside))
  write_lines(policy_lines(policy), aside)
  if (!file.rename(aside, file)) stop("cannot write ", file, call. = FALSE)
  invisible(file)
}

#' A policy as lines: a line for each key, column and demand.
policy_lines <- function(policy) {
  nested <- c("attributes", "expect", "remedy")
  unlist(lapply(names(policy), function(key) {
    value <- policy[[key]]
    if (!key %in% nested || length(value) == 0) return(paste0(key, ": ", as_json(value, key)))
    items <- vapply(value, as_json, "")
    c(paste0(key, ":"), paste0("  ", if (key == "attributes") paste0(json_texts(names(value)), ": ") else "- ", items))
  }))
}

#' The path of a policy: that of the file, or of one written into `folder`.
policy_path <- function(policy, folder) {
  if (is.character(policy) && length(policy) == 1) {
    if (!file.exists(policy)) stop(policy, ": no such file", call. = FALSE)
    return(policy)
  }
  if (!is.list(policy)) stop("policy must be the path of a policy, or a list with its keys", call. = FALSE)
  path <- file.path(folder, "policy.tcdp.yaml")
  write_lines(policy_lines(with_places(policy)), path)
  path
}

#' The policy with paths that do not depend on the folder of its file: in a list they start from the working folder.
with_places <- function(policy) {
  absolute <- function(place) {
    if (!is.character(place) || any(grepl("^[A-Za-z][A-Za-z0-9+.-]+:", place))) return(place)
    normalizePath(place, mustWork = FALSE)
  }
  for (key in intersect(PLACES, names(policy))) {
    place <- policy[[key]]
    policy[[key]] <- if (is.list(place) && is.character(place$file)) {
      modifyList(place, list(file = absolute(place$file)))
    } else {
      absolute(place)
    }
  }
  policy$attributes <- lapply(policy$attributes, function(attribute) {
    if (is.list(attribute) && is.character(attribute$hierarchy)) attribute$hierarchy <- absolute(attribute$hierarchy)
    attribute
  })
  policy
}

write_lines <- function(lines, path) {
  connection <- file(path, "wb")
  on.exit(close(connection))
  writeLines(enc2utf8(lines), connection, sep = "\n", useBytes = TRUE)
}

#' A value as JSON. Numbers keep all digits; a vector of one is a single value, unless its key has a list or it is AsIs.
as_json <- function(value, key = "") {
  single <- function(x) {
    if (is.na(x)) "null" else if (is.logical(x)) tolower(x) else if (is.numeric(x)) number_texts(as.numeric(x)) else json_texts(x)
  }
  if (is.null(value)) return("null")
  if (is.factor(value)) value <- as.character(value)
  if (is.list(value) && !is.null(names(value))) {
    members <- mapply(function(name, member) paste0(json_texts(name), ": ", as_json(member, name)), names(value), value)
    return(paste0("{", paste(members, collapse = ", "), "}"))
  }
  if (!is.list(value) && !is.atomic(value)) stop("a policy has no place for a ", class(value)[1], call. = FALSE)
  as_list <- is.list(value) || length(value) != 1 || inherits(value, "AsIs") || key %in% LISTS
  items <- if (is.list(value)) vapply(value, as_json, "") else vapply(unclass(value), single, "")
  if (as_list) paste0("[", paste(items, collapse = ", "), "]") else unname(items)
}

#' Texts as JSON strings.
json_texts <- function(x) {
  x <- gsub("\\", "\\\\", enc2utf8(x), fixed = TRUE)
  x <- gsub("\"", "\\\"", x, fixed = TRUE)
  for (code in c(1:31, 127)) {
    sign <- intToUtf8(code)
    x <- gsub(sign, sprintf("\\u%04x", code), x, fixed = TRUE)
  }
  paste0("\"", x, "\"")
}
