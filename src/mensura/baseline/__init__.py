"""What people would score on a benchmark: known where measured, estimated with honest intervals elsewhere."""

from mensura.baseline.estimate import KnownMean, estimate_baseline
from mensura.baseline.items import BaselineItems, read_items
from mensura.baseline.result import Baseline

__all__ = ["Baseline", "BaselineItems", "KnownMean", "estimate_baseline", "read_items"]
