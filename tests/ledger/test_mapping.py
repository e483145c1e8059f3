"""Mappings: what they may say, what no mapping may do, and what becomes of rows that do not fit."""

import pytest

import mensura
from mensura.evidence import EvidenceError
from mensura.evidence.schema import TABLES
from mensura.ledger import Update, extract_update, mapping_file, parse_mapping, read_mapping, shipped_names
from tests.ledger.small import ANN, MAPPING


def extracted(ledger, text, mapping=MAPPING, form="csv"):
    ident = ledger.add_capture(text.encode(), source="board", address="pasted", form=form, **ANN)
    return extract_update(ledger.capture(ident), parse_mapping(mapping), ledger.cells())


def figures(update):
    return {
        change.row[0]: (change.old, change.new, change.line) for change in update.changes if change.field == "score"
    }


def test_a_figure_that_differs_changes_its_cell_and_an_equal_one_does_not(ledger):
    assert figures(extracted(ledger, "Model,Agent,Score\nBig 1,A,15\n")) == {"big-1": ("12", "15", 2)}
    assert extracted(ledger, "Model,Agent,Score\nBig 1,A,12.0\n").changes == ()


def test_changes_of_an_existing_row_are_few(ledger):
    update = extracted(ledger, "Model,Agent,Score\nBig 1,A,15\n")
    assert [(change.field, change.old, change.new) for change in update.changes] == [
        ("score", "12", "15"),
        ("date", "2026-01", "2026-11-15"),
        ("note", None, "best row: A"),
    ]


def test_extraction_applies_and_reads_back_the_line_of_the_capture(ledger):
    update = extracted(ledger, "Model,Agent,Score\n\nBig 2,A,20%\n")
    ledger.apply(update, **ANN)
    row = ledger.history(text="big-2").filter(row="big-2 · swe_marathon · board", field="score").row(0, named=True)
    assert (row["new"], row["line"], row["address"]) == ("20", 3, "pasted")
    assert ledger.capture(row["capture"]).data == b"Model,Agent,Score\n\nBig 2,A,20%\n"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "a number such as 70.4"),
        ("180", "a percent from 0 to 100"),
        ("-3", "a percent from 0 to 100"),
        ("1e999", "a percent from 0 to 100"),
        ("12 34", "a number such as 70.4"),
        ("1,2,3", "a number such as 70.4"),
    ],
)
def test_a_cell_that_is_no_figure_of_its_unit_is_refused_with_its_line(ledger, cell, words):
    with pytest.raises(EvidenceError, match=f"row 2, column Score: .*{words}"):
        extracted(ledger, f'Model,Agent,Score\nBig 1,A,"{cell}"\n')


def test_percents_that_all_look_like_fractions_are_refused(ledger):
    with pytest.raises(EvidenceError, match="lies within 0 to 1, as fractions do"):
        extracted(ledger, "Model,Agent,Score\nBig 1,A,0.15\nBig 2,A,0.31\n")
    assert len(figures(extracted(ledger, "Model,Agent,Score\nBig 1,A,0.5\nBig 2,A,31\n"))) == 2


def test_a_percent_sign_on_fractions_is_refused(ledger):
    mapping = MAPPING.replace('unit = "percent"', 'unit = "fraction"')
    with pytest.raises(EvidenceError, match="without a percent sign"):
        extracted(ledger, "Model,Agent,Score\nBig 1,A,15%\n", mapping)
    assert figures(extracted(ledger, "Model,Agent,Score\nBig 1,A,0.15\n", mapping))["big-1"][1] == "0.15"


def test_two_rows_of_one_model_are_refused_where_nothing_says_which_counts(ledger):
    mapping = MAPPING.replace("swe_marathon", "hle").replace('[best]\nby = "Score"\nnamed = "Agent"\n', "")
    with pytest.raises(EvidenceError, match="one row for big-1; lines 2, 3 differ"):
        extracted(ledger, "Model,Agent,Score\nBig 1,A,15\nbig-1,B,16\n", mapping)
    assert len(figures(extracted(ledger, "Model,Agent,Score\nBig 1,A,15\nbig-1,B,15\n", mapping))) == 1


