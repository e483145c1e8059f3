"""Small pages: what repeats stands once, and a reader sees the same."""

import re

from mensura.charts.theme import paint
from mensura.site.compact import Compact, compact_drawing, compact_inline

LOOK = 'fill="#111" font-size="11"'


def test_a_look_that_repeats_is_one_rule_as_strong_as_the_attributes():
    compact = Compact("", "a")
    page = compact.page(
        f'<main><text x="1" {LOOK}>one</text><text x="2" {LOOK}>two</text><text fill="#111">three</text></main>', ""
    )
    assert len(re.findall("data-s=a0", page)) == 2 and LOOK not in page
    assert "fill=#111>three" in page, "one attribute alone is shorter than a name"
    assert ":where([data-s='a0']){fill:#111;font-size:11px;}" in compact.rules()


def test_labels_of_cells_become_rules_where_all_rows_have_the_same():
    row = '<tr><td data-label="Model">{}</td><td data-label="IQ &amp; so">1</td></tr>'
    table = f"<table>{row.format('A')}{row.format('B')}</table>"
    compact = Compact("")
    assert "data-label" not in compact.page(table, "")
    assert 'td:nth-child(2)::before{content:"IQ & so"}' in compact.rules()
    mixed = table.replace('data-label="Model">B', 'data-label="Other">B')
    assert Compact("").page(mixed, "").count("data-label") == 4
    kept = Compact('td[data-label="Model"] {}')
    assert kept.page(table, "").count("data-label=Model") == 2 and "Model" not in kept.rules()


def marks(words="Opus: 128", name="opus"):
    return f'<g role="img" aria-label="{words}"><circle/></g><a href="models/{name}.html" aria-label="{words}">x</a>'


def twins(wide, narrow):
    return f'<div class="only-wide">{wide}</div><div class="only-narrow">{narrow}</div>'


def test_a_phones_drawing_with_the_same_marks_leaves_their_words_to_the_wide_one():
    same = Compact("").page(twins(marks(), marks()), "")
    assert same.count("Opus: 128") == 2 and "data-twin" in same
    other = Compact("").page(twins(marks(), marks("Sol: 90")), "")
    assert other.count("Sol: 90") == 2 and "data-twin" not in other


def test_a_shape_stands_once_and_is_used_at_each_place():
    sign = '<path class="sign" transform="translate({},{})" d="M0-3l3 3z" fill="red"/>'
    page = Compact("").page(f"<main>{sign.format(1, 2)}{sign.format('0.0', 5)}</main>", "")
    assert page.count("M0-3l3 3z") == 1 and page.count("<use") == 2
    assert re.search(r"<use class=\S*sign\S* href=\S*#s0\S* y=\S*5", page), "a place of zero is not written"


def test_what_all_pages_show_is_a_picture_of_its_own_for_each_theme():
    shared = f'<g class="shared" data-size="10 20"><path fill="{paint.ink}" d="M0 0"/></g>'
    compact = Compact("", "p")
    first, second = compact.page(shared, "../"), compact.page(shared, "")
    assert sorted(compact.pictures.values()) == ["static/people-p0.svg", "static/people-p1.svg"]
    assert all("var(" not in drawn for drawn in compact.pictures)
    assert "../static/people-p0.svg" in first and "../" not in second


def test_words_that_need_quotes_keep_them():
    assert (
        compact_inline('<path fill="red" class="two words" d="M1.0 2"/>')
        == '<path fill=red class="two words" d="M1 2"/>'
    )
    assert compact_inline('<line x1="0.0" y1="2.5" x2="9.0" y2="2.5"/>') == '<path d="M0 2.5H9"/>'
    assert "x=" in compact_inline('<text x="a=b">t</text>') and '"a=b"' in compact_inline('<text x="a=b">t</text>')


def test_a_drawing_of_its_own_has_no_words_for_scripts():
    svg = '<svg class="drawn"><g role="img" aria-label="A"><path fill="red" stroke="blue" d="M1.0 2"/></g></svg>'
    found = compact_drawing(svg)
    assert "aria-label" not in found and 'class="drawn"' not in found
    assert "<style>.l0{fill:red;stroke:blue;}</style>" in found and 'class="l0"' in found


def test_makers_stay_on_a_page_that_lets_readers_choose_them():
    mark = '<main><a data-subject="x" data-provider="OpenAI">x</a></main>'
    assert "data-provider" not in Compact("").page(mark, "")
    assert "data-provider=OpenAI" in Compact("").page(f'{mark}<script src="static/charts.js"></script>', "")


def test_a_mark_that_leads_to_its_model_needs_no_other_name():
    own = Compact("").page('<a class="m" href="../models/opus.html" data-subject="opus">o</a>', "")
    other = Compact("").page('<a class="m" href="../models/opus.html" data-subject="sol">o</a>', "")
    assert "data-subject" not in own and "data-subject=sol" in other


def test_lines_are_level_upright_or_slanted_and_whole_numbers_lose_their_point():
    for x, y, drawn in (("9.0", "2.0", "M1 2H9"), ("1.0", "7.5", "M1 2V7.5"), ("3.0", "4.0", "M1 2L3 4")):
        line = f'<line x1="1.0" y1="2.0" x2="{x}" y2="{y}" class="g"/>'
        assert compact_inline(line) == f'<path d="{drawn}" class="g"/>'
    assert compact_inline('<text x="10.0" y="10.05" dx="1.0">1.0</text>') == '<text x=10 y=10.05 dx="1.0">1.0</text>'


def test_marks_of_one_path_become_uses_of_one_shape():
    grey = '<path d="M1,2m0-3l3 3zM0.0,5m0-3l3 3z" fill="grey"/>'
    page = Compact("").page(f"<main>{grey}</main>", "")
    assert page.count("m0-3l3 3z") == 1 and page.count("<use") == 2 and "<g fill=grey>" in page
    one = '<path d="M1,2m0-3l3 3z" fill="grey"/>'
    assert Compact("").page(one, "") == one, "a single one stays a path"


def test_each_look_and_table_has_its_own_number():
    text = '<text x="1" fill="{}" font-size="{}">t</text>'
    compact = Compact("")
    page = compact.page(f"<main>{text.format('red', 11)}{text.format('blue', 9)}{text.format('red', 11)}</main>", "")
    assert re.findall(r"data-s=(\d)", page) == ["0", "1", "0"]
    row = '<tr><td data-label="{}">1</td></tr>'
    tables = "".join(f"<table>{row.format(name)}</table>" for name in ("A", "B", "A"))
    assert re.findall(r"data-t=(\d)", Compact("").page(tables, "")) == ["0", "1", "0"]
