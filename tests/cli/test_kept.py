"""A second call with the same evidence and settings reads what the first computed."""

from types import SimpleNamespace

import pytest

from mensura.core.cache import keep

DRAWN = ("figure", "world-regions")
EVIDENCE = SimpleNamespace(fingerprint="abc", origin="embedded", warnings=())


def forbid(*_, **__):
    raise AssertionError("computed again")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (("iq", "--set", "draws=20"), "mensura.iq.score_iq"),
        (("cost",), "mensura.iq.score_iq"),
        (("stitch",), "mensura.stitching.stitch"),
        (("trends", "--no-watch"), "mensura.stitching.stitch"),
    ],
)
def test_a_command_computes_once(mensura_command, monkeypatch, few_models, arguments, work):
    arguments = (*arguments, "--evidence", few_models)
    first = mensura_command(*arguments)
    assert first.code == 0
    monkeypatch.setattr(work, forbid)
    again = mensura_command(*arguments)
    assert (again.code, again.out, again.err.strip()) == (first.code, first.out, first.err.strip())


def test_a_watch_computes_once(mensura_command, monkeypatch):
    arguments = ("acceleration", "watch", "--set", "streams=19")
    first = mensura_command(*arguments)
    monkeypatch.setattr("mensura.trends.watch_acceleration", forbid)
    again = mensura_command(*arguments)
    assert (again.code, again.out, again.err.strip()) == (first.code, first.out, first.err.strip())
    with pytest.raises(AssertionError, match="computed again"):
        mensura_command(*arguments, "--rate", "0.1")


@pytest.mark.slow
def test_other_draws_are_computed(mensura_command, monkeypatch, few_models):
    arguments = ("iq", "--set", "draws=20", "--evidence", few_models)
    mensura_command(*arguments)
    monkeypatch.setattr("mensura.iq.score_iq", forbid)
    with pytest.raises(AssertionError, match="computed again"):
        mensura_command(*arguments, "--set", "seed=1")


def test_a_picture_is_drawn_once_for_all_formats(mensura_command, monkeypatch, few_models, tmp_path):
    assert mensura_command(*DRAWN, "--evidence", few_models, "--out", tmp_path / "first.svg").code == 0
    monkeypatch.setattr("mensura.study.study.open_piecewise", forbid)
    assert mensura_command(*DRAWN, "--evidence", few_models, "--out", tmp_path / "second.svg").code == 0
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
    assert mensura_command(*DRAWN, "--evidence", few_models, "--out", tmp_path / "second.pdf").code == 0
    assert (tmp_path / "second.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(AssertionError, match="computed again"):
        mensura_command(*DRAWN, "--evidence", few_models, "--width", "183", "--out", tmp_path / "wide.svg")


def test_a_picture_computes_only_what_it_needs(mensura_command, monkeypatch, few_models, tmp_path):
    monkeypatch.setattr("mensura.study.study.score_iq", forbid)
    drawn = mensura_command(*DRAWN, "--evidence", few_models, "--out", tmp_path / "new.svg")
    assert drawn.code == 0


@pytest.mark.parametrize(
    ("name", "spared"),
    [
        ("cost-bars", "mensura.study.study.stitch"),
        ("iq-time", "mensura.study.study.stitch"),
        ("history-hle", "mensura.study.study.stitch"),
        ("history-hle", "mensura.study.study.score_iq"),
        ("ladder-hle", "mensura.iq.result.draw_iqs"),
        ("sensors", "mensura.iq.result.draw_iqs"),
        ("capability-time", "mensura.study.study.score_iq"),
        ("passed", "mensura.study.study.score_iq"),
    ],
)
def test_a_picture_spares_what_it_does_not_show(name, spared, mensura_command, monkeypatch, few_models, tmp_path):
    monkeypatch.setattr(spared, forbid)
    drawn = mensura_command("figure", name, "--evidence", few_models, "--out", tmp_path / "new.svg")
    assert drawn.code == 0, drawn.error


def test_a_setting_that_names_a_file_is_what_the_file_holds(tmp_path):
    file = tmp_path / "ladders.csv"
    told = []
    for text in ("one", "two", "one"):
        file.write_text(text, encoding="utf-8")
        told.append(keep("test-files", EVIDENCE, {"ladders": str(file)}, file.read_text))
    assert told == ["one", "two", "one"]
    file.unlink()
    assert keep("test-files", EVIDENCE, {"ladders": str(file)}, lambda: "gone") == "gone"


def test_another_evidence_is_another_result():
    others = [EVIDENCE, SimpleNamespace(**{**vars(EVIDENCE), "fingerprint": "abd"})]
    assert [keep("test-evidence", one, {}, lambda one=one: one.fingerprint) for one in others] == ["abc", "abd"]
