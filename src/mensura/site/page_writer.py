"""The page writer: turns pages and the downloads of their pictures into files, one page at a time.

It writes each page as soon as it is made and then forgets it, so that thousands of model pages need little memory. It
keeps only the name of each page, and which page's picture it has for shared links.

Such a picture depends only on its drawing and the versions of the code, so it is kept between builds like any other
result (:mod:`mensura.core.cache`). A report that is built again draws only what changed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from markupsafe import Markup, escape

from mensura.charts import FrameWords, Mark, draw_share_card, frame_picture
from mensura.charts.render import to_png
from mensura.charts.theme import ROOT
from mensura.core.cache import recall
from mensura.core.frames import neutral_text
from mensura.evidence import slug
from mensura.site.api import VERSION, to_json
from mensura.site.compact import Compact, compact_drawing
from mensura.site.pages import Page
from mensura.site.pictures import Figure
from mensura.site.templating import EARLY, Templates, style_sheet, whole_names
from mensura.site.texts import first_link, term, term_id
from mensura.study import units

_SAID_BY_PAGE = re.compile(
    r'<svg xmlns="http://www.w3.org/2000/svg"([^>]*?)(?: role="group" aria-label="[^"]*")? font-family="[^"]*"'
)
_SPECIAL = re.compile(r'[,"\r\n]')
_SIZE = re.compile(r'(?:width|height)="([\d.]+)"')
SharedParts: TypeAlias = tuple[list[str], str, dict[str, str]]


class PageWriter:
    """Writes pages into a folder."""

    def __init__(
        self,
        folder: Path,
        shared: Mapping[str, object],
        advance: Callable[[], object] | None = None,
        leaders: tuple[Mark, ...] = (),
        part: str = "",
    ) -> None:
        """Write into ``folder``; ``shared`` is what every template knows, ``advance`` is called once per page.

        ``leaders``: the models in the picture of a shared link that names none itself. ``part``: what names of shared
        rules begin with, where several writers write.
        """
        self._leaders = leaders
        self.listed: list[str] = []  # pages for the sitemap
        self._folder, self._shared, self._advance = folder, shared, advance
        self._day = units.say_day(str(shared["evidence_day"]))
        self._card_of: dict[str, str] = {}  # page → the page whose picture it has
        self._written: set[str] = set()  # figures
        self._compact = Compact(style_sheet(), part)
        self._frames: dict[str, str] = {}  # of paged figures
        self._bars: dict[tuple[str, str], Markup] = {}
        self._environment = self._templates()

    def add(self, page: Page) -> None:
        """List a page for the sitemap, and draw its picture for shared links, which its charts have too."""
        if page.listed:
            self.listed.append(page.file)
        own = page.shared
        if own.sentence:
            address = str(self._shared["address"]).partition("://")[2].strip("/")
            origin = ", ".join(filter(None, (address, self._day, "CC BY 4.0")))
            svg = draw_share_card(own.note or page.title, own.sentence, own.marks or self._leaders, origin, own.chances)
            picture = placed(self._folder, *_card_path(page.file).split("/"))
            picture.write_bytes(recall("drawing", [svg], lambda: to_png(svg, 1.0)))
            self._card_of |= {f"charts/{one.name}.html": page.file for one in page.figures} | {page.file: page.file}

    def write(self, page: Page) -> None:
        """Write a page that was added, and the downloads of its pictures."""
        shared = self._shared
        html = self._environment.get_template(page.template).render(
            **shared,
            **page.context,
            page=page,
            title=page.title,
            summary=page.summary,
            root=(str(shared["address"]) or page.root) if page.file == "404.html" else page.root,
            current=page.file,
            scripts=page.scripts,
            card=_card_path(self._card_of.get(page.file, "index.html")),
        )
        if page.template == "index.html":  # it has its own style sheet inside, so that it shows at once
            own = Compact(style_sheet())
            html = own.page(html.replace(EARLY, "", 1), page.root)  # the policy of the live site names that script
            html = html.replace("<script></script>", f"<script>{EARLY}</script>", 1)
            html = html.replace("</style>", f"{own.rules()}</style>", 1)
        else:
            html = self._compact.page(html, page.root)
        write(html, self._folder, page.file)
        for figure in page.figures:
            if figure.name not in self._written:
                self._write_figure(figure)
                self._written.add(figure.name)
        if self._advance is not None and not page.file.startswith("charts/"):
            self._advance()

    def shared(self) -> SharedParts:
        """Return what the pages written so far share: their names for the sitemap, rules of style, and pictures."""
        return self.listed, self._compact.rules(), self._compact.pictures

    def write_shared(self, others: Sequence[SharedParts]) -> list[str]:
        """Write what all pages share, those of ``others`` in other processes too; return the pages for the sitemap."""
        pages: list[str] = []
        with placed(self._folder, "static", "style.css").open("a", encoding="utf-8") as sheet:
            for listed, rules, pictures in (self.shared(), *others):
                sheet.write(rules)
                for drawing, file in pictures.items():
                    write(drawing, self._folder, file)
                pages += listed
        return pages

    def _templates(self) -> Templates:
        environment = Templates("mensura.site")
        environment.filters.update(
            slug=slug,
            digits=units.digits,
            show=units.show,
            show_range=units.show_range,
            dollars=units.dollars,
            chance=units.chance,
            day=units.say_day,
            first_link=first_link,
            whole=whole_names,
        )
        environment.globals["bar_of"] = self._bar
        environment.globals["term"] = term
        environment.globals["term_id"] = term_id
        environment.globals["rooted"] = _rooted
        environment.globals["embedded_size"] = lambda figure: " ".join(_SIZE.findall(self._framed(figure))[:2])
        return environment

    def _bar(self, root: str, current: str) -> Markup:
        """Return the bar above a page; pages that it does not name share one."""
        links = [*self._shared["navigation"], *self._shared["more"]]  # type: ignore[misc]
        key = (root, current if any(file == current for file, _ in links) else "")
        if key not in self._bars:
            bar = self._environment.get_template("bar.html").render(self._shared, root=root, current=current)
            self._bars[key] = Markup(bar)
        return self._bars[key]

    def _write_figure(self, figure: Figure) -> None:
        """Write what the frame of a picture offers: CSV, and SVG and JSON of those with a page of their own."""
        out, name = self._folder, figure.name
        columns, rows = figure.table
        write(csv_text(columns, rows), out, "charts", f"{name}.csv")
        if figure.paged:  # the others are framed by the page itself, on demand
            write(self._framed(figure), out, "charts", f"{name}.svg")
            chart = {"name": name, "title": figure.title, "caption": figure.caption, "points": figure.points}
            write(to_json({"version": VERSION, **chart}), out, "api", VERSION, "charts", f"{name}.json")

    def _framed(self, figure: Figure) -> str:
        """Return a picture as it leaves the site: with finding, source, day, licence and address around it."""
        if figure.name not in self._frames:
            shared = self._shared
            shows, _, doubt = (text for _, text in figure.voice)
            address = f"{shared['address']}charts/{figure.name}.html" if shared["address"] else ""
            words = FrameWords(
                figure.finding or figure.title, shows, doubt, figure.source, self._day, figure.licence, address
            )
            drawing = figure.drawing.wide.replace(ROOT, str(shared["address"]) or "../")
            self._frames[figure.name] = compact_drawing(frame_picture(drawing, words))
        return self._frames[figure.name]


def _rooted(drawing: object, root: str) -> Markup:
    """Return a drawing for a page: its links from there, without what the page itself says of every drawing."""
    return Markup(_SAID_BY_PAGE.sub(r"<svg\1", str(drawing)).replace(ROOT, escape(root)))


def write(text: str, folder: Path, *parts: str) -> None:
    """Write a text file inside the folder."""
    placed(folder, *parts).write_text(text, encoding="utf-8")


def placed(folder: Path, *parts: str) -> Path:
    """Return a path inside the folder, its own folder made."""
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _card_path(file: str) -> str:
    return f"share/{file.removesuffix('.html')}.png"


def csv_text(columns: list[str], rows: list[list[object]]) -> str:
    """Return the table of a picture as CSV, numbers to six digits; quotes tell an empty text from nothing."""
    cells = [[units.digits(cell) if isinstance(cell, float) else cell for cell in row] for row in rows]
    texts = (["" if cell is None else _quoted(neutral_text(str(cell))) for cell in row] for row in cells)
    return "".join(f"{','.join(row)}\n" for row in (map(_quoted, columns), *texts))


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""')) if not text or _SPECIAL.search(text) else text
