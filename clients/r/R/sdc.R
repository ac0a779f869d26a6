# Objects of sdcMicro, read by their slots: sdcMicro need not be installed.
#
# An object of a class that R does not know is still an S4 object with its slots; `attr()` reads them. A slot that is
# NULL is stored as a symbol.

tcdp_data_from_sdc <- function(sdc) {
  require_sdc(sdc)
  data <- sdc_slot(sdc, "origData")
  for (pair in list(
    c("manipKeyVars", "keyVars"), c("manipNumVars", "numVars"), c("manipPramVars", "pramVars")
  )) {
    changed <- sdc_slot(sdc, pair[1])
    if (is.null(changed)) next
    columns <- sdc_columns(sdc, pair[2])
    if (length(columns) != ncol(changed)) stop("the object's slots ", pair[1], " and ", pair[2], " differ", call. = FALSE)
    for (i in seq_along(columns)) data[[columns[i]]] <- changed[[i]]
  }
  ghosts <- sdc_slot(sdc, "manipGhostVars")
  for (name in names(ghosts)) data[[name]] <- ghosts[[name]]
  strata <- sdc_slot(sdc, "manipStrataVar")
  column <- sdc_columns(sdc, "strataVar")
  if (!is.null(strata) && length(column) == 1) data[[column]] <- strata
  data <- as.data.frame(data)
  data[setdiff(names(data), sdc_slot(sdc, "deletedVars"))]
}

tcdp_policy_from_sdc <- function(sdc, k = NULL, l = NULL, at_most = NULL, others = c("TODO", "insensitive"),
                                 file = NULL) {
  others <- match.arg(others)
  data <- tcdp_data_from_sdc(sdc)
  slots <- lapply(
    setNames(nm = c("keyVars", "sensibleVar", "weightVar", "hhId", "numVars", "pramVars", "strataVar")),
    function(slot) sdc_columns(sdc, slot)
  )
  slots$ghostVars <- unlist(lapply(sdc_slot(sdc, "ghostVars"), function(one) as.character(one[[2]])))
  attributes <- lapply(setNames(nm = names(data)), function(name) sdc_attribute(name, data[[name]], slots, others))
  if (!is.null(l) && length(slots$sensibleVar) == 0) {
    stop("l asks for a sensitive variable, and the object has none; give sensibleVar to createSdcObj()", call. = FALSE)
  }
  undecided <- names(Filter(function(attribute) attribute$role == "TODO", attributes))
  policy <- list(version = 1)
  if (length(slots$weightVar)) policy$weight <- slots$weightVar
  if (length(slots$hhId)) policy$household <- slots$hhId
  policy$attributes <- attributes
  policy$conventions <- list(missing_quasi_identifier = "wildcard") # as sdcMicro counts, with alpha = 1
  policy$expect <- sdc_demands(slots, k, l, at_most)
  policy <- new_policy(policy)
  if (length(undecided)) {
    message(
      "sdcMicro gives no role to ", paste(undecided, collapse = ", "),
      ": decide each `role: TODO`, or say others = \"insensitive\" if an intruder knows none of them"
    )
  }
  if (!is.null(file)) tcdp_write_policy(policy, file)
  policy
}

sdc_attribute <- function(name, column, slots, others) {
  is_in <- function(slot) name %in% slots[[slot]]
  if (is_in("keyVars")) return(attribute_of(column, "quasi_identifier", if (is.ordered(column)) "ordinal" else "nominal"))
  if (is_in("sensibleVar")) return(attribute_of(column, "sensitive"))
  reasons <- c(
    weightVar = "the sampling weight of sdcMicro",
    hhId = "the household number of sdcMicro",
    numVars = "a numerical key variable of sdcMicro, which is in no class",
    pramVars = "a PRAM variable of sdcMicro, which is in no class",
    ghostVars = "a ghost variable of sdcMicro, suppressed with its key variable",
    strataVar = "the stratification variable of sdcMicro"
  )
  for (slot in names(reasons)) {
    if (!is_in(slot)) next
    attribute <- list(role = "insensitive")
    if (slot %in% c("weightVar", "numVars")) attribute$scale <- "numeric"
    attribute$reason <- reasons[[slot]]
    return(attribute)
  }
  list(role = others)
}

#' The figures that sdcMicro prints, and demands where a threshold is given.
sdc_demands <- function(slots, k, l, at_most) {
  alone <- if (length(slots$hhId)) list(known_rows = "one") # people by themselves
  demand <- function(check, ...) setNames(list(c(list(...), alone)), check)
  demands <- list()
  if (length(slots$weightVar)) {
    demands <- list(demand("individual_risk", measure = if (length(slots$hhId)) "through_household" else "expected"))
    if (!is.null(at_most)) demands <- c(demands, list(demand("individual_risk", measure = "highest", at_most = at_most)))
  } else if (!is.null(at_most)) {
    demands <- list(demand("reidentification_risk", at_most = at_most))
  }
  demands <- c(demands, list(if (is.null(k)) demand("k_anonymity", k = 1) else demand("k_anonymity", k = k)))
  if (!is.null(l)) demands <- c(demands, list(demand("distinct_l_diversity", l = l)))
  demands
}

is_sdc <- function(x) isS4(x) && "sdcMicroObj" %in% class(x)

require_sdc <- function(x) {
  if (!is_sdc(x)) stop("sdc must be an object of class sdcMicroObj, as createSdcObj() of sdcMicro returns", call. = FALSE)
  if (is.null(sdc_slot(x, "origData"))) stop("the object of sdcMicro holds no data", call. = FALSE)
}

#' A slot of an object whose class may be unknown; NULL where it has none.
sdc_slot <- function(sdc, name) {
  value <- attr(sdc, name, exact = TRUE)
  if (is.symbol(value)) NULL else value
}

#' The names of the columns that a slot numbers.
sdc_columns <- function(sdc, slot) {
  places <- sdc_slot(sdc, slot)
  columns <- names(sdc_slot(sdc, "origData"))
  if (is.character(places)) return(places)
  if (length(places) && !all(places %in% seq_along(columns))) {
    stop("the object's slot ", slot, " numbers a column that its data do not have", call. = FALSE)
  }
  columns[places]
}
