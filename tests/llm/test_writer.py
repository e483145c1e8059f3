"""Orders to the journal's thread: which go to the disk together, and that none waits longer than it may."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from mensura.llm import Journal
from mensura.llm.writer import JournalWriter

LONG, SHORT = 3600.0, 0.001


@asynccontextmanager
async def writing(path, written):
    """A writer whose journal notes in ``written`` how many orders each transaction held."""

    class Counted(Journal):
        def beat(self):  # once at the beginning of every transaction
            written.append(0)
            return super().beat()

    writer = JournalWriter(lambda: Counted(path), asyncio.get_running_loop())
    try:
        yield writer
    finally:
        await asyncio.to_thread(writer.close)


def order(written):
    def work(journal):
        written[-1] += 1
        return written[-1]

    return work


@pytest.mark.parametrize("company", [1, 3, 5])
def test_patient_orders_go_to_the_disk_as_soon_as_they_are_company(tmp_path, company):
    written = []

    async def ask():
        async with writing(tmp_path / "journal.sqlite", written) as writer:
            orders = [writer.write(order(written), company=company, patience=LONG) for _ in range(company)]
            return await asyncio.gather(*orders)

    assert asyncio.run(ask()) == list(range(1, company + 1))
    assert written == [company]


def test_an_order_without_company_is_written_when_its_patience_ends(tmp_path):
    written = []

    async def ask():
        async with writing(tmp_path / "journal.sqlite", written) as writer:
            return await writer.write(order(written), company=100, patience=SHORT)

    assert asyncio.run(ask()) == 1


def test_what_cannot_wait_takes_along_what_can(tmp_path):
    written = []

    async def ask():
        async with writing(tmp_path / "journal.sqlite", written) as writer:
            patient = asyncio.ensure_future(writer.write(order(written), company=100, patience=LONG))
            await asyncio.sleep(0)
            assert await writer.write(order(written)) == 2
            return await patient

    assert asyncio.run(ask()) == 1
    assert written == [2]


def test_closing_writes_what_still_waits(tmp_path):
    written = []

    async def ask():
        async with writing(tmp_path / "journal.sqlite", written) as writer:
            patient = asyncio.ensure_future(writer.write(order(written), company=100, patience=LONG))
            await asyncio.sleep(0)
        return await patient

    assert asyncio.run(ask()) == 1
