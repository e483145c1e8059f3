"""Profiles: abilities of AI systems and groups of people, from outcomes on items with demands."""

from mensura.calibration.profiles.logs import match_items, read_outcomes
from mensura.calibration.profiles.outcomes import pick_subjects
from mensura.calibration.profiles.profile import ProfileResult, profile, profile_counts

__all__ = ["ProfileResult", "match_items", "pick_subjects", "profile", "profile_counts", "read_outcomes"]
