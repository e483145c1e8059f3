"""Exams over HTTP: the pages of takers, and the organiser's page behind a secret."""

from mensura.serve.exams.app import exam_app, serve_exam

__all__ = ["exam_app", "serve_exam"]
