"""How every result shows itself: a short text, a table in a notebook, all its tables by name."""

from __future__ import annotations

import inspect
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from mensura.core import exports
from mensura.core.arguments import check_arguments
from mensura.core.frames import text_table

if TYPE_CHECKING:
    import polars as pl

R = TypeVar("R")
ROWS_SHOWN = 10
ROWS_PLOTTED = 30


def set_computed(result: R, **parts: Any) -> R:
    """Give a result cached properties that were computed already, and return it.

    A cached property allows writes; ``object.__setattr__`` makes them, because results are frozen.
    """
    for name, value in parts.items():
        object.__setattr__(result, name, value)
    return result


class Result:
    """Mixin of the frozen dataclasses that results are (decorate them with ``repr=False``).

    A result names its tables in ``TABLES`` and says in one line what it is (:attr:`heading`). ``warnings``, where it
    has them, are printed between heading and table. The arguments of its public methods are checked as those of verbs.
    """

    TABLES: ClassVar[tuple[str, ...]] = ()
    DIGITS: ClassVar[int] = 3

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(cls, name, check_arguments(member))

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        raise NotImplementedError

    @property
    def shown(self) -> pl.DataFrame:
        """The table a reader wants first: the first of ``TABLES`` unless a result knows better."""
        table: pl.DataFrame = getattr(self, self.TABLES[0])
        return table

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return every table by its name, as ``--out`` writes them."""
        return {name: getattr(self, name) for name in self.TABLES}

    def to_pandas(self) -> dict[str, Any]:
        """Return every table by its name as a pandas table; pandas itself is all that must be installed."""
        import pandas as pd  # type: ignore[import-untyped]

        return {name: pd.DataFrame(table.to_dict(as_series=False)) for name, table in self.tables().items()}

    @check_arguments
    def plot(self, rows: int = ROWS_PLOTTED) -> Any:
        """Draw the table that :attr:`shown` gives: one row per subject, its value and interval.

        A notebook shows the picture. ``picture.save("picture.svg")`` writes it.
        """
        return exports.draw_table(self.shown, self.heading, rows)

    def __str__(self) -> str:
        notices = (f"warning: {text}" for text in getattr(self, "warnings", ()))
        return "\n".join([self.heading, *notices, text_table(self.shown, rows=ROWS_SHOWN, digits=self.DIGITS)])

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        notices = "".join(f"<p><strong>Warning:</strong> {escape(text)}</p>" for text in getattr(self, "warnings", ()))
        return f"<p>{escape(self.heading)}</p>{notices}{self.shown._repr_html_()}"
