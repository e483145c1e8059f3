"""The reviewer's rooms: what waits, what it would do to the scores, applying, undoing, and the policy fields."""

from mensura.serve.review.rooms import ReviewRooms
from mensura.serve.review.secret import ReviewerSecret, is_open_to_others

__all__ = ["ReviewRooms", "ReviewerSecret", "is_open_to_others"]
