"""Every command, on every disk that cannot take what it writes: one sentence, exit 2, nothing half written."""

import inspect
import resource
import signal
import sys
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import mensura
from mensura.cli import main, paths
from mensura.cli.main import app
from mensura.site import Study
from tests.calibration.conftest import on_lines
from tests.demands.test_checking import study as demands_study
from tests.demands.test_commands import write_pools

WRITES_NOTHING = {"evidence check"}
FILE_OUT = {"figure": "f.svg", "evidence export": "copy.sqlite", "llm export": "audit.csv"}
"""Commands that write one file, and a name for it; all others write a folder."""
COMMANDS = {
    "report": ["--evidence", "{evidence}", "--out", "{out}"],
    "where": ["gpt-5.5", "--evidence", "{evidence}", "--out", "{out}"],
    "add": ["{added}", "--out", "{out}"],
    "figure": ["iq-bell", "--evidence", "{evidence}", "--out", "{out}"],
    "scale": ["0.1", "--out", "{out}"],
    "extrapolate": ["--rate", "0.5", "--n", "100", "--from", "pisa", "--draws", "20", "--out", "{out}"],
    "annotate": ["example", "--model", "recorded/example", "--dimensions", "KNc", "--out", "{out}"],
    "calibrate": ["--rates", "{rates}", "--demands", "{demands}", "--method", "means", "--out", "{out}"],
    "equate": ["enem", "naep", "--draws", "5", "--out", "{out}"],
    "profile": ["gpt4o", "--draws", "5", "--out", "{out}"],
    "iq": ["--method", "published", "--draws", "0", "--out", "{out}"],
    "cost": ["--frontier", "--evidence", "{evidence}", "--out", "{out}"],
    "stitch": ["{scores}", "--out", "{out}"],
    "validate": ["{pool}", "--out", "{out}"],
    "trends": ["{scores}", "--no-watch", "--out", "{out}"],
    "acceleration watch": ["{scores}", "--streams", "19", "--out", "{out}"],
    "acceleration simulate": ["--runs", "1", "--streams", "19", "--acceleration", "2", "--out", "{out}"],
    "demands dimensions": ["--out", "{out}"],
    "demands sheet": ["example", "--dimensions", "KNc", "--out", "{out}"],
    "demands agreement": ["{readings}", "--out", "{out}"],
    "demands merge": ["{readings}", "{readings}", "--out", "{out}"],
    "demands protocols": ["example", "--model", "recorded/example", "--dimensions", "KNc", "--out", "{out}"],
    "demands check": ["{pools}", "{levels}", "--draws", "5", "--out", "{out}"],
    "evidence summary": ["--out", "{out}"],
    "evidence models": ["--out", "{out}"],
    "evidence check": ["{evidence}"],
    "evidence import": ["{facts}", "--out", "{out}"],
    "evidence export": ["{out}"],
    "evidence schema": ["--out", "{out}"],
    "people summary": ["{pool}", "--out", "{out}"],
    "people rates": ["{pool}", "--out", "{out}"],
    "people import": ["{answers}", "--items", "^q", "--person", "who", "--min-answers", "1", "--out", "{out}"],
    "people populations": ["--out", "{out}"],
    "people strata": ["{tables}", "--out", "{out}"],
    "llm status": ["{journal}", "--out", "{out}"],
    "llm cost": ["{journal}", "--out", "{out}"],
    "llm export": ["{journal}", "{out}"],
    "responses read": ["{outcomes}", "--out", "{out}"],
    "responses draw": ["{fitted}", "--out", "{out}"],
    "responses fit": ["{outcomes}", "--model", "rasch", "--out", "{out}"],
    "responses place": ["{fitted}", "--rates", "{item_rates}", "--out", "{out}"],
    "responses select": ["{fitted}", "--size", "3", "--out", "{out}"],
    "responses next": ["{fitted}", "--out", "{out}"],
}
"""Every command with the least it needs; a new command without a line here fails the first test."""


ELSEWHERE = {
    **dict.fromkeys(
        ("evidence init", "evidence capture", "evidence extract", "evidence apply"), "the store: test_store"
    ),
    **dict.fromkeys(("evidence undo", "evidence discard", "evidence policy"), "the store: test_store"),
    **dict.fromkeys(("evidence preview", "evidence log", "evidence diff", "evidence pending"), "as evidence summary"),
    "evidence mappings": "as evidence summary",
    "cache": "writes nothing; a full disk costs time, not the result: test_cache",
    "serve": "writes no file a user names: test_serve",
    "mcp": "writes nothing: test_agents",
}
"""Commands whose disks are tried where their files are, and why not here."""


