# Answers every vector a second time: in another language, from README.md, without the reference in Python.
#
#   Rscript vectors/confirm.R [FOLDER]     prints one line for each vector: id, figure (digits or Inf or NA), verdict
#
# Figures are doubles: they confirm an answer to eleven digits, and a verdict wherever the figure is not the threshold
# itself to the last digit, in which case a relative difference below 1e-12 counts as equal.
library(jsonlite)

or <- function(a, b) if (is.null(a)) b else a
num <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/")[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts
}
read_table <- function(path)
  read.csv(path, colClasses = "character", na.strings = character(0), check.names = FALSE,
           strip.white = FALSE, encoding = "UTF-8", quote = "\"", comment.char = "")
near <- function(a, b) abs(a - b) <= 1e-12 * pmax(1, abs(a), abs(b))
above <- function(a, b) a > b & !near(a, b)

# The classes of a table: a list of row numbers, of the rows that count with them, and of counts of values.
classes <- function(v, t) {
  con <- v$conventions
  quasi <- names(v$declared$attributes)[sapply(v$declared$attributes, function(a) a$role == "quasi_identifier")]
  secret <- names(v$declared$attributes)[sapply(v$declared$attributes, function(a) a$role == "sensitive")]
  tokens <- unlist(or(con$missing_tokens, ""))
  stars <- unlist(or(con$suppressed_tokens, "*"))
  if (or(con$suppressed, "counted") == "exempt") {
    covered <- Reduce(`&`, lapply(c(quasi, secret), function(n) t[[n]] %in% stars), rep(TRUE, nrow(t)))
    t <- t[!covered, , drop = FALSE]
  }
  if (nrow(t) == 0) return(NULL)
  attribute <- v$parameters$attribute
  multiple <- or(con$multiple_sensitive, "per_attribute")
  known <- if (multiple == "others_as_quasi_identifiers") c(quasi, setdiff(secret, attribute)) else quasi
  value <- rep(NA_character_, nrow(t))
  if (!is.null(attribute)) {
    used <- if (multiple == "joint") secret else attribute
    value <- do.call(paste, c(lapply(used, function(n) t[[n]]), sep = "\r\r"))
    gone <- Reduce(`|`, lapply(used, function(n) t[[n]] %in% tokens))
    value[gone] <- if (or(con$missing_sensitive, "excluded") == "own_category") "\r\rmissing" else NA
  }
  cell <- lapply(known, function(n) ifelse(t[[n]] %in% tokens, NA, t[[n]]))
  key <- do.call(paste, c(lapply(cell, function(x) ifelse(is.na(x), "\rno", paste0("=", x))), sep = "\r\r"))
  person <- if (is.null(v$declared$unit)) as.character(seq_len(nrow(t))) else t[[v$declared$unit]]
  own <- split(seq_len(nrow(t)), match(key, key))
  alike <- own
  if (or(con$missing_quasi_identifier, "own_category") == "wildcard")
    alike <- lapply(own, function(rows) which(Reduce(`&`, lapply(cell, function(x) {
      a <- x[rows[1]]
      is.na(a) | is.na(x) | x == a
    }))))
  tally <- function(rows) {
    pair <- unique(data.frame(p = person[rows], v = value[rows], stringsAsFactors = FALSE))
    have <- pair$v[!is.na(pair$v)]
    levels <- unique(have)
    setNames(as.numeric(tabulate(match(have, levels), length(levels))), levels)
  }
  counts <- lapply(alike, tally)
  members <- sapply(alike, function(rows) length(unique(person[rows][!is.na(value[rows])])))
  size <- sapply(alike, function(rows) length(unique(person[rows])))
  mixture <- unlist(lapply(unname(own), tally))
  q <- tapply(mixture, names(mixture), sum)
  kind <- or(con$reference, "release")
  if (kind == "original") {
    x <- read_table(file.path(v$folder, v$declared$original$table))[[attribute]]
    q <- table(x[!(x %in% tokens)])
  }
  if (kind == "declared") {
    d <- v$declared$attributes[[attribute]]$distribution
    if (identical(d, "uniform")) {
      names_of <- unlist(or(v$declared$attributes[[attribute]]$order, names(q)))
      q <- setNames(rep(1, length(names_of)), names_of)
    } else q <- sapply(d, num)
  }
  q <- if (length(q)) setNames(as.numeric(q) / sum(q), names(q)) else numeric(0)
  lacks <- (or(con$missing_quasi_identifier, "") == "fail" && any(sapply(cell, anyNA))) ||
    (or(con$missing_sensitive, "") == "fail" && !is.null(attribute) && anyNA(value))
  list(t = t, own = own, size = size, counts = counts, members = members, q = q, person = person, lacks = lacks,
       key = key, cell = cell)
}
certain <- function(counts, members) length(counts) > 0 && any(counts == members)
at <- function(p, names_of) {
  found <- p[match(names_of, names(p))]
  found[is.na(found)] <- 0
  unname(found)
}
domain <- function(v, J) {
  a <- v$declared$attributes[[v$parameters$attribute]]
  if (!is.null(a$order)) return(unlist(a$order))
  values <- unique(c(names(J$q), unlist(lapply(J$counts, names))))
  values[order(as.numeric(values))]
}
tree_cost <- function(node, extra) { # returns height, surplus below, cost not yet divided by the tree's height
  if (is.null(names(node))) {
    x <- at(extra, unlist(node))
    return(list(h = 1, s = sum(x), cost = min(sum(x[x > 0]), -sum(x[x < 0]))))
  }
  parts <- lapply(node, tree_cost, extra)
  s <- sapply(parts, function(p) p$s)
  h <- 1 + max(sapply(parts, function(p) p$h))
  list(h = h, s = sum(s), cost = h * min(sum(s[s > 0]), -sum(s[s < 0])) + sum(sapply(parts, function(p) p$cost)))
}
figure <- function(v, J, i) {
  n <- J$counts[[i]]
  p <- n / sum(n)
  all_names <- union(names(p), names(J$q))
  P <- at(p, all_names); Q <- at(J$q, all_names)
  sure <- certain(n, J$members[i])
  switch(v$measure,
    k_anonymity = J$size[i],
    alpha_k_anonymity = max(n) / J$members[i],
    p_sensitive_k_anonymity = , distinct_l_diversity = if (sure) 1 else length(n),
    entropy_l_diversity = if (sure) 1 else exp(-sum(p * log(p))),
    recursive_cl_diversity = {
      r <- sort(n, decreasing = TRUE); l <- as.integer(v$parameters$l)
      if (sure || length(r) < l) Inf else r[1] / sum(r[l:length(r)])
    },
    background_knowledge = J$members[i] - max(n),
    skewness = {
      harmful <- unlist(or(v$parameters$sensitive_values, all_names))
      max(0, (P / Q)[all_names %in% harmful & Q > 0])
    },
    t_closeness_equal = sum(abs(P - Q)) / 2,
    t_closeness_ordered = {
      o <- domain(v, J)
      if (length(o) < 2) 0 else sum(abs(cumsum(at(p, o) - at(J$q, o)))) / (length(o) - 1)
    },
    t_closeness_numeric = {
      o <- domain(v, J); x <- as.numeric(o)
      if (length(o) < 2) 0 else
        sum(abs(cumsum(at(p, o) - at(J$q, o)))[-length(o)] * diff(x)) / (max(x) - min(x))
    },
    t_closeness_hierarchical = {
      found <- tree_cost(v$declared$attributes[[v$parameters$attribute]]$hierarchy[[1]], setNames(P - Q, all_names))
      found$cost / found$h
    },
    t_closeness_multiplicative = if (any((P > 0) != (Q > 0))) Inf else max((P / Q)[P > 0], (Q / P)[P > 0]),
    basic_beta_likeness = if (any(P > 0 & Q == 0)) Inf else max(0, ((P - Q) / Q)[P > 0]),
    enhanced_beta_likeness = {
      g <- ((P - Q) / Q)[P > 0]; bound <- -log(Q[P > 0])
      if (any(Q[P > 0] == 0) || any(above(g, bound) & g > 0)) Inf else max(0, g)
    },
    delta_disclosure = if (any((P > 0) != (Q > 0))) Inf else max(abs(log(P / Q)[P > 0]))
  )
}
KEEPS <- list(k_anonymity = "k >=", alpha_k_anonymity = "alpha <=", p_sensitive_k_anonymity = "p >=",
  distinct_l_diversity = "l >=", entropy_l_diversity = "l >=", recursive_cl_diversity = "c <",
  background_knowledge = "at_least >=", skewness = "at_most <=", t_closeness_equal = "t <=",
  t_closeness_ordered = "t <=", t_closeness_numeric = "t <=", t_closeness_hierarchical = "t <=",
  t_closeness_multiplicative = "t <=", basic_beta_likeness = "beta <=", enhanced_beta_likeness = "beta <=",
  delta_disclosure = "delta <", k_map = "k >=", known_events = "k >=", cell_frequency = "k >=", p_percent = "p >=",
  region_population = "at_least >=", delta_presence = "delta_max <=", dominance = "k <=")
