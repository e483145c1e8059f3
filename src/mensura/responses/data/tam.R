# Rebuild the items of a Mensura fit in TAM. Run in this folder: Rscript tam.R
# parameters.csv has mirt's names; B and AXsi, TAM's form, are computed from them.
pars <- read.csv("parameters.csv", colClasses = c(item = "character"))
items <- unique(pars$item)
ability <- seq(-4, 4, 0.5)

# B and AXsi of the categories of an item: a chance is in proportion to exp(B * ability + AXsi).
lines <- function(item) {
  value <- with(pars[pars$item == item, ], setNames(value, name))
  if ("d" %in% names(value)) return(cbind(B = c(0, value[["a1"]]), AXsi = c(0, value[["d"]])))
  cbind(B = value[["a1"]] * value[grep("^ak", names(value))], AXsi = value[grep("^d", names(value))])
}
chances <- function(item, theta) {
  own <- lines(item)
  height <- exp(outer(theta, own[, "B"]) + rep(own[, "AXsi"], each = length(theta)))
  height / rowSums(height)
}
long <- function(item, chance) {
  place <- rep(seq_len(ncol(chance)) - 1, each = length(ability))
  data.frame(item = item, ability = ability, category = place, chance = c(chance))
}
curves <- do.call(rbind, lapply(items, function(item) long(item, chances(item, ability))))

if (requireNamespace("TAM", quietly = TRUE)) {
  own <- lapply(items, lines)
  sizes <- sapply(own, nrow)
  most <- max(sizes)
  steps <- sum(sizes - 1)
  B <- array(0, c(length(items), most, 1))
  A <- array(0, c(length(items), most, steps))
  xsi <- numeric(0)
  for (at in seq_along(items)) {
    B[at, seq_len(sizes[at]), 1] <- own[[at]][, "B"]
    for (place in 2:sizes[at]) {
      xsi <- c(xsi, -own[[at]][place, "AXsi"])
      A[at, place, length(xsi)] <- -1
    }
    if (sizes[at] < most) A[at, (sizes[at] + 1):most, ] <- NA
  }
  data <- as.data.frame(sapply(sizes, function(k) rep_len(seq_len(k) - 1, 200)))
  names(data) <- items
  fit <- TAM::tam.mml(data, A = A, B = B, xsi.fixed = cbind(seq_along(xsi), xsi),
    variance.fixed = cbind(1, 1, 1), beta.fixed = cbind(1, 1, 0), control = list(maxiter = 1, progress = FALSE))
  message("fit is the model in TAM: IRT.irfprob(fit), tam.wle(fit)")
}
write.csv(curves, "curves.csv", row.names = FALSE)
