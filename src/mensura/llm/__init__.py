"""Asking language models: one door to every provider, and a journal in which no answer is lost or paid twice."""

from mensura.llm.protocol import Answer, Asker, Question, Reader, Reading, UnreadableError

__all__ = ["Answer", "Asker", "Question", "Reader", "Reading", "UnreadableError"]
