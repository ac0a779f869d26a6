# The frontier of risk and loss: one call of `tcdp-audit frontier`, its table and its pictures.

tcdp_frontier <- function(data, policy, vary = NULL, budget = NULL, original = NULL, population = NULL, report = NULL,
                          options = character()) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  name <- name_of(substitute(data))
  arguments <- call_arguments(data, policy, original, population, report, options, folder, name)
  varied <- unlist(lapply(vary_arguments(vary), function(one) c("--vary", one)))
  limit <- if (!is.null(budget)) c("--budget", number_texts(as.numeric(budget)))
  answer <- call_for_json(c("frontier", arguments, varied, limit, "--json"), folder)
  new_frontier(answer)
}

#' `CHECK=LEVELS` for each demand: numbers become a list, a text such as "3..50" stays.
vary_arguments <- function(vary) {
  if (is.null(vary)) return(character())
  if (is.null(names(vary)) || any(names(vary) == "")) {
    stop("vary must name demands, such as list(k_anonymity = c(3, 5, 10))", call. = FALSE)
  }
  levels <- vapply(vary, function(one) paste(if (is.numeric(one)) number_texts(as.numeric(one)) else one, collapse = ","), "")
  paste0(names(vary), "=", levels)
}

new_frontier <- function(answer) {
  explored <- answer$value
  structure(
    class = "tcdp_frontier",
    list(
      sentence = explored$sentence,
      complete = explored$complete,
      demands = vapply(explored$demands, function(one) one$name, ""),
      points = points_of(explored),
      exit_code = answer$code,
      result = explored,
      json = answer$json
    )
  )
}

#' A row for each point of the front, from the least loss.
points_of <- function(explored) {
  demands <- vapply(explored$demands, function(one) one$name, "")
  columns <- make.unique(demands)
  figures <- function(key) {
    cells <- lapply(seq_along(demands), function(i) vapply(explored$points, function(one) figure_of(one[[key]][[i]]), 0))
    setNames(cells, if (key == "thresholds") paste0("demanded_", columns) else columns)
  }
  text <- function(get) vapply(explored$points, get, "")
  trial_of <- function(one) explored$trials[[one$trial + 1]]
  table <- data.frame(
    point = vapply(explored$points, function(one) as.integer(one$point), 1L),
    loss = vapply(explored$points, function(one) figure_of(one$loss), 0),
    figures("figures"),
    figures("thresholds"),
    reidentified = vapply(explored$points, function(one) figure_of(one$reidentified), 0),
    remedy = text(function(one) paste(unlist(trial_of(one)$titles), collapse = ", ")),
    lines = text(function(one) one$lines),
    check.names = FALSE, stringsAsFactors = FALSE
  )
  as_table(table)
}

as.data.frame.tcdp_frontier <- function(x, ...) as.data.frame(x$points)

print.tcdp_frontier <- function(x, ...) {
  cat(strwrap(x$sentence), sep = "\n")
  if (nrow(x$points)) {
    shown <- as.data.frame(x$points)[c("point", "loss", x$demands, "reidentified", "remedy")]
    cat("\n")
    print(shown, row.names = FALSE, digits = 3, right = FALSE)
  }
  invisible(x)
}

#' The points with a step from each to the next: between two releases nothing safer is known at that loss.
front_of <- function(x) {
  if (nrow(x$points) == 0) stop("the front has no point: no release was found that can be written", call. = FALSE)
  data.frame(
    loss = x$points$loss, figure = x$points[[x$demands[1]]], point = x$points$point, remedy = x$points$remedy,
    stringsAsFactors = FALSE
  )
}

plot.tcdp_frontier <- function(x, xlab = "information lost, mean over cells", ylab = x$demands[1], ...) {
  front <- front_of(x)
  plot(front$loss, front$figure, type = "n", xlab = xlab, ylab = ylab, xlim = range(0, front$loss), ...)
  lines(front$loss, front$figure, type = "s", col = "grey50")
  points(front$loss, front$figure, pch = 19)
  text(front$loss, front$figure, labels = front$point, pos = 3, xpd = NA)
  invisible(x)
}

autoplot.tcdp_frontier <- function(object, ...) {
  if (!requireNamespace("ggplot2", quietly = TRUE)) {
    stop("autoplot needs ggplot2: install.packages(\"ggplot2\"); plot() needs nothing", call. = FALSE)
  }
  front <- front_of(object)
  .data <- ggplot2::.data
  ggplot2::ggplot(front, ggplot2::aes(x = .data[["loss"]], y = .data[["figure"]])) +
    ggplot2::geom_step(colour = "grey50") +
    ggplot2::geom_point(ggplot2::aes(colour = .data[["remedy"]])) +
    ggplot2::geom_text(ggplot2::aes(label = .data[["point"]]), vjust = -0.8) +
    ggplot2::labs(x = "information lost, mean over cells", y = object$demands[1], colour = "remedy")
}
