"""Asking language models: one door to every provider, and a journal in which no answer is lost or paid twice."""

from mensura.llm.asker import Advance, ModelAsker, Standing
from mensura.llm.doors import open_asker
from mensura.llm.journal import Journal
from mensura.llm.protocol import Answer, Asker, Question, Reader, Reading, UnreadableError
from mensura.llm.recordings import shipped_recordings
from mensura.llm.settings import Prices, Settings

__all__ = [
    "Advance",
    "Answer",
    "Asker",
    "Journal",
    "ModelAsker",
    "Prices",
    "Question",
    "Reader",
    "Reading",
    "Settings",
    "Standing",
    "UnreadableError",
    "open_asker",
    "shipped_recordings",
]
