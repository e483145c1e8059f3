"""What people would score on a benchmark: known where measured, estimated with honest intervals elsewhere."""

from mensura.baseline.asking import plan_questions
from mensura.baseline.estimate import estimate_baseline
from mensura.baseline.human_results import known_markdown, with_people
from mensura.baseline.inputs import BaselineItems, read_items
from mensura.baseline.kinds import find_people, list_people
from mensura.baseline.persons import PanelCost, plan_panel
from mensura.baseline.recordings import KnownMean, read_estimates, read_recorded, shipped
from mensura.baseline.registry import KnownBaseline, find_known, read_own, registry
from mensura.baseline.result import Baseline, card_json, card_markdown, card_svg

__all__ = [
    "Baseline",
    "BaselineItems",
    "KnownBaseline",
    "KnownMean",
    "PanelCost",
    "card_json",
    "card_markdown",
    "card_svg",
    "estimate_baseline",
    "find_known",
    "find_people",
    "known_markdown",
    "list_people",
    "plan_panel",
    "plan_questions",
    "read_estimates",
    "read_items",
    "read_own",
    "read_recorded",
    "registry",
    "shipped",
    "with_people",
]
