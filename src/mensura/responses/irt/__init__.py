"""Item response models by marginal maximum likelihood: one algorithm over an array namespace, in passes over shards."""
