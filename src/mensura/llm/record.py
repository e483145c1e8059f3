"""The journal as the desk uses it: keys made, stored answers read, claims and outcomes written down in its thread."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from mensura.llm.entries import Entry
from mensura.llm.journal import Hold, Journal
from mensura.llm.keys import KeyMaker
from mensura.llm.protocol import Question, Reader
from mensura.llm.settings import Settings
from mensura.llm.shelf import Redact
from mensura.llm.slots import Slot
from mensura.llm.stored import Stored, note_readings, stored_answers
from mensura.llm.writer import JournalWriter

_SAMPLES = 24
_WRITTEN_TOGETHER = 2
"""One in so many of the calls under way are written together, if their answers come soon enough."""
_PATIENCE, _LONGEST_PATIENCE = 0.1, 0.05
"""How long an answer waits to be written with others: a share of what its call took, and seconds at most."""


class Record:
    """What one model was asked and answered. Whatever is awaited here is on the disk when it returns."""

    def __init__(self, writer: JournalWriter, settings: Settings, redact: Redact) -> None:
        self._writer, self._redact = writer, redact
        self._settings = settings.text()
        self._key = KeyMaker(settings)

    async def look_up(self, questions: Sequence[Question], read: Reader) -> tuple[list[bytes], Stored]:
        """Return the key of every question, and what is stored for it.

        Hashing, looking up, unpacking and reading happen together in the journal's thread: each of them lets go of the
        interpreter's lock for moments, and two threads at it would spend their time passing the lock to and fro.
        """

        def work(journal: Journal) -> tuple[list[bytes], Stored]:
            keys = list(map(self._key, questions))
            return keys, stored_answers(journal, keys, questions, read)

        found: tuple[list[bytes], Stored] = await self._writer.read(work)
        return found

    async def reread(self, entries: Mapping[bytes, Entry]) -> None:
        """Write down what the reader of today takes from stored texts."""
        await self._writer.write(lambda journal: note_readings(journal, entries, self._redact))

    async def learn(self, prompts: Sequence[str]) -> None:
        """Show the journal a sample of what is coming, so that it packs well."""
        chosen = random.Random(0).sample(range(len(prompts)), min(_SAMPLES, len(prompts)))
        samples = [prompts[place] for place in chosen]
        await self._writer.write(lambda journal: journal.shelf.learn(samples))

    async def claim(self, slots: Sequence[Slot]) -> list[Hold | Entry]:
        """Claim questions for this process, before they are asked."""

        def work(journal: Journal) -> list[Hold | Entry]:
            return [journal.claim(slot.key, slot.question, self._settings) for slot in slots]

        holds: list[Hold | Entry] = await self._writer.write(work)
        return holds

    async def answer(self, key: bytes, entry: Entry, under_way: int) -> Entry:
        """Write an answer down, and return the one that stands: the first.

        It waits for others among the calls under way to be written with, for a small part of what its call took.
        """
        stands: Entry = await self._writer.write(
            lambda journal: journal.answer(key, entry),
            company=under_way // _WRITTEN_TOGETHER,
            patience=min(_PATIENCE * entry.seconds, _LONGEST_PATIENCE),
        )
        return stands

    async def fail(self, key: bytes, entry: Entry) -> None:
        """Write down that no answer came."""
        await self._writer.write(lambda journal: journal.fail(key, entry))

    async def release(self, keys: Sequence[bytes]) -> None:
        """Give back claims on questions that were not sent."""
        await self._writer.write(lambda journal: journal.release(keys))
