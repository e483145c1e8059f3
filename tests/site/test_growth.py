"""What a report costs grows with its models, not with their square: counted in work, not in time."""

import base64
import gc
import json
import weakref
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest
from markupsafe import escape
from polars.testing import assert_frame_equal

import mensura
from mensura.evidence.intake import KnownNames
from mensura.site import two_binders
from mensura.site.aside import aside
from mensura.site.bindery import MOST_CARDS, Bindery
from mensura.site.pages import Page, model, model_file, model_pages
from mensura.site.study import Study
from mensura.site.subjects import chance_layers


@pytest.fixture
def asked(monkeypatch):
    """Names of what was asked for that reads a whole table."""
    found = []
    collect, learn = pl.LazyFrame.collect, KnownNames.__init__
    monkeypatch.setattr(
        pl.LazyFrame, "collect", lambda self, *given, **more: found.append("frame") or collect(self, *given, **more)
    )
    monkeypatch.setattr(KnownNames, "__init__", lambda self, rows: found.append("names") or learn(self, rows))
    return found


def test_the_page_of_a_further_model_reads_no_table(study, asked):
    """Each table read for one model is a table read for thousands: what a page needs is found once, by subject."""
    rows = study.models.to_dicts()
    model(study, rows[0])
    asked.clear()
    assert [model(study, row).title for row in rows[1:6]] == [row["name"] for row in rows[1:6]]
    assert asked == []


class _Draughtsman:
    """Takes orders and draws nothing."""

    def __init__(self):
        self.orders = []

    def order(self, job, suffix):
        self.orders.append(job)
        return f"{len(self.orders)}{suffix}"


def test_a_page_is_forgotten_once_it_is_written(study, tmp_path):
    shared = {"navigation": (), "more": (), "evidence": study.evidence, "address": ""}
    bindery = Bindery(tmp_path, _Draughtsman(), shared)
    pages = model_pages(study, range(3))
    written = []
    for _ in range(3):
        page = next(pages)
        bindery.enter(page)
        bindery.bind(page)
        assert escape(page.title) in (tmp_path / page.file).read_text(encoding="utf-8")
        written.append(weakref.ref(page))
        del page
    gc.collect()  # a template and what it was given hold each other
    assert [page() for page in written] == [None] * 3


def test_only_the_first_pages_have_a_picture_of_their_own_for_shared_links(tmp_path):
    draughtsman = _Draughtsman()
    bindery = Bindery(tmp_path, draughtsman, {"address": ""})
    for number in range(MOST_CARDS + 40):
        bindery.enter(Page(f"models/m{number}.html", f"M {number}", "one of many", "404.html", listed=number % 2 == 0))
    assert len(draughtsman.orders) == MOST_CARDS
    assert bindery.listed == [f"models/m{number}.html" for number in range(0, MOST_CARDS + 40, 2)]


@pytest.fixture
def in_blocks(study, monkeypatch, tmp_path):
    """Bind the model pages of a study by two processes, and return what each page of the folder says."""
    monkeypatch.setattr(two_binders, "MANY", 1)
    monkeypatch.setattr(two_binders, "BLOCK", 50)
    monkeypatch.setattr(two_binders, "MOST_CARDS", 10)
    shared = {"navigation": (), "more": (), "evidence": study.evidence, "address": ""}

    def bind(name):
        folder = tmp_path / name
        bindery = Bindery(folder, None, shared, first_page="index.html")
        with two_binders.second_binder(study, folder, shared, "index.html") as bind_models:
            bind_models(bindery)
        assert bindery.listed == [model_file(subject) for subject in study.models["subject"]]
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return bind


def test_two_processes_bind_the_same_pages_as_one(in_blocks, monkeypatch):
    both = in_blocks("both")
    monkeypatch.setattr(two_binders, "MANY", 10**6)
    assert in_blocks("alone") == both


def test_what_a_second_process_took_and_did_not_bind_is_bound_here(in_blocks, study, tmp_path, monkeypatch):
    """It dies after it took its pages: the list is whole all the same, and so are they."""
    monkeypatch.setattr(two_binders, "aside", _dying)
    pages = in_blocks("left")
    assert len([path for path in pages if path.suffix == ".html"]) == study.models.height


@contextmanager
def _dying(function, study, folder, shared, first_page, blocks):
    """Stand for a process that takes every block it may and ends before it has bound one."""
    for number, models in enumerate(blocks.ranges):
        if models.start >= blocks.kept_back:
            blocks.take(number, "second")
    yield lambda: function(study, folder, shared, first_page, blocks)


def test_every_pair_has_the_share_of_draws_in_which_the_first_is_above(study):
    """Equal values, as at the ends of the scale, count for neither; 255 stands where one has no value."""
    drawn = study.iq.drawn
    packed = chance_layers(study)["layers"]
    for name, values in (("composite", drawn.composites), (study.iq.matrix.dimensions[0], drawn.dimensions[:, :, 0])):
        known = np.isfinite(values).all(axis=0)
        share = np.rint(100 * (values[:, :, None] > values[:, None, :]).sum(axis=0) / len(values))
        expected = np.where(known[:, None] & known, share, 255)[np.triu_indices(known.size, 1)]
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(packed[name]), dtype=np.uint8), expected)


def test_a_large_study_computed_in_two_processes_is_the_same_study(few_models, monkeypatch):
    alone = Study.open(mensura.load(few_models))
    monkeypatch.setattr("mensura.site.halves.TWO_PROCESSES", 1)
    both = Study.run(alone.evidence, alone.lines)
    assert {"pace", "watch", "groups", "abilities"} <= set(vars(both))
    assert_frame_equal(both.fit.capabilities, alone.fit.capabilities)
    assert_frame_equal(both.pace.forecast, alone.pace.forecast)
    assert_frame_equal(both.groups, alone.groups)


def test_what_fails_in_another_process_fails_here_as_ever():
    with aside(json.loads, "[1, 2]") as found:
        assert found() == [1, 2]
    with aside(json.loads, "[1,") as found, pytest.raises(json.JSONDecodeError):
        found()
