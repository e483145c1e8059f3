"""Small pages: what many drawings and tables repeat stands once, and a reader sees the same.

The looks of drawings and the labels of cells become rules of the style sheet. The shapes of marks stand once in a page.
A phone's drawing has the marks of the wide one in the same order: ``marks.js`` copies their words from there. What the
pages of all models show alike becomes a picture of its own, one for each theme.
"""

import html
import json
import re
from itertools import count

from mensura.charts.theme import THEMES, resolve

_LOOKS = (
    r" (?:fill|stroke|opacity|(?:fill|stroke)-opacity|stroke-(?:width|dasharray|linejoin|linecap)|paint-order"
    r'|text-anchor|font-(?:size|weight|style))="[^"]*"'
)
_LOOK = re.compile(f"({_LOOKS})")
_TWO_LOOKS = re.compile(
    rf"<(?:svg|g|path|text|tspan|rect|circle|use)\b(?:(?:[^> ]++|(?!{_LOOKS}) )*+{_LOOKS}){{2}}[^>]*?(?=/?>)"
)
"""An element with two or more attributes of its look."""
_WITHIN = r"([^<]*+(?:<(?!/{}>)[^<]*+)*+)"
"""What an element contains, up to the next end of one of its kind: found faster than any text up to there."""
_TWINS = re.compile("".join(f'<div class="only-{one}">{_WITHIN.format("div")}</div>' for one in ("wide", "narrow")))
_MARK = re.compile(r'<(?:a\b|g\b[^>]* role="img")[^>]*>')
_WORDS = re.compile(r' (?:aria-label|data-subject|data-provider)="[^"]*"')
_PLACE = re.compile(r' transform="[^"]*"')
_SIGN = re.compile(r'<path class="sign" transform="translate\(([-\d.]+),([-\d.]+)\)" d="([^"]*)"')
_LINE = re.compile(r'<line x1="([-\d.]+)" y1="([-\d.]+)" x2="([-\d.]+)" y2="([-\d.]+)"')
_ROUND = re.compile(r'( (?:[xyrd]|c[xy]|width|height|transform)="[^"]*?\d\.0(?!\d)[^"]*)')
_POINT = re.compile(r"(?<=\d)\.0(?!\d)")
_TABLE = re.compile(r'<table\b(?! class="[^"]*ranking)' + _WITHIN.format("table") + "</table>")
_ROW = re.compile(r"<tr\b" + _WITHIN.format("tr") + "</tr>")
_CELL = re.compile(r'<t[dh]\b(?:[^> ]++|(?! data-label=") )*+(?: data-label="([^"]*)"[^>]*+)?>')
_LABEL = re.compile(r' data-label="([^"]*)"')
_OTHERS = re.compile(r'<path d="((?:M[^Mm"]+m[^M"]+z){2,})"([^>]*)/>')
_OTHER = re.compile(r"M([-\d.]+),([-\d.]+)(m[^M]+)")
_SUBJECT = re.compile(r'(<a\b[^>]* href="[^"]*models/([^"/]+)\.html"[^>]*?) data-subject="\2"')
_PROVIDER = re.compile(r'( data-subject="[^"]*"| href="[^"]*") data-provider="[^"]*"')
_WORD = re.compile(
    r"( (?:[xyr]|c[xy]|[xy][12]|r[xy]|data-(?:[st]|label|value|subject|provider)|class|scope|role|dir|fill|opacity"
    r"""|title|width|height|target|aria-hidden)=)"([^\s"'=<>`&]+)"(?=[ >])"""
)
"""An attribute whose value is one word, which needs no quotes."""
_LINK = re.compile(r"""(<(?:a|use)\b[^>]*? href=)"([^\s"'=<>`&]+)"(?=[ >])""")
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_DIRECTION = re.compile(rf' dir="auto"([^<>]*>(?=[^<{_RIGHT_TO_LEFT}]*?[A-Za-z])[^<{_RIGHT_TO_LEFT}]*<)')
"""The direction of a text of Latin letters alone, which is that of the page."""
_END = re.compile(r"</(?:t[dr]|li|d[dt])>\s*(?=</?(?:t[drh]|tbody|li|d[dtl]|ul|div)\b)")
_FOR_SCRIPTS = re.compile(r' (?:class|data-(?:subject|provider))="[^"]*"| role="img" aria-label="[^"]*"')
_SHARED = re.compile(r'<g class="shared" data-size="([\d.]+) ([\d.]+)">' + _WITHIN.format("g") + "</g>")


