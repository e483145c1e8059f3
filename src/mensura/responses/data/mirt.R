# Rebuild the items of a Mensura fit in mirt. Run in this folder: Rscript mirt.R
# parameters.csv has the parameters in mirt's slope-intercept form, with mirt's names; g is a chance, not a logit.
pars <- read.csv("parameters.csv", colClasses = c(item = "character"))
own <- pars[pars$item != "GROUP", ]
items <- unique(own$item)
first <- own[match(items, own$item), ]
slopes <- grep("^a[0-9]+$", unique(own$name), value = TRUE)

# The chance of each category of an item (columns) at abilities (rows), in base R.
chances <- function(item, theta) {
  value <- with(own[own$item == item, ], setNames(value, name))
  type <- first$type[items == item]
  along <- drop(theta %*% value[slopes])
  d <- value[grep("^d[0-9]*$", names(value))]
  if (type %in% c("2PL", "3PL")) {
    right <- value[["g"]] + (1 - value[["g"]]) * plogis(along + d)
    return(cbind(1 - right, right))
  }
  if (type == "graded") {
    above <- cbind(1, plogis(outer(along, d, "+")), 0)
    return(above[, -ncol(above), drop = FALSE] - above[, -1, drop = FALSE])
  }
  height <- exp(outer(along, value[grep("^ak", names(value))]) + rep(d, each = length(along)))
  height / rowSums(height)
}

ability <- seq(-4, 4, 0.5)
theta <- matrix(ability, length(ability), length(slopes))
long <- function(item, chance) {
  place <- rep(seq_len(ncol(chance)) - 1, each = length(ability))
  data.frame(item = item, ability = ability, category = place, chance = c(chance))
}
curves <- do.call(rbind, lapply(items, function(item) long(item, chances(item, theta))))

if (requireNamespace("mirt", quietly = TRUE)) {
  data <- as.data.frame(sapply(first$categories, function(k) rep_len(seq_len(k) - 1, 200)))
  names(data) <- items
  values <- mirt::mirt(data, length(slopes), itemtype = first$type, pars = "values")
  at <- match(paste(pars$item, pars$name), paste(values$item, values$name))
  values$value[at] <- pars$value
  values$est <- FALSE
  fit <- mirt::mirt(data, length(slopes), itemtype = first$type, pars = values, TOL = NaN)
  of_mirt <- lapply(seq_along(items), function(at) long(items[at], mirt::probtrace(mirt::extract.item(fit, at), theta)))
  curves$mirt <- do.call(rbind, of_mirt)$chance
  message("fit is the model in mirt: coef(fit), plot(fit), fscores(fit, response.pattern = answers)")
}
write.csv(curves, "curves.csv", row.names = FALSE)
