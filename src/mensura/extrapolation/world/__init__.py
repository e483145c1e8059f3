"""The world model: abilities of strata under stated assumptions, and post-stratification over them."""