class Compact:
    """Takes pages one by one; :meth:`rules` and :attr:`pictures` are what the pages then need beside themselves."""

    def __init__(self, sheet: str, part: str = "") -> None:
        """``sheet``: the style sheet; cells whose label it names keep their label.

        ``part``: what the names of rules and pictures begin with, another for the pages of each process.
        """
        self._named = set(re.findall(r'data-label="([^"]+)"', sheet))
        self._part = part
        self._looks: dict[str, int] = {}
        self._tables: dict[tuple[str, ...], str] = {}
        self.pictures: dict[str, str] = {}
        """Files of pictures that many pages show."""
        self._shown: dict[tuple[str, ...], dict[str, str]] = {}

    def page(self, text: str, root: str) -> str:
        """Return a page that shows the same and is smaller; ``root`` leads to the folder of the report."""
        shapes: dict[str, str] = {}

        def shape(match: re.Match[str]) -> str:
            x, y, outline = match.groups()
            at = "".join(f' {axis}="{value}"' for axis, value in (("x", x), ("y", y)) if float(value))
            return f'href="#{shapes.setdefault(outline, f"s{len(shapes)}")}"{at}'

        def others(match: re.Match[str]) -> str:
            return f"<g{match[2]}>" + _OTHER.sub(lambda one: f"<use {shape(one)}/>", match[1]) + "</g>"

        text = _SHARED.sub(lambda match: self._picture(match, root), text)
        text = _TWINS.sub(_twin, text)
        text = _SIGN.sub(lambda match: f'<use class="sign" {shape(match)}', _OTHERS.sub(others, text))
        text = _SUBJECT.sub(lambda match: match[1], _LINE.sub(_path, text))
        if "static/charts.js" not in text:  # nothing on the page chooses makers
            text = _keep_groups(_PROVIDER, text)
        text = _ROUND.sub(_whole, _TWO_LOOKS.sub(lambda match: _look(match, "data-s", self._part, self._looks), text))
        text = _keep_groups(_DIRECTION, _TABLE.sub(self._table, text))
        text = _END.sub("", _keep_groups(_LINK, _keep_groups(_WORD, text)))
        if shapes:
            parts = "".join(f'<path id="{name}" d="{outline}"/>' for outline, name in shapes.items())
            text = text.replace("<main", f'<svg class="shapes" aria-hidden="true">{parts}</svg><main', 1)
        return text

    def rules(self) -> str:
        """Return the rules of the style sheet: looks, as weak as the attributes they replace, and labels of cells."""
        rules = [f":where([data-s='{self._part}{name}']){{{_rule(look)}}}\n" for look, name in self._looks.items()]
        labels = [
            f"[data-t='{name}'] td:nth-child({place})::before{{content:{json.dumps(html.unescape(label))}}}\n"
            for cells, name in self._tables.items()
            for place, label in zip(count(1), cells, strict=False)
            if label and label not in self._named
        ]
        return "".join([*rules, "@media screen and (max-width: 44.99rem) {\n", *labels, "}\n"])

    def _table(self, match: re.Match[str]) -> str:
        """Leave out the labels of a table whose rows all have the same ones: the style sheet writes them."""
        rows = {tuple(_CELL.findall(row)) for row in _ROW.findall(match[0]) if "data-label" in row}
        if len(rows) != 1:
            return match[0]
        name = self._tables.setdefault(rows.pop(), f"{self._part}{len(self._tables)}")
        cells = _LABEL.sub(lambda label: label[0] if label[1] in self._named else "", match[0])
        return cells.replace("<table", f'<table data-t="{name}"', 1)

    def _picture(self, match: re.Match[str], root: str) -> str:
        """Return a drawing's part as a picture in a file, one for each theme."""
        width, height, parts = match.groups()
        size = f'width="{width}" height="{height}"'
        if match.groups() not in self._shown:
            drawn = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{parts}</svg>'
            files = self._shown[match.groups()] = {}
            for name, theme in THEMES.items():
                file = f"static/people-{self._part}{len(self.pictures)}.svg"
                files[name] = self.pictures.setdefault(resolve(drawn, theme), file)
        images = self._shown[match.groups()].items()
        return "".join(f'<image class="in-{name}" href="{root}{file}" {size}/>' for name, file in images)


def _keep_groups(pattern: re.Pattern[str], text: str) -> str:
    """Return a text with only the groups of each match: it takes half the time of a template that names them."""
    return "".join(pattern.split(text))


def _twin(match: re.Match[str]) -> str:
    """Leave out the words of the marks in a phone's drawing that has the same marks as the wide one."""
    wide, narrow = match.groups()
    marks, others = ([_PLACE.sub("", mark) for mark in _MARK.findall(side)] for side in (wide, narrow))
    if not marks or marks != others:
        return match[0]
    narrow = _MARK.sub(lambda mark: _WORDS.sub("", mark[0]), narrow)
    return f'<div class="only-wide" data-twin>{wide}</div><div class="only-narrow">{narrow}</div>'


def compact_inline(svg: str) -> str:
    """Return a drawing that a script puts into a page."""
    return _keep_groups(_WORD, _ROUND.sub(_whole, _LINE.sub(_path, svg)))


def compact_drawing(svg: str) -> str:
    """Return a drawing of its own: looks that repeat are rules; what scripts read and words of marks are left out."""
    looks: dict[str, int] = {}
    text = _TWO_LOOKS.sub(lambda match: _look(match, "class", "l", looks), _FOR_SCRIPTS.sub("", svg))
    rules = "".join(f".l{name}{{{_rule(look)}}}" for look, name in looks.items())
    return _ROUND.sub(_whole, _LINE.sub(_path, text.replace(">", f"><style>{rules}</style>", 1)))


def _look(match: re.Match[str], attribute: str, prefix: str, looks: dict[str, int]) -> str:
    """Return an element whose look stands elsewhere; an attribute names which of the looks it is."""
    parts = _LOOK.split(match[0])
    place = looks.setdefault("".join(sorted(parts[1::2])), len(looks))
    return f'{"".join(parts[::2])} {attribute}="{prefix}{place}"'


def _rule(look: str) -> str:
    return re.sub(r' ([\w-]+)="([^"]*)"', r"\1:\2;", re.sub(r'( font-size="[\d.]+)"', r'\1px"', look))


def _whole(match: re.Match[str]) -> str:
    return _POINT.sub("", match[1])


def _path(match: re.Match[str]) -> str:
    x, y, to_x, to_y = (value.removesuffix(".0") for value in match.groups())
    return f'<path d="M{x} {y}{f"H{to_x}" if y == to_y else f"V{to_y}" if x == to_x else f"L{to_x} {to_y}"}"'
