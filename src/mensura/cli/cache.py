"""``mensura cache``: what is kept between runs, and its removal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from mensura.cli.output import Json, console, emit
from mensura.cli.tables import print_table

EXAMPLES = """
[bold]Examples[/]

  mensura cache
  mensura cache --clear
  MENSURA_CACHE=off mensura where gpt-5.5
"""


def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove what is kept; it is computed again when needed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what is kept between runs: studies, each computed once per evidence by this version of the code.

    Safe to delete at any time. The environment variable MENSURA_CACHE names another folder, or says off.
    """
    import polars as pl

    from mensura.core.cache import cache_folder, clear_cache, kept_results

    folder = cache_folder()
    if folder is None:
        if not emit({}, out=None, as_json=as_json, folder=None):
            console.print("Nothing is kept: MENSURA_CACHE is off.")
        return
    if clear:
        removed = clear_cache(folder)
        if not emit({}, out=None, as_json=as_json, folder=folder, removed=removed):
            console.print(f"removed {removed} {'result' if removed == 1 else 'results'} from {folder}")
        return
    rows = [
        (
            entry.name,
            entry.size / 1e6,
            datetime.fromtimestamp(entry.used, UTC).strftime("%Y-%m-%d %H:%M"),
            entry.file.name,
        )
        for entry in kept_results(folder)
    ]
    schema = {"result": pl.String, "megabytes": pl.Float64, "used": pl.String, "file": pl.String}
    kept = pl.DataFrame(rows, schema=schema, orient="row")
    if not emit({"kept": kept}, out=None, as_json=as_json, folder=folder):
        print_table(kept, title=f"Kept in {folder} (times in UTC)")
