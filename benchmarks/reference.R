# The location rate of the reference software: R's partykit, on which the authors' package is built, with the paper's
# settings. These are the columns "reference" of docs/method.md and "reference software" of docs/results.md.
#
#   Rscript benchmarks/reference.R DATA_SET RHO WIDTH ALPHA RUNS [IRRELEVANT]
#   Rscript benchmarks/reference.R 2 0.2 24 0.1 100
#
# Debian: apt-get install r-base-core r-cran-partykit. Prints a line of CSV. ALPHA is honoured: a node splits where the
# smallest p-value of its attributes is below it (mincriterion = 1 - ALPHA). The columns have ALPHA 0.1. The published
# package passes alpha on, but its forest sets mincriterion to 0, as ALPHA 1 does here. Seeds are 1 to RUNS; the data
# are of the same distribution as those of ald.datasets.make_synthetic, not the same data.

PEOPLE <- 10000
TREES <- 25
LISTED <- 3
TOLERANCE <- 3.6 # years: 5 % of the span of ages
MIDDLE <- 54

age_band <- function(rho, width) {
  age <- runif(PEOPLE, 18, 90)
  race <- sample(c("r1", "r2", "r3"), PEOPLE, TRUE, c(0.5, 0.3, 0.2))
  gender <- sample(c("g1", "g2", "g3"), PEOPLE, TRUE, c(0.45, 0.45, 0.1))
  inside <- age > MIDDLE - width / 2 & age <= MIDDLE + width / 2
  rate <- ifelse(inside, 0.5 + rho * (72 - width) / 72, 0.5 - rho * width / 72) * c(r1 = 0.4, r2 = 0.5, r3 = 0.6)[race]
  y <- rbinom(PEOPLE, 1, pmin(1, rate * 0.5 / mean(rate)))
  data.frame(y = y, race = factor(race), gender = factor(gender), age = age)
}

hidden_intersection <- function(rho) {
  age <- runif(PEOPLE, 18, 90)
  race <- sample(c("r1", "r2"), PEOPLE, TRUE)
  gender <- sample(c("g1", "g2"), PEOPLE, TRUE)
  rate <- ifelse((race == "r1") == (gender == "g1"), 0.5 - rho / 2, 0.5 + rho / 2)
  data.frame(y = rbinom(PEOPLE, 1, rate), race = factor(race), gender = factor(gender), age = age)
}

with_irrelevant <- function(data, number) {
  for (i in seq_len(number)) {
    data[[paste0("noise", i)]] <- if (i %% 2) factor(sample(letters[1:4], PEOPLE, TRUE)) else runif(PEOPLE)
  }
  data
}

# The conditions on the path to a leaf, merged: an interval of ages, sets of levels, and the names of all attributes.
merged <- function(rule) {
  group <- list(low = -Inf, high = Inf, race = NULL, gender = NULL, others = character(0))
  for (part in strsplit(rule, " & ", fixed = TRUE)[[1]]) {
    name <- strsplit(part, " ", fixed = TRUE)[[1]][1]
    if (name == "age") {
      bound <- as.numeric(sub(".*(<=|>) *", "", part))
      if (grepl("<=", part, fixed = TRUE)) group$high <- min(group$high, bound) else group$low <- max(group$low, bound)
    } else if (name %in% c("race", "gender")) {
      levels <- sort(setdiff(gsub('"', "", regmatches(part, gregexpr('"[^"]+"', part))[[1]]), "NA"))
      group[[name]] <- if (is.null(group[[name]])) levels else intersect(group[[name]], levels)
    } else {
      group$others <- c(group$others, part)
    }
  }
  group
}

names_age <- function(group) is.finite(group$low) || is.finite(group$high)

is_band <- function(group, width) {
  is.null(group$gender) && !length(group$others) &&
    abs(group$low - (MIDDLE - width / 2)) <= TOLERANCE && abs(group$high - (MIDDLE + width / 2)) <= TOLERANCE
}

is_intersection <- function(group) {
  length(group$race) == 1 && length(group$gender) == 1 && !names_age(group) && !length(group$others)
}

# Pearson's chi2 of a leaf against everyone else, without continuity correction.
pearson <- function(inside, y) {
  a <- as.numeric(sum(y[inside])); b <- sum(inside) - a
  c <- as.numeric(sum(y[!inside])); d <- sum(!inside) - c
  length(y) * (a * d - b * c)^2 / ((a + b) * (c + d) * (b + d) * (a + c))
}

# The first groups of the report: distinct leaves of the forest grown on one half, by chi2 on the other half.
listed <- function(data, alpha) {
  chosen <- sample(nrow(data), nrow(data) / 2)
  first <- data[chosen, ]
  second <- data[-chosen, ]
  control <- ctree_control(teststat = "quad", testtype = "Univ", mincriterion = 1 - alpha, saveinfo = FALSE)
  forest <- cforest(y ~ ., data = first, ntree = TREES, control = control)
  groups <- list()
  chi2 <- numeric(0)
  for (number in seq_len(TREES)) {
    tree <- gettree(forest, tree = number)
    if (width(tree) == 1) next
    leaf <- unname(predict(tree, second, type = "node"))
    rules <- partykit:::.list.rules.party(tree, unique(leaf))
    for (id in unique(leaf)) {
      group <- merged(rules[as.character(id)])
      key <- paste(deparse(group), collapse = "")
      if (is.null(groups[[key]])) {
        groups[[key]] <- group
        chi2 <- c(chi2, pearson(leaf == id, second$y))
      }
    }
  }
  unname(groups[order(-chi2)][seq_len(min(LISTED, length(chi2)))])
}

# located: one of the listed groups is the planted one. strict: and none of them names an attribute that does not matter.
judged <- function(groups, data_set, width) {
  is_it <- function(group) if (data_set == 1) is_band(group, width) else is_intersection(group)
  names_irrelevant <- function(group) {
    length(group$others) > 0 || (if (data_set == 1) !is.null(group$gender) else names_age(group))
  }
  located <- any(vapply(groups, is_it, logical(1)))
  c(located = located, strict = located && !any(vapply(groups, names_irrelevant, logical(1))))
}

arguments <- as.numeric(commandArgs(TRUE))
if (!length(arguments) %in% 5:6 || anyNA(arguments) || !arguments[1] %in% 1:2) {
  stop("usage: Rscript reference.R DATA_SET RHO WIDTH ALPHA RUNS [IRRELEVANT], with data set 1 or 2", call. = FALSE)
}
suppressMessages(library(partykit))
data_set <- arguments[1]; rho <- arguments[2]; band <- arguments[3]; alpha <- arguments[4]; runs <- arguments[5]
irrelevant <- if (length(arguments) == 6) arguments[6] else 0
outcomes <- vapply(seq_len(runs), function(seed) {
  set.seed(seed)
  data <- with_irrelevant(if (data_set == 1) age_band(rho, band) else hidden_intersection(rho), irrelevant)
  judged(listed(data, alpha), data_set, band)
}, logical(2))
cat("data_set,rho,width,irrelevant,alpha,runs,located,strict\n")
cat(data_set, rho, band, irrelevant, alpha, runs, mean(outcomes["located", ]), mean(outcomes["strict", ]), sep = ",")
cat("\n")
