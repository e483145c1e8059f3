"""Hostile text read as rows: correct rows or a clear refusal, within limits."""

import json

import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.intake.documents import RowLayout, clean_text
from mensura.ledger import Update, parse_mapping
from mensura.ledger.extraction import read_rows

COLUMNS = frozenset({"Model", "Score"})
WORD = (
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)
    .map(clean_text)
    .filter(
        lambda text: (
            text and text.casefold() not in {"-", "–", "—", "n/a", "na", "nan", "null", "none", "?", "tbd", "#n/a"}
        )
    )
)
ROWS = st.lists(st.tuples(WORD, st.decimals(0, 100, places=2).map(str)), min_size=1, max_size=8)


def rows(text, form="html", **layout):
    data = text if isinstance(text, bytes) else text.encode()
    return [(row.line, dict(row.cells)) for row in read_rows(data, RowLayout(form, **layout), COLUMNS, "it")]


def refused(text, form, words, **layout):
    with pytest.raises(mensura.MensuraError, match=words):
        rows(text, form, **layout)


def test_html_keeps_text_and_forgets_markup():
    page = """<p>x</p><table><tr><td>1</td></tr></table>
<table><tr><th>Model<th>Score<tr><td><b>Big</b> <img src=x onerror=alert(1)>1<td>12&nbsp;%
<tr><td colspan=2>a note<tr><td><script>evil()</script>Big&#8203; 2</td><td><style>b{}</style>13</td></tr></table>"""
    assert rows(page) == [
        (2, {"Model": "Big 1", "Score": "12 %"}),
        (3, {"Model": "a note", "Score": "a note"}),
        (3, {"Model": "Big 2", "Score": "13"}),
    ]


def test_html_tags_that_break_a_line_part_words_and_others_do_not():
    head = "<table><p>of models</p><tr><th>Model</th><th>Score</th></tr>"
    for cell in ("Big<br>1", "Big<br/>1", "<p>Big</p><p>1</p>", "<div>Big</div>1", "<span>Big</span><span>1</span>"):
        assert rows(f"{head}<tr><td>{cell}</td><td><b>1</b><i>2</i></td></tr></table>") == [
            (1, {"Model": "Big 1", "Score": "12"})
        ]
    hidden = "<svg><svg>x</svg>y</svg><script>z</script>"
    assert rows(f"{head}<tr><td>Big {hidden}1</td><td>2</td></tr></table>") == [(1, {"Model": "Big 1", "Score": "2"})]


def test_html_cells_that_span_rows_repeat():
    head = "<table><tr><th>Model</th><th>Score</th></tr>"
    first = f"{head}<tr><td rowspan=2>Big</td><td>1</td></tr><tr><td>2</td></tr></table>"
    assert [cells for _, cells in rows(first)] == [{"Model": "Big", "Score": "1"}, {"Model": "Big", "Score": "2"}]
    last = f"{head}<tr><td>A</td><td rowspan=2>1</td></tr><tr><td>B</td></tr></table>"
    assert [cells for _, cells in rows(last)] == [{"Model": "A", "Score": "1"}, {"Model": "B", "Score": "1"}]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<table><tr><td>x</td></tr></table>", "no table has the columns Model, Score"),
        ("<table><tr><td>Model<td>Score</table>" * 2, "2 tables have the columns"),
        ("<table>" * 21, "nested deeper than 20"),
        ("<table><tr><td colspan=100000>x", "a cell spans '100000'"),
        ("<table><tr><td rowspan=-1>x", "a cell spans '-1'"),
        ("<table><tr>" + "<td colspan=500>x" * 2 + "</table>", "more than 500 columns"),
        ("<table><tr><td>Model<td>Score<tr><td>A<td>1</table><!-- never closed", "breaks off inside"),
        ("<table><tr><td>Model<td>Score<tr><td>A<td>1</table><script>", "breaks off inside"),
        ("<table><tr><td>" + "x" * 200_000, "a cell of more than"),
        ("<table><tr><td>Model<td>Score<td>Score<tr><td>A<td>1<td>2</table>", "'Score' occurs more than once"),
        ("<!--" * 200_000, "breaks off inside"),
        ("<table><tr><td>Model<td>Score<tr><td>A<td>12", "breaks off inside a table"),
        ("<svg><table><tr><td>Model<td>Score<tr><td>A<td>1</table>", "breaks off inside"),
    ],
)
def test_html_that_is_no_leaderboard_is_refused(page, words):
    refused(page, "html", words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested deeper than 64 levels"),
        ('{"a":' * 100_000, "nested deeper than 64 levels"),
        ("{", "line 1: not JSON"),
        ('{"rows": [{"Model": "A", "Score": NaN}]}', "NaN is not a JSON value"),
        ('{"rows": [{"Model": "A", "Model": "B", "Score": 1}]}', "the key 'Model' occurs twice"),
        ('{"rows": {"Model": "A"}}', "is not a list of objects"),
        ('{"rows": [1, 2]}', "is not a list of objects"),
        ('{"rows": [{"Model": {"a": 1}, "Score": 1}]}', "'Model' contains a table; expected a value"),
        ('{"rows": [{"Model": "A"}]}', "no row has 'Score'; the source may have changed"),
        ('{"rows": []}', "no row has"),
    ],
)
def test_json_that_is_no_leaderboard_is_refused(text, words):
    refused(text, "json", words, path="rows")