def test_a_benchmark_nobody_knows_is_proposed_and_its_scores_wait(ledger):
    mapping = MAPPING.replace("swe_marathon", "new_bench")
    update = extracted(ledger, "Model,Agent,Score\nBig 1,A,15\n", mapping)
    assert not [change for change in update.changes if change.table == "scores"]
    [proposal] = update.proposals
    assert (proposal.table, proposal.row["benchmark"], proposal.accept) == ("benchmarks", "new_bench", False)
    filled = update.text().replace("accept = false", "accept = true").replace('name = "", kind', 'name = "New", kind')
    ledger.apply(Update.parse(filled), **ANN)
    assert "new_bench" in ledger.evidence().scores["benchmark"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("swe_marathon", "terminal_bench_2", None),
        (
            'benchmark = "swe_marathon"\ncolumn = "Score"',
            'benchmark = "terminal_bench_2"\ncolumn = "TB Hard"',
            "never stand in",
        ),
        (
            'benchmark = "swe_marathon"\ncolumn = "Score"',
            'benchmark = "frontiercode_diamond"\ncolumn = "Pass@1"',
            "its score",
        ),
        ('[best]\nby = "Score"\nnamed = "Agent"\n', "", "needs the rule best"),
        ('named = "Agent"\n', "", "needs the rule best"),
        ("swe_marathon", "agents_last_exam", "needs the rule keep"),
        ("swe_marathon", "swe_bench_verified", "needs the rule single"),
    ],
)
def test_guards_hold_for_every_mapping(old, new, words):
    assert old in MAPPING
    text = MAPPING.replace(old, new)
    if words is None:
        assert parse_mapping(text).figures[0].target == new
        return
    with pytest.raises(mensura.MensuraError, match=words):
        parse_mapping(text)


def test_a_board_called_hard_never_goes_into_terminal_bench_2_whatever_its_column():
    text = MAPPING.replace("swe_marathon", "terminal_bench_2").replace('"The board"', '"Terminal-Bench Hard"')
    with pytest.raises(mensura.MensuraError, match="tests of their own"):
        parse_mapping(text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "board"\n', "", "name is None; expected a text"),
        ('reads = "csv"', 'reads = "xml"', "expected one of csv, json, html, text"),
        ('reads = "csv"', 'reads = "csv"\ncolour = "red"', "unknown 'colour'"),
        ("[model]", '[rows]\npath = "x"\n[model]', "unknown 'path'"),
        ('unit = "percent"', 'unit = "points"', "expected one of percent, fraction"),
        ('column = "Score"\nunit', "unit", "column is None"),
        ("[[figures]]", "[figures]", "expected tables"),
        ("[best]", 'least = "enormous"\n[best]', "expected one of max, xhigh"),
        ("[best]", '[[keep]]\ncolumn = "Model"\nwhy = "x"\n[best]', "expected one of equals"),
        (
            "[best]",
            '[[keep]]\ncolumn = "Model"\nequals = "x"\nat_least = 3\nwhy = "x"\n[best]',
            "expected one of equals",
        ),
        ('source = "board"', 'source = "../board"', "expected an id"),
        ("name =", "name", "not a TOML file"),
    ],
)
def test_a_mapping_that_says_something_unknown_is_refused(old, new, words):
    assert old in MAPPING
    with pytest.raises(mensura.MensuraError, match=words):
        parse_mapping(MAPPING.replace(old, new, 1))


def test_of_several_tables_the_one_at_fault_is_named_by_its_number():
    second = '[[figures]]\nbenchmark = "hle"\ncolumn = "HLE"\n'
    with pytest.raises(mensura.MensuraError, match=r"\[\[figures\]\] 2: unit is None"):
        parse_mapping(MAPPING + second)
    first = MAPPING.replace('unit = "percent"', 'unit = "points"') + second + 'unit = "percent"\n'
    with pytest.raises(mensura.MensuraError, match=r"\[\[figures\]\] 1: unit is 'points'"):
        parse_mapping(first)


def test_a_mapping_is_found_by_name_or_file(tmp_path):
    (tmp_path / "mine.toml").write_text(MAPPING)
    assert read_mapping(tmp_path / "mine.toml").name == "board"
    assert read_mapping("swe_marathon").layout.form == "html"
    with pytest.raises(mensura.MensuraError, match=r"no file nowhere, and none of .*swe_marathon"):
        read_mapping("nowhere")
    assert all(read_mapping(name).name == name for name in shipped_names())


def test_a_capture_of_another_format_is_refused(ledger):
    with pytest.raises(
        mensura.MensuraError, match="mapping board expects csv, but the capture is html; choose another --mapping"
    ):
        extracted(ledger, "<table></table>", form="html")


def test_a_format_that_changed_is_said(ledger):
    with pytest.raises(mensura.MensuraError, match="no column 'Score'; it has Model, Agent, Points"):
        extracted(ledger, "Model,Agent,Points\nBig 1,A,15\n")


NEW = MAPPING.replace("[best]", '[new]\nprovider = "Agent"\n[best]').replace(
    'column = "Model"', 'column = "Model"\neffort_after = "_"'
)


def test_of_a_new_model_at_several_efforts_only_the_highest_is_proposed(ledger):
    update = extracted(ledger, "Model,Agent,Score\nNova 4 (low),A,3\nNova 4 (high),A,9\nNova 5_low,A,4\n", NEW)
    [new] = update.proposals
    assert (new.row["subject"], new.row["name"], new.lines) == ("nova-4", "Nova 4", (3,))
    assert [name.name for name in update.unmatched] == ["Nova 4 (low)", "Nova 4 (high)", "Nova 5_low"]


