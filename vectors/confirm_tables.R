# Measures that confirm.R has not among those on classes: risks, histories, other tables, cells and rules.
keys <- function(v, t) {
  quasi <- names(v$declared$attributes)[sapply(v$declared$attributes, function(a) a$role == "quasi_identifier")]
  do.call(paste, c(lapply(quasi, function(n) paste0("=", t[[n]])), sep = "\r\r"))
}
companion <- function(v, name) read_table(file.path(v$folder, v$declared[[name]]$table))
whole_histories <- function(v, t) {
  history <- tapply(keys(v, t), t[[v$declared$unit]], function(x) paste(sort(x), collapse = "\r\r\r"))
  min(table(history))
}
events <- function(v, t) lapply(split(keys(v, t), t[[v$declared$unit]]), table)
holds <- function(known, history) all(known <= at(setNames(as.numeric(history), names(history)), names(known)))
support <- function(known, all_of) sum(sapply(all_of, function(h) holds(known, h)))
choices <- function(history, m) {
  rows <- rep(names(history), history)
  combn(seq_along(rows), min(m, length(rows)), function(i) table(rows[i]), simplify = FALSE)
}
franconi <- function(f, total) {
  p <- f / total
  if (total <= f) return(1 / f)
  if (f == 1) return(p / (1 - p) * log(1 / p))
  if (f == 2) return(p / (1 - p) - (p / (1 - p))^2 * log(1 / p))
  p / (f - (1 - p))
}
pairs_of <- function(v, t) {
  o <- companion(v, "original")
  key <- v$declared$key
  merge(t[, c(key, "value")], o[, c(key, "value")], by = key, suffixes = c(".masked", ".original"))
}
minimal <- function(t) { # of each row, the sizes of its minimal uniques
  names_of <- names(t)
  found <- rep(list(list()), nrow(t))
  for (size in seq_along(names_of)) for (chosen in combn(names_of, size, simplify = FALSE)) {
    key <- do.call(paste, c(t[chosen], sep = "\r"))
    for (i in which(!(key %in% key[duplicated(key)])))
      if (!any(sapply(found[[i]], function(s) all(s %in% chosen)))) found[[i]] <- c(found[[i]], list(chosen))
  }
  found
}
contributions <- function(v, t) {
  t$x <- as.numeric(t[[v$declared$value]])
  sums <- aggregate(t$x, list(cell = t[[v$declared$cell]], who = t[[v$declared$unit]]), sum)
  lapply(split(sums$x, sums$cell), sort, decreasing = TRUE)
}
shown <- function(v, t) t[[v$parameters$column]][!(t[[v$parameters$column]] %in% c("", "*"))]

others <- c(others, list(
  k_map = function(v, t) {
    people <- table(keys(v, companion(v, "population")))
    min(people[unique(keys(v, t))])
  },
  delta_presence = function(v, t) {
    people <- table(keys(v, companion(v, "population")))
    presence <- at(table(keys(v, t)), names(people)) / as.numeric(people)
    structure(max(presence), fails = min(presence) < num(or(v$parameters$delta_min, 0)))
  },
  population_uniqueness = function(v, t) {
    people <- table(keys(v, companion(v, "population")))
    f <- table(keys(v, t))
    alone <- names(f)[f == 1]
    if (length(alone)) mean(people[alone] == 1) else 0
  },
  individual_risk = function(v, t) {
    rows <- split(seq_len(nrow(t)), keys(v, t))
    r <- sapply(rows, function(i) franconi(length(i), sum(as.numeric(t[[v$declared$weight]][i]))))
    switch(v$parameters$measure, highest = max(r), expected = sum(r * lengths(rows)),
           average = sum(r * lengths(rows)) / nrow(t))
  },
  suda = function(v, t) mean(sapply(minimal(t), function(s) any(lengths(s) <= as.integer(v$parameters$max_size)))),
  suda_score = function(v, t) max(sapply(minimal(t), function(s) sum(factorial(ncol(t) - lengths(s))))),
  known_events = function(v, t) {
    all_of <- events(v, t)
    min(sapply(all_of, function(h) min(sapply(choices(h, as.integer(v$parameters$m)), support, all_of))))
  },
  unicity = function(v, t) {
    all_of <- events(v, t)
    mean(sapply(all_of, function(h) mean(sapply(choices(h, as.integer(v$parameters$points)), support, all_of) == 1)))
  },
  sd_interval_disclosure = function(v, t) {
    x <- pairs_of(v, t)
    known <- x$value.masked != "" & x$value.original != ""
    o <- companion(v, "original")$value
    limit <- num(v$parameters$p) / 100 * sd(as.numeric(o[o != ""]))
    gap <- abs(as.numeric(x$value.masked) - as.numeric(x$value.original))
    sum(known & (gap < limit | near(gap, limit)), na.rm = TRUE) / nrow(x)
  },
  rank_interval_disclosure = function(v, t) {
    x <- pairs_of(v, t)
    masked <- sort(as.numeric(t$value[t$value != ""]))
    w <- floor(num(v$parameters$p) * length(masked) / 200 + 1e-9)
    inside <- mapply(function(a, b) {
      if (a == "" || b == "") return(FALSE)
      place <- range(which(masked == as.numeric(a)))
      as.numeric(b) >= masked[max(place[1] - w, 1)] && as.numeric(b) <= masked[min(place[2] + w, length(masked))]
    }, x$value.masked, x$value.original)
    mean(inside)
  },
  distance_record_linkage = function(v, t) {
    o <- companion(v, "original")
    z <- function(x) { x <- as.numeric(x); if (sd(x) == 0) x * 0 else (x - mean(x)) / sd(x) }
    gap <- abs(outer(z(t$value), z(o$value), `-`))
    mean(sapply(seq_len(nrow(t)), function(i) {
      tied <- o$key[near(gap[i, ], min(gap[i, ]))]
      if (t$key[i] %in% tied) 1 / length(tied) else 0
    }))
  },
  singling_out = function(v, t) {
    f <- table(keys(v, t))
    alone <- names(f)[f == 1]
    people <- table(keys(v, companion(v, "original")))
    if (length(alone)) mean(at(setNames(as.numeric(people), names(people)), alone) == 1) else NA
  },
  dominance = function(v, t) max(sapply(contributions(v, t), function(x)
    if (sum(x)) 100 * sum(head(x, as.integer(v$parameters$n))) / sum(x) else -Inf)),
  p_percent = function(v, t) min(sapply(contributions(v, t), function(x)
    if (sum(x)) 100 * sum(x[-(1:2)]) / x[1] else Inf)),
  cell_frequency = function(v, t) {
    x <- as.numeric(t[[v$declared$count]])
    if (or(v$parameters$zeros, "") != "counted") x <- x[x != 0]
    if (length(x)) min(x) else Inf
  },
  age_cap = function(v, t) {
    cap <- as.integer(v$parameters$at)
    sum(sapply(shown(v, t), function(age) {
      if (grepl("[+]$", age)) as.integer(sub("[+]", "", age)) > cap + 1 else as.integer(sub(".*-", "", age)) > cap
    }))
  },
  region_population = function(v, t) {
    o <- companion(v, "population")
    people <- tapply(as.numeric(o[[v$declared$population$count]]), o[[v$parameters$column]], sum)
    min(people[shown(v, t)])
  }
))
