"""Effects of updates: each computed once, one at a time, for the update that was asked about."""

import asyncio
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.ledger import Update, open_ledger
from mensura.serve.review import Effects, effect_of
from tests.ledger.small import ANN, score


@pytest.fixture
def worker(monkeypatch):
    """Notes what is computed beside the server, and how much of it at once."""
    found = SimpleNamespace(asked=[], at_work=0, most=0)

    async def run_apart(function, *arguments):
        found.at_work += 1
        found.most = max(found.most, found.at_work)
        await asyncio.sleep(0)
        found.at_work -= 1
        found.asked.append((function, *arguments))
        return {"cells": [{"update": arguments[-1]}]}

    monkeypatch.setattr("mensura.serve.review.run_apart", run_apart)
    return found


async def told(effects, version, update):
    """Ask until there is an answer."""
    while (answer := effects.ask(version, update)) is None:
        await asyncio.sleep(0)
    return answer


def test_the_effect_is_that_of_the_update_and_computed_once(worker, tmp_path):
    async def ask():
        effects = Effects(tmp_path)
        first = await told(effects, "version 1", "update-a")
        assert await told(effects, "version 1", "update-a") is first
        await told(effects, "version 2", "update-a")
        return first

    assert asyncio.run(ask()) == {"cells": [{"update": "update-a"}]}
    assert worker.asked == [(effect_of, tmp_path, "update-a")] * 2  # anew for another version of the evidence


def test_one_is_computed_at_a_time_and_the_last_32_are_kept(worker, tmp_path):
    async def ask():
        effects = Effects(tmp_path)
        updates = [f"update-{number}" for number in range(32)]
        for update in updates:
            assert effects.ask("version", update) is None
        await asyncio.gather(*(told(effects, "version", update) for update in updates))
        assert all(effects.ask("version", update) for update in updates)
        await told(effects, "version", "one more")
        assert effects.ask("version", updates[1])
        assert effects.ask("version", updates[0]) is None

    asyncio.run(ask())
    assert worker.most == 1


def test_the_two_hundred_largest_changes_of_each_table_are_shown(store, monkeypatch):
    seen = []

    def preview(before, after):
        seen.append([evidence.scores["score"].max() for evidence in (before, after)])
        return SimpleNamespace(tables=lambda: {"composites": pl.DataFrame({"rank": range(201)})})

    monkeypatch.setattr("mensura.serve.review.preview", preview)
    update = Update(title="A new figure", source="board", changes=(score("big-1", "swe_marathon", "12", "99.5"),))
    open_ledger(store).propose(update, **ANN)
    found = effect_of(store, update.id)
    assert [row["rank"] for row in found["composites"]] == list(range(200))
    assert seen == [[41.0, 99.5]]