def test_json_rows_have_the_lines_on_which_they_begin_whatever_their_texts_hold():
    text = (
        '{"rows": [\n{"Score": {"x": {}}, "Model": "a } {"},\n{"Model": "b\\"]\\\\",\n"Score": [{}]},\n{"Model": "c"}]}'
    )
    found = read_rows(text.encode(), RowLayout("json", path="rows"), frozenset({"Model"}), "it")
    assert [(row.line, row.cells["Model"]) for row in found] == [(2, "a } {"), (3, 'b"]\\'), (5, "c")]


def test_json_numbers_stay_as_printed_and_rows_have_lines():
    text = '{"rows": [\n {"Model": "A", "Score": 0.10},\n\n {"Model": "B", "Score": 12345678901234567890.5}]}'
    assert rows(text, "json", path="rows") == [
        (2, {"Model": "A", "Score": "0.10"}),
        (4, {"Model": "B", "Score": "12345678901234567890.5"}),
    ]


@pytest.mark.parametrize("path", ["a..b", "a[", "a[]", "a[x]b", "[x=1]", "a]b"])
def test_a_path_that_is_none_is_refused(path):
    refused("{}", "json", "is no path|picks nothing", path=path)


def test_csv_lines_count_lines_also_within_cells():
    text = 'Model,Score,Note\nA,1,"two\nlines"\n\nB,2,\n'
    assert [(line, cells["Model"]) for line, cells in rows(text, "csv")] == [(2, "A"), (5, "B")]
    refused("Model,Score\nA,1,2\n", "csv", "3 cells under a header of 2")
    refused("Model,Score\n", "csv", "no rows found")
    refused("Model,Score\nA," + "9" * 20_000, "csv", "a cell of 20,000 characters")
    refused(b"\xff\xfe\x00", "csv", "not readable as utf-16")


def test_pasted_tables_by_tabs_spaces_and_bars():
    for separator, text in (
        ("tab", "My board\nModel\tScore\nBig 1\t12\n"),
        ("spaces", "Model        Score\nBig 1     12\n"),
        ("bar", "| Model | Score |\n|---|:--:|\n| Big 1 | 12 |\n"),
    ):
        assert [cells for _, cells in rows(text, "text", separator=separator)] == [{"Model": "Big 1", "Score": "12"}]
    refused("Model\tScore\nBig 1\t12\tx\n", "text", "line 2: 3 cells under a header of 2", separator="tab")


def test_pasted_lines_that_lost_one_are_found_by_their_count():
    layout = {"lines": ("Rank", "Model", "Score"), "numbered": "Rank", "until": "End"}
    assert [cells["Model"] for _, cells in rows("1\nA\n50\n2\nB\n40\nEnd of it", "text", **layout)] == ["A", "B"]
    refused("1\nA\n50\n2\nB\n", "text", "5 lines do not divide into rows of 3", **layout)
    refused("1\nA\n50\nB\n40\n3\nEnd", "text", "line 4: Rank is 'B' in row 2; a line was lost", **layout)


