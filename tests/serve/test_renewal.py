"""The renewal: new evidence is noticed, built beside the old edition, and swapped whole; failures change nothing."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.ledger import open_ledger
from mensura.serve import SiteRenewal, find_origin
from mensura.serve.renewal import Origin, build_edition
from mensura.site.editions import Edition, editions_json, parse_editions
from tests.ledger.small import ANN
from tests.serve.conftest import small_edition


def prints(*outcomes):
    """A builder that returns or raises one outcome after another."""
    left = list(outcomes)

    async def build(origin, scratch, shown):
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return build


def edit(store: Path, display: str) -> None:
    """Change the evidence of a store."""
    ledger = open_ledger(store)
    subject = ledger.policy()["subject"][0]
    ledger.apply(ledger.policy_edit(subject, {"display": display}, reason="a test"), **ANN)


def test_a_change_of_the_store_is_noticed_and_shown_whole(store):
    renewal = SiteRenewal(find_origin(store), build=prints(small_edition("aaaa"), small_edition("bbbb")))

    async def follow():
        await renewal.look()
        first = renewal.current
        await renewal.look()
        assert renewal.current is first, "nothing changed, nothing is built"
        edit(store, "hide")
        await renewal.look()

    asyncio.run(follow())
    assert renewal.current.evidence == "bbbb"
    assert (renewal.built, renewal.failed, renewal.fault) == (2, 0, None)


def test_a_failed_build_leaves_the_old_edition_and_is_tried_again_later(store, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("mensura.serve.renewal.time.monotonic", lambda: now[0])
    outcomes = (small_edition("aaaa"), MensuraError("no room"), MensuraError("no room"), small_edition("bbbb"))
    renewal = SiteRenewal(find_origin(store), build=prints(*outcomes))

    async def follow():
        await renewal.look()
        edit(store, "hide")
        for passed, failed in ((0, 1), (14, 1), (2, 2), (16, 2)):
            now[0] += passed
            await renewal.look()
            assert (renewal.current.evidence, renewal.failed, renewal.fault) == ("aaaa", failed, "no room")
        now[0] += 16
        await renewal.look()

    asyncio.run(follow())
    assert (renewal.current.evidence, renewal.fault) == ("bbbb", None)


def test_a_store_that_vanishes_leaves_the_edition_and_is_said(store):
    renewal = SiteRenewal(find_origin(store), build=prints(small_edition()))

    async def follow():
        await renewal.look()
        store.unlink()
        await renewal.look()

    asyncio.run(follow())
    assert renewal.current is not None
    assert "no such store" in renewal.fault


def test_a_nudge_makes_the_press_look_at_once(store):
    renewal = SiteRenewal(
        find_origin(store), build=prints(small_edition("aaaa"), small_edition("bbbb")), look_every=3600
    )

    async def follow():
        work = asyncio.create_task(renewal.run())
        while renewal.current is None:
            await asyncio.sleep(0.01)
        edit(store, "hide")
        renewal.nudge()
        while renewal.current.evidence != "bbbb":
            await asyncio.sleep(0.01)
        work.cancel()

    asyncio.run(asyncio.wait_for(follow(), 60))


def test_whatever_goes_wrong_the_press_goes_on(store):
    renewal = SiteRenewal(
        find_origin(store), build=prints(ZeroDivisionError("an inside"), small_edition()), look_every=0.01
    )

    async def follow():
        work = asyncio.create_task(renewal.run())
        while renewal.current is None:
            await asyncio.sleep(0.01)
        work.cancel()

    asyncio.run(asyncio.wait_for(follow(), 60))
    assert renewal.fault is None


def test_the_version_of_a_store_is_its_fingerprint(store):
    origin = find_origin(store)
    assert origin == Origin(store, has_history=True)
    evidence, version, log = origin.read()
    assert log is not None and log.last == 0
    assert open_ledger(store).version().fingerprint.startswith(version)
    assert evidence.models["subject"].to_list() == ["big-1", "big-2", "small-1"]


def test_a_folder_is_followed_by_its_files(tmp_path):
    mensura.load().save(tmp_path / "mine")
    origin = find_origin(tmp_path / "mine")
    assert origin == Origin(tmp_path / "mine", has_history=False)
    mark, version = origin.mark(), origin.read().version
    assert (origin.mark(), origin.read().version) == (mark, version)
    scores = tmp_path / "mine" / "scores.csv"
    scores.write_text("\n".join(scores.read_text(encoding="utf-8").splitlines()[:-1]) + "\n", encoding="utf-8")
    assert origin.mark() != mark
    assert origin.read().version != version


def test_what_is_no_evidence_is_refused_at_the_start(tmp_path):
    (tmp_path / "notes.db").write_text("nothing", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"notes\.db"):
        find_origin(tmp_path / "notes.db")
    with pytest.raises(MensuraError, match=r"absent\.db"):
        find_origin(tmp_path / "absent.db")


@pytest.mark.slow
def test_an_edition_is_the_report_with_stamped_scripts(report, monkeypatch, tmp_path):
    monkeypatch.setattr("mensura.serve.renewal.build_report", lambda _, folder, **__: shutil.copytree(report, folder))
    edition = build_edition(find_origin(None), tmp_path)
    assert edition.stamp == f"{edition.evidence}-{mensura.__version__}"
    loaded = re.compile(r'(?:<script[^>]* src|<link rel="stylesheet" href)="([^"]+)"')
    for name, file in edition.files.items():
        assert file.plain.body.replace(f"?v={edition.stamp}".encode(), b"") == (report / name).read_bytes()
        if name.endswith(".html"):
            named = loaded.findall(file.plain.body.decode())
            assert named and all(address.endswith(f"?v={edition.stamp}") for address in named)


def test_the_next_edition_is_built_with_the_one_that_is_shown_at_hand(store):
    shown = []

    async def build(origin, scratch, current):
        shown.append(current)
        return small_edition(open_ledger(store).version().fingerprint[:16])

    renewal = SiteRenewal(find_origin(store), build=build)

    async def follow():
        await renewal.look()
        edit(store, "hide")
        await renewal.look()

    asyncio.run(follow())
    assert [one and one.evidence for one in shown] == [None, open_ledger(store).entries()["fingerprint"][-1][:16]]


def test_an_edition_remembers_what_earlier_ones_changed_and_takes_its_reasons_from_the_log(
    store, monkeypatch, tmp_path
):
    given = []

    def write(evidence, folder, *, log, earlier, method):
        given.append((log, earlier))
        (folder / "data").mkdir(parents=True)
        made = Edition("2026-11-15", "2026-11", ("First edition.",), {}, {}, log.last, ())
        (folder / "data" / "editions.json").write_text(editions_json([made, *earlier]), encoding="utf-8")

    monkeypatch.setattr("mensura.serve.renewal.build_report", write)
    first = build_edition(find_origin(store), tmp_path)
    edit(store, "hide")
    second = build_edition(find_origin(store), tmp_path, first.editions_file)
    (_, none), (log, earlier) = given
    assert none == [] and [one.changes for one in earlier] == [("First edition.",)]
    assert "a test" in log.since(earlier[0].entry).entries["title"].item()
    assert [one.entry for one in parse_editions(second.editions_file)] == [1, 0]
    assert small_edition().editions_file == b"", "an edition without such a file remembers nothing"
