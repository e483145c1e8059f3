"""Model pages bound by two processes: in a large report they are most of the work, and none needs another.

Pages are taken in blocks, by this process from the best model on, by the other from the last one back, until the two
meet. Who binds a page does not change a byte of it. The first pages, which have pictures of their own for shared links,
are always bound here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mensura.site.aside import aside
from mensura.site.bindery import MOST_CARDS, Bindery
from mensura.site.pages import model_file, model_pages
from mensura.site.study import Study

MANY = 500
"""Models from which a second process pays beside those that draw the charts."""
BLOCK = 40
"""Models whose pages are taken at a time: about half a second of work."""
Finish = Callable[[Bindery], None]
"""Binds the model pages that are left, in a bindery that has taken in all pages before them."""


@contextmanager
def second_binder(study: Study, folder: Path, shared: Mapping[str, object], first_page: str) -> Iterator[Finish]:
    """Start a second process at the model pages, where there are many; yield what binds the rest in this one.

    ``folder``, ``shared`` and ``first_page`` as those of the :class:`Bindery` of this process.
    """
    if not is_large(study):
        yield lambda bindery: _bind_all(study, bindery)
        return
    with tempfile.TemporaryDirectory(prefix="mensura-blocks-") as taken:
        blocks = Blocks(Path(taken), study.models.height, MOST_CARDS)
        with aside(bind_backward, _lean(study), folder, shared, first_page, blocks) as wait:

            def finish(bindery: Bindery) -> None:
                bound = _bind_forward(study, bindery, blocks)
                wait()
                for subject in study.models["subject"][bound:]:
                    bindery.enter_bound(model_file(subject))

            yield finish


def is_large(study: Study) -> bool:
    """Whether there are so many models that a second process binds pages too."""
    return study.models.height >= MANY


def _lean(study: Study) -> Study:
    """Return a study without the draws of its stitched scale: no model page reads them, and they are half of it.

    What both processes read and takes a second or so to make goes along.
    """
    _ = study.iq.trail
    people = replace(study.people, fit=None, draws=None)  # type: ignore[arg-type]
    lean = replace(study, fit=None, people=people)  # type: ignore[arg-type]
    lean.__dict__.update({name: getattr(study, name) for name in ("models", "dimensions", "over_people")})
    return lean


class Blocks:
    """Blocks of models, each taken by one process: a file in a folder that both see says by which."""

    def __init__(self, folder: Path, models: int, kept_back: int) -> None:
        """Divide so many models; the folder is empty. The second process takes none of the first ``kept_back``."""
        self._folder, self.kept_back = folder, kept_back
        self.ranges = [range(start, min(start + BLOCK, models)) for start in range(0, models, BLOCK)]

    def take(self, number: int, taker: str) -> bool:
        """Take a block for a process, false where another has it; who has it may take it again."""
        mark = self._folder / str(number)
        try:
            with mark.open("x", encoding="ascii") as file:
                file.write(taker)
        except FileExistsError:
            return mark.read_text(encoding="ascii") == taker
        return True


def bind_backward(study: Study, folder: Path, shared: Mapping[str, object], first_page: str, blocks: Blocks) -> None:
    """Bind model pages from the last block back, as far as nobody else has taken them.

    Called again, where the process that ran it failed, it binds what it had taken then.
    """
    bindery = Bindery(folder, None, shared, first_page=first_page)
    for number, models in reversed(list(enumerate(blocks.ranges))):
        if models.start < blocks.kept_back or not blocks.take(number, "second"):
            break
        for page in model_pages(study, models):
            bindery.bind(page)


def _bind_forward(study: Study, bindery: Bindery, blocks: Blocks) -> int:
    """Bind model pages from the first block on, and return how many were bound before the other's begin."""
    for number, models in enumerate(blocks.ranges):
        if not blocks.take(number, "first"):
            return models.start
        for page in model_pages(study, models):
            bindery.enter(page)
            bindery.bind(page)
    return study.models.height


def _bind_all(study: Study, bindery: Bindery) -> None:
    for page in model_pages(study, range(study.models.height)):
        bindery.enter(page)
        bindery.bind(page)
