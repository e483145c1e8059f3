"""Intake: what users bring, from bytes to tables, then scores, items, responses, votes and persons.

In: a path, bytes or a table of any library. Out: a table with known columns, and a note of every choice made.
Read first: ``packed``, ``text`` and ``tables`` (bytes become a table), ``columns`` (columns by meaning), ``figures``
(numbers as people write them). Then one reader per kind of thing: ``scores`` and ``own_scores``, ``items``,
``answers``, ``votes``, ``persons``. Exchange formats: ``records``, ``samples``, ``score_logs``, ``shared_records``,
``people_logs`` and ``shared_writing``.
"""
