"""Validation: predict what is known but hidden, and score it."""