kept <- function(v, x) {
  rule <- strsplit(or(KEEPS[[v$measure]], "at_most <="), " ")[[1]]
  limit <- v$parameters[[rule[1]]]
  if (is.null(limit)) return(NA)
  limit <- num(limit)
  if (is.infinite(x)) return(rule[2] == ">=")
  switch(rule[2], ">=" = x > limit || near(x, limit), "<=" = x < limit || near(x, limit), "<" = x < limit && !near(x, limit))
}
of_values <- function(v) !(v$measure %in% c("k_anonymity"))

by_class <- function(v, t) {
  J <- classes(v, t)
  if (is.null(J)) return(list(x = NA, ok = FALSE))
  falling <- grepl(">=", KEEPS[[v$measure]])
  x <- sapply(seq_along(J$own), function(i)
    if (of_values(v) && length(J$counts[[i]]) == 0) (if (falling) 0 else Inf) else figure(v, J, i))
  worst <- if (falling) min(x) else max(x)
  list(x = worst, ok = kept(v, worst) && !J$lacks && all(J$size >= num(or(v$parameters$k, 1))))
}
share <- function(J, chosen) {
  rows <- unlist(J$own[chosen])
  length(unique(J$person[rows])) / length(unique(J$person))
}
others <- list(
  sample_uniqueness = function(v, t) { J <- classes(v, t); if (is.null(J)) NA else share(J, J$size == 1) },
  homogeneity = function(v, t) {
    J <- classes(v, t)
    if (is.null(J)) return(NA)
    share(J, sapply(seq_along(J$own), function(i) length(J$counts[[i]]) == 0 || certain(J$counts[[i]], J$members[i])))
  },
  reidentification_risk = function(v, t) {
    J <- classes(v, t)
    if (is.null(J)) return(NA)
    switch(or(v$parameters$measure, "highest"), highest = max(1 / J$size),
      average = sum(sapply(J$own, length) / J$size) / nrow(J$t),
      share_above = share(J, above(1 / J$size, num(v$parameters$threshold_risk))))
  }
)
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE))), "confirm_tables.R"))