@given(ROWS)
def test_every_format_gives_back_what_was_written(cells):
    """The same table in five forms: each reader returns its cells, none another number."""
    wanted = [{"Model": model, "Score": score} for model, score in cells]
    quoted = "\n".join('"{}",{}'.format(model.replace('"', '""'), score) for model, score in cells)
    assert [row for _, row in rows(f"Model,Score\n{quoted}\n", "csv")] == wanted
    assert [row for _, row in rows(json.dumps({"x": wanted}), "json", path="x")] == wanted
    body = "".join(f"<tr><td>{_escaped(model)}</td><td>{score}</td></tr>" for model, score in cells)
    assert [row for _, row in rows(f"<table><tr><th>Model</th><th>Score</th></tr>{body}</table>")] == wanted
    lines = "\n".join(f"{model}\t{score}" for model, score in cells)
    assert [row for _, row in rows(f"Model\tScore\n{lines}", "text", separator="tab")] == wanted
    stacked = "\n".join(f"{model}\n{score}" for model, score in cells)
    assert [row for _, row in rows(stacked, "text", lines=("Model", "Score"))] == wanted


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


PIECES = st.sampled_from(
    [
        *("<table>", "</table>", "<tr>", "<td>", "<th>", "</td>", "Model", "Score", "12", "<!--", "-->", "<script>"),
        *("</script>", "<td colspan=3>", "<td rowspan=2>", "&nbsp;", "&#x1F;", "<", ">", "\n", "\x00", "{", "}", "["),
        *(
            "]",
            '"',
            ":",
            ",",
            "\\u",
            "null",
            "1e9",
            "\t",
            "|",
            "---",
            "'",
            "é",
            '"\\ud800"',
            '{"Model": "A", "Score": 1}',
        ),
    ]
)


@pytest.mark.parametrize("form", ["csv", "json", "html", "text"])
def test_any_text_gives_rows_or_a_refusal(form):
    @given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map("".join).map(str.encode)))
    def check(data):
        try:
            found = read_rows(data, RowLayout(form, separator="tab"), COLUMNS, "it")
        except mensura.MensuraError:
            return
        assert found and all(cell == clean_text(cell) for row in found for cell in row.cells.values())

    check()


TOML = st.recursive(
    st.one_of(st.text(max_size=8), st.integers(), st.floats(allow_nan=False), st.booleans()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MAPPING = {
    "name": "board",
    "reads": "csv",
    "primary": "never",
    "source": {"source": "board", "name": "B"},
    "model": {"column": "Model", "efforts": ["high"], "names": {"A": "b"}},
    "best": {"by": "Score", "named": "Agent"},
    "keep": [{"column": "X", "at_least": 3, "why": "w"}],
    "rows": {},
    "figures": [{"benchmark": "hle", "column": "Score", "unit": "percent"}],
}


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


@given(st.sampled_from(sorted(MAPPING)), TOML)
def test_any_mapping_is_read_or_refused(key, value):
    """One part of a sound mapping replaced by anything: a mapping or a clear refusal, never another error."""
    text = "\n".join(f"{json.dumps(name)} = {_toml(part)}" for name, part in {**MAPPING, key: value}.items())
    try:
        assert parse_mapping(text).figures
    except mensura.MensuraError:
        return


@given(st.text(max_size=200))
def test_any_text_as_a_mapping_or_an_update_is_refused(text):
    for parse in (parse_mapping, Update.parse):
        with pytest.raises(mensura.MensuraError):
            parse(text)


CELL = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029"), max_size=20).map(
    clean_text
)


@given(
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=30),
    st.lists(st.tuples(CELL.filter(bool), CELL, CELL, st.integers(0, 10**6)), max_size=6, unique_by=lambda row: row[0]),
)
def test_an_update_file_reads_back_as_it_was(title, cells):
    from mensura.ledger import CellChange, Skipped, Unmatched

    changes = tuple(
        CellChange("policy", (key,), "reason", old or None, new or None, line) for key, old, new, line in cells
    )
    left = tuple(Skipped(line, key, new) for key, _, new, line in cells)
    names = tuple(Unmatched("model", key, (line,), (old,)) for key, old, _, line in cells)
    update = Update(title=title, source="s", changes=changes, skipped=left, unmatched=names, notes=(title,))
    assert Update.parse(update.text()) == update
    assert Update.parse(update.text()).id == update.id