def test_an_effort_may_stand_after_a_sign_and_other_ends_are_part_of_the_name(ledger):
    update = extracted(ledger, "Model,Agent,Score\nBig-1_high,A,15\nBig-1_low,A,9\nbig_2,A,20\n", NEW)
    assert figures(update) == {"big-1": ("12", "15", 2), "big-2": (None, "20", 4)}
    assert [(left.line, left.reason[:20]) for left in update.skipped] == [(3, "a lower effort (low)")]


def test_a_note_is_left_out_where_a_cell_it_names_is_blank(ledger):
    noted = MAPPING.replace('unit = "percent"', 'unit = "percent"\nnote = "{Asked} asked, {Agent}"')
    update = extracted(ledger, "Model,Agent,Score,Asked\nBig 1,{Asked},15,200\nBig 2,A,20,\n", noted)
    notes = {change.row[0]: change.new for change in update.changes if change.field == "note"}
    assert notes == {"big-1": "200 asked, {Asked}; best row: {Asked}", "big-2": "best row: A"}


def test_a_mapping_that_reads_nothing_or_two_ways_is_refused():
    with pytest.raises(mensura.MensuraError, match=r"m: no \[\[figures\]\]; a mapping reads at least one column"):
        parse_mapping(MAPPING[: MAPPING.index("[[figures]]")], name="m")
    pasted = MAPPING.replace('reads = "csv"', 'reads = "text"')
    both = pasted.replace("[source]", '[rows]\nlines = ["Model"]\nseparator = "tab"\n[source]')
    with pytest.raises(mensura.MensuraError, match="rows has both lines and separator; remove separator"):
        parse_mapping(both)
    assert parse_mapping(pasted).layout.separator == "tab"
    empty = MAPPING.replace("[best]", '[[keep]]\ncolumn = "Model"\nequals = []\nwhy = "x"\n[best]')
    with pytest.raises(mensura.MensuraError, match="equals is empty; give a value or remove it"):
        parse_mapping(empty)
    with pytest.raises(mensura.MensuraError, match="mapping: got 'nowhere'"):
        mapping_file("nowhere")
    assert mapping_file("swe_marathon").is_file()


def test_figures_go_into_scores_costs_and_facts_of_models():
    more = (
        '[[figures]]\ninto = "costs"\nmetric = "{metric}"\nunit = "{unit}"\ncolumn = "Price"\n'
        '[[figures]]\ninto = "models"\nfield = "tier"\ncolumn = "Tier"\nnote = "{{Asked}} of {{All}}"\n'
    )
    costs = TABLES["costs"]
    metric, unit = costs.column("metric").one_of[0], costs.column("unit").one_of[0]
    mapping = parse_mapping(MAPPING + more.format(metric=metric, unit=unit))
    assert [(rule.into, rule.target, rule.unit) for rule in mapping.figures] == [
        ("scores", "swe_marathon", "percent"),
        ("costs", metric, unit),
        ("models", "tier", ""),
    ]
    assert mapping.figures[2].note_columns == ["Asked", "All"]
    assert mapping.columns == {"Model", "Score", "Agent", "Price", "Tier", "Asked", "All"}
    assert (mapping.primary, mapping.least, mapping.also) == ("when-none", "high", ())
    with pytest.raises(mensura.MensuraError, match="field is 'name'; expected one of"):
        parse_mapping(MAPPING + '[[figures]]\ninto = "models"\nfield = "name"\ncolumn = "N"\n')


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[best]",
            '[[keep]]\ncolumn = "Model"\nequals = "x"\nwhy = "x"\ncolour = 1\n[best]',
            r"\[\[keep\]\] 1: unknown",
        ),
        ("[best]", '[[skip]]\ncolumn = "Model"\nbelow = 3\nwhy = "x"\ncolour = 1\n[best]', r"\[\[skip\]\] 1: unknown"),
        ('unit = "percent"', 'unit = "percent"\ncolour = 1', "expected some of into, benchmark, column, unit, note"),
        ("[best]", "[best]\ncolour = 1", r"\[best\]: unknown 'colour'; expected some of by, named"),
        ("[model]", "[model]\ncolour = 1", r"\[model\]: unknown 'colour'"),
        ("[best]", "[new]\ncolour = 1\n[best]", r"\[new\]: unknown 'colour'; expected some of provider, released"),
        ("[source]", "[source]\ncolour = 1", r"\[source\]: unknown 'colour'"),
    ],
)
def test_a_key_that_nobody_asks_for_is_named_with_its_table(old, new, words):
    with pytest.raises(mensura.MensuraError, match=words):
        parse_mapping(MAPPING.replace(old, new, 1))