answer <- function(v) {
  t <- read_table(file.path(v$folder, v$table))
  if (nrow(t) == 0) return(c("NA", "fail"))
  whole <- v$measure == "k_anonymity" && !is.null(v$declared$unit) && or(v$conventions$known_rows, "all") == "all"
  if (!whole && v$measure %in% names(KEEPS)[1:16]) {
    found <- by_class(v, t)
  } else {
    x <- if (whole) whole_histories(v, t) else others[[v$measure]](v, t)
    ok <- if (is.na(x)) FALSE else kept(v, x) && !isTRUE(attr(x, "fails"))
    J <- if (v$measure %in% c("sample_uniqueness", "homogeneity", "reidentification_risk")) classes(v, t)
    if (!is.null(J) && J$lacks) ok <- FALSE
    found <- list(x = as.numeric(x), ok = ok)
  }
  verdict <- if (is.na(found$x)) "fail" else if (is.na(found$ok)) "" else if (found$ok) "pass" else "fail"
  c(format(found$x, digits = 15), verdict)
}

root <- commandArgs(TRUE)
root <- if (length(root)) root[1] else file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE))), "cases")
for (path in sort(list.files(root, "[.]json$", recursive = TRUE, full.names = TRUE))) {
  v <- fromJSON(path, simplifyVector = FALSE)
  v$folder <- dirname(path)
  cat(paste(c(v$id, answer(v)), collapse = "\t"), "\n", sep = "")
}