def commands():
    """Every command of the program by its full name, with the function behind it."""
    for name in main.COMMANDS:
        module = import_module(f"mensura.cli.{name}")
        if hasattr(module, "app"):
            yield from commands_of(module.app, (name,))
        else:
            yield name, getattr(module, name)


def commands_of(group, before):
    for entry in group.registered_commands:
        yield " ".join([*before, entry.name or entry.callback.__name__]), entry.callback
    for inner in group.registered_groups:
        yield from commands_of(inner.typer_instance, (*before, inner.name))


def test_every_command_is_tried_here():
    assert set(dict(commands())) == set(COMMANDS) | set(ELSEWHERE)


def write_country_tables(folder):
    """Two countries, as ``mensura people strata`` takes them."""
    folder.mkdir()
    ages = [0, 5, 10, 15, 20, 25, 30]
    shares = ",".join(["e_none", "e_incomplete_primary", "e_primary", "e_lower_secondary", "e_upper_secondary"])
    tables = {
        "population_2025": ["iso3,age_lo,sex,pop_thousands", *(f"{c},{a},F,10" for c in ("KEN", "SWE") for a in ages)],
        "education_2020": [
            f"iso3,age_lo,sex,pop_thousands_2020,{shares},e_post_secondary",
            *(f"{c},{a},F,10,0.1,0.1,0.2,0.2,0.2,0.2" for c in ("KEN", "SWE") for a in ages[3:]),
        ],
        "countries": ["iso3,un_region,un_subregion", "KEN,AFRICA,Eastern Africa", "SWE,EUROPE,Northern Europe"],
        "quality_hlo": ["iso3,hlo_hci2020,hlo_hci2020_via", "KEN,455,lookup", "SWE,519,lookup"],
    }
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, few_models, once):
    """Small files of every kind that a command reads, made with the program itself where it can make them."""
    from typer.testing import CliRunner

    from tests.evidence.conftest import FACTS

    base = tmp_path_factory.mktemp("inputs")
    facts = base / "facts"
    facts.mkdir()
    for name, text in FACTS.items():
        (facts / f"{name}.csv").write_text(text, encoding="utf-8")
    rates, demands = on_lines({"KNn": (0.5, 0.8)})
    rates.write_csv(base / "rates.csv")
    demands.write_csv(base / "demands.csv")
    scores = [
        (
            f"m{m}",
            f"b{b}",
            0.05 + 0.9 * ((m * 5 + 3 * b) % 23) / 23,
            f"202{3 + m // 16}-{1 + m % 8:02d}-{1 + m % 16:02d}",
        )
        for m in range(48)
        for b in range(5)
    ]
    pl.DataFrame(scores, schema=["model", "benchmark", "score", "released"], orient="row").write_csv(
        base / "scores.csv"
    )
    (base / "added.csv").write_text("model,benchmark,score\ngpt-5.5,hle,41.5%\n", encoding="utf-8")
    people = [(p, "fm"[p % 2], *((p * q + p // 3) % 2 for q in range(1, 7))) for p in range(200)]
    pl.DataFrame(people, schema=["who", "sex", *(f"q{q}" for q in range(1, 7))], orient="row").write_csv(
        base / "answers.csv"
    )
    pools, levels = demands_study(pools=3, items=12)
    levels.write_csv(base / "levels.csv")
    folders = [str(folder) for folder in write_pools(base / "pools", pools)]
    write_country_tables(base / "tables")
    runner = CliRunner()
    asked = [*("annotate", "example", "--model", "recorded/example", "--dimensions", "KNc", "--repeats", "2")]
    made = runner.invoke(app, [*asked, "--out", str(base / "annotated")])
    assert made.exit_code == 0, made.output
    imported = [
        *("people", "import", str(base / "answers.csv"), "--items", "^q", "--person", "who", "--covariates", "sex")
    ]
    made = runner.invoke(app, [*imported, "--by", "sex", "--out", str(base / "pool")])
    assert made.exit_code == 0, made.output
    outcomes = [(f"s{s}", f"i{i}", int((s * 7 + i * 5) % 11 + s % 12 > i + 6)) for s in range(60) for i in range(8)]
    pl.DataFrame(outcomes, schema=["subject", "item", "correct"], orient="row").write_csv(base / "outcomes.csv")
    shares = [(f"i{i}", 0.9 - 0.1 * i, 200) for i in range(8)]
    pl.DataFrame(shares, schema=["item", "rate", "n"], orient="row").write_csv(base / "item_rates.csv")
    fit = ["responses", "fit", str(base / "outcomes.csv"), "--model", "rasch", "--out", str(base / "fitted")]
    made = runner.invoke(app, fit)
    assert made.exit_code == 0, made.output
    once("few-models-studied", lambda _: Study.open(mensura.load(few_models)))  # a full disk could not keep it
    return {
        **{path.stem: str(path) for path in base.iterdir()},
        "evidence": str(few_models),
        "pools": folders,
        "readings": str(base / "annotated" / "readings.csv"),
        "journal": str(base / "annotated" / "journal.sqlite"),
    }


def arguments(command, inputs, out):
    """The words of one call, with the places of its files filled in."""
    for word in (*command.split(), *COMMANDS.get(command, ())):
        value = {**inputs, "out": str(out)}.get(word.strip("{}"), word) if word.startswith("{") else word
        yield from value if isinstance(value, list) else [value]


def left(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITERS = [name for name in COMMANDS if name not in WRITES_NOTHING]


@pytest.mark.parametrize("command", WRITERS)
def test_below_a_file_nothing_can_be_written(command, inputs, mensura_command, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    run = mensura_command(*arguments(command, inputs, tmp_path / "file" / FILE_OUT.get(command, "out")))
    assert run.code == 2, run.out
    assert f"{tmp_path / 'file'} is a file" in run.err
    assert left(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("command", WRITERS)
def test_a_read_only_disk_is_noticed_before_any_work(command, inputs, mensura_command, tmp_path, monkeypatch):
    real = paths.os.access
    monkeypatch.setattr(paths.os, "access", lambda path, mode: mode != paths.os.W_OK and real(path, mode))
    run = mensura_command(*arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    assert run.code == 2, run.out
    assert "cannot be written" in run.err
    assert left(tmp_path) == {}


@pytest.fixture
def full_disk(monkeypatch):
    """Every write to a file of more than a few bytes fails, as on a full disk.

    Nothing is compiled to a file meanwhile: Python would keep what it could write of it, and trip over it later.
    """
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    class Disk:
        def fill(self):
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))

        def empty(self):
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    disk = Disk()
    yield disk
    disk.empty()
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_a_sentence_and_leaves_nothing(command, inputs, mensura_command, tmp_path, full_disk):
    words = list(arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    full_disk.fill()
    try:
        run = mensura_command(*words)
    finally:
        full_disk.empty()
    assert run.code == 2, run.out
    assert "File too large" in run.err or "disk I/O error" in run.err or "os error 27" in run.err, run.err
    assert "Traceback" not in run.err
    assert {name for name in left(tmp_path) if "journal" not in name} == set()


def path_options():
    """Every option and argument that names something to be read: command and parameter."""
    for command, function in commands():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            annotation = str(parameter.annotation)
            infos = [info for info in getattr(parameter.annotation, "__metadata__", ()) if hasattr(info, "param_decls")]
            reads = infos and infos[0].callback in (paths.check_input, paths.check_inputs)
            if "Path" in annotation and infos and "Option" in type(infos[0]).__name__ and reads:
                named = [word for word in (infos[0].default, *infos[0].param_decls) if str(word).startswith("--")]
                yield command, named[0] if named else f"--{name.replace('_', '-')}"


@pytest.mark.parametrize(("command", "option"), list(path_options()))
def test_an_option_that_names_a_missing_path_is_refused(command, option, inputs, mensura_command, tmp_path):
    words = list(arguments(command, inputs, tmp_path / FILE_OUT.get(command, "out")))
    run = mensura_command(*words, option, tmp_path / "missing")
    assert run.code == 2, run.out
    assert "missing: no such file or folder" in run.err


def test_every_path_is_checked_by_its_option():
    """A path that is neither read nor written through the common checks would slip past the tests above."""
    unchecked = set()
    for command, function in commands():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            infos = [info for info in getattr(parameter.annotation, "__metadata__", ()) if hasattr(info, "param_decls")]
            if "Path" in str(parameter.annotation) and infos and infos[0].callback is None:
                unchecked.add(f"{command} {name}")
    own = {name for name in unchecked if name.startswith("evidence ") and name.endswith(" store")}  # opening checks it
    assert unchecked - own == {"extrapolate pool", "validate pool_folder"}  # 'example' is one
