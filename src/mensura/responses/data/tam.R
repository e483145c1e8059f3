# Rebuild the items of a Mensura fit in TAM. Run in this folder: Rscript tam.R
# parameters.csv: the chance of a category is in proportion to exp(B * ability + AXsi), TAM's form with A = -1 per category.
pars <- read.csv("parameters.csv", colClasses = c(item = "character"))
items <- unique(pars$item)
ability <- seq(-4, 4, 0.5)
chances <- function(item, theta) {
  own <- pars[pars$item == item, ]
  height <- exp(outer(theta, own$B) + rep(own$AXsi, each = length(theta)))
  height / rowSums(height)
}
long <- function(item, chance) {
  place <- rep(seq_len(ncol(chance)) - 1, each = length(ability))
  data.frame(item = item, ability = ability, category = place, chance = c(chance))
}
curves <- do.call(rbind, lapply(items, function(item) long(item, chances(item, ability))))

if (requireNamespace("TAM", quietly = TRUE)) {
  sizes <- as.integer(table(factor(pars$item, items)))
  most <- max(sizes)
  steps <- pars[pars$category > 0, ]
  B <- array(0, c(length(items), most, 1))
  A <- array(0, c(length(items), most, nrow(steps)))
  B[cbind(match(pars$item, items), pars$category + 1, 1)] <- pars$B
  A[cbind(match(steps$item, items), steps$category + 1, seq_len(nrow(steps)))] <- -1
  for (at in which(sizes < most)) A[at, (sizes[at] + 1):most, ] <- NA
  data <- as.data.frame(sapply(sizes, function(k) rep_len(seq_len(k) - 1, 200)))
  names(data) <- items
  fit <- TAM::tam.mml(data, A = A, B = B, xsi.fixed = cbind(seq_len(nrow(steps)), -steps$AXsi),
    variance.fixed = cbind(1, 1, 1), beta.fixed = cbind(1, 1, 0), control = list(maxiter = 1, progress = FALSE))
  message("fit is the model in TAM: IRT.irfprob(fit), tam.wle(fit)")
}
write.csv(curves, "curves.csv", row.names = FALSE)
