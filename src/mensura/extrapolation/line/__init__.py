"""The statistical methods: one straight line on the logit scale per focal group."""
