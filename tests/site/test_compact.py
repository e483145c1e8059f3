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
