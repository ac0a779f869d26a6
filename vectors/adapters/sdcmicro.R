# sdcMicro 5.8.1 on the vectors that it has a measure for, by its documentation. It has not been run here.
#
#   Rscript vectors/adapters/sdcmicro.R vectors/cases      prints id and figure, separated by a tab
#
# A missing quasi-identifier matches every value in freqCalc (alpha = 1), so that only vectors with `wildcard`, or
# without missing cells, are asked. sdcMicro has no people with several rows and no exempt records.
library(jsonlite)
library(sdcMicro)

read_table <- function(path) read.csv(path, colClasses = "character", na.strings = "", check.names = FALSE)
figure <- function(v, t, keys) {
  fk <- function(w = NULL) freqCalc(t, keyVars = keys, w = w, alpha = 1)
  value <- v$parameters$attribute
  companion <- function(name) read_table(file.path(v$folder, v$declared[[name]]$table))
  switch(v$measure,
    k_anonymity = min(fk()$fk),
    sample_uniqueness = mean(fk()$fk == 1),
    reidentification_risk = switch(if (is.null(v$parameters$measure)) "highest" else v$parameters$measure,
      highest = max(1 / fk()$fk), average = mean(1 / fk()$fk), share_above = NULL),
    distinct_l_diversity = min(ldiversity(t, keyVars = keys, ldiv_index = value)[, paste0(value, "_Distinct_Ldiversity")]),
    entropy_l_diversity = min(ldiversity(t, keyVars = keys, ldiv_index = value)[, paste0(value, "_Entropy_Ldiversity")]),
    individual_risk = {
      t[[v$declared$weight]] <- as.numeric(t[[v$declared$weight]])
      risk <- indivRisk(fk(match(v$declared$weight, names(t))))$rk
      switch(v$parameters$measure, highest = max(risk), average = mean(risk), expected = sum(risk))
    },
    suda_score = max(suda2(as.data.frame(lapply(t[keys], factor)), variables = keys)$score),
    sd_interval_disclosure = {
      pair <- merge(t, companion("original"), by = v$declared$key, suffixes = c(".masked", ".original"))
      number <- function(name) data.frame(value = as.numeric(pair[[name]]))
      dRisk(number("value.original"), xm = number("value.masked"), k = as.numeric(v$parameters$p) / 100)
    })
}

root <- commandArgs(TRUE)[1]
for (path in sort(list.files(root, "[.]json$", recursive = TRUE, full.names = TRUE))) {
  v <- fromJSON(path, simplifyVector = FALSE)
  v$folder <- dirname(path)
  t <- read_table(file.path(v$folder, v$table))
  roles <- vapply(v$declared$attributes, function(a) a$role, "")
  keys <- names(roles)[roles == "quasi_identifier"]
  plain <- length(setdiff(names(v$conventions), "missing_quasi_identifier")) == 0 && is.null(v$declared$unit)
  wild <- identical(v$conventions$missing_quasi_identifier, "wildcard")
  if (!plain || nrow(t) == 0 || (!wild && anyNA(t[keys]))) next
  said <- tryCatch(figure(v, t, keys), error = function(e) "refuses")
  if (!is.null(said)) cat(v$id, "\t", if (is.numeric(said)) sprintf("%.15g", said) else said, "\n", sep = "")
}
