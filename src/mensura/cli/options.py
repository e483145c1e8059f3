"""How commands declare options: the shared ones, checks of paths, and hints about options that are unknown."""

import difflib
import os
import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import typer

from mensura.cli.output import note_command
from mensura.core.addresses import is_address
from mensura.core.errors import MensuraError, check_choice


def check_input(path: Path | list[Path] | None) -> Path | list[Path] | None:
    """Refuse a file or folder to be read that is not there, or may not be read."""
    for one in path if isinstance(path, list) else [path]:
        if one is None or is_address(one):  # the reader of an address finds out
            continue
        if not one.exists():
            raise MensuraError(f"{one}: no such file or folder; check the path")
        if not os.access(one, os.R_OK):
            raise MensuraError(f"{one}: may not be read; change its permissions")
    return path


def check_output(path: Path | None) -> Path | None:
    """Refuse a place that cannot be written: below a file, on a disk that is read-only, behind a dead link."""
    if path is None or is_address(path):
        return path
    place = path
    while not os.path.lexists(place):
        place = place.parent
    if place.is_symlink() and not place.exists():
        raise MensuraError(f"{place}: a link that leads nowhere; choose another name")
    if place != path and not place.is_dir():
        raise MensuraError(f"{path}: {place} is a file, so nothing can be written below it; choose another name")
    if not os.access(place if place.is_dir() else place.parent, os.W_OK):
        raise MensuraError(f"{path}: {place} cannot be written (read-only, or not yours); choose another place")
    return path


def opt(text: str, *names: str, **more: Any) -> Any:
    """Declare an option with its line of help."""
    return typer.Option(*names, help=text, **more)


def arg(text: str, **more: Any) -> Any:
    """Declare an argument with its line of help."""
    return typer.Argument(help=text, **more)


def inarg(text: str, **more: Any) -> Any:
    """Declare an argument that takes a file or folder to read."""
    return typer.Argument(help=text, callback=check_input, **more)


def infile(text: str, *names: str, **more: Any) -> Any:
    """Declare an option that takes a file or folder to read."""
    return typer.Option(*names, help=text, callback=check_input, **{"metavar": "FILE", **more})


def outfile(text: str, *names: str, **more: Any) -> Any:
    """Declare an option that takes a file or folder to write."""
    return typer.Option(*names, help=text, callback=check_output, **more)


def _note_out(context: typer.Context, out: Path | None) -> Path | None:
    """Remember whose ``--out`` this is; check the place."""
    note_command(context)
    return check_output(out)


def _note_json(context: typer.Context, as_json: bool) -> bool:
    """Remember the command whose ``--json`` this is."""
    note_command(context)
    return as_json


def _check_method(method: str | None) -> str | None:
    """Refuse an unknown method of scoring before anything is computed."""
    from mensura.iq.scoring import METHODS

    if method is not None:
        check_choice("--method", method, METHODS)
    return method


Out = Annotated[
    Path | None,
    typer.Option(help="Also write the tables as CSV files into this folder.", file_okay=False, callback=_note_out),
]
ColumnMap = Annotated[str | None, opt("Columns of your tables: item=qid,rate=p.", "--map")]
ItemColumns = Annotated[str | None, opt("Columns of the items: text=stem,key=answer:1.", "--map")]
Json = Annotated[bool, opt("Print one JSON object instead of tables.", "--json", callback=_note_json)]
EvidencePath = Annotated[Path | None, infile("Folder or store instead of the embedded evidence.", "--evidence")]
AddedScores = Annotated[list[Path] | None, infile("Scores of your own (see mensura add); repeatable.", "--add")]
AcceptedNames = Annotated[
    list[str] | None, opt("Confirm what a name means; repeatable.", "--accept-near", metavar="NAME=ID")
]
ScoreUnit = Annotated[str | None, opt("percent or fraction: the unit of SCORES, where it does not say.", "--unit")]
Method = Annotated[str | None, opt("IQ method: joint (default) or published.", callback=_check_method)]
Scale = Annotated[str | None, opt("Frozen scale, such as 2026-12; no score changes on it.")]


def check_options(program: Any, words: list[str]) -> None:
    """Refuse an option given twice that counts once, and one that is unknown, with what to write instead."""
    command = program
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    options = {name: one for one in command.params for name in (*one.opts, *one.secondary_opts)}
    given = [word.partition("=")[0] for word in takewhile(lambda word: word != "--", words) if word.startswith("--")]
    for name in given:
        one = options.get(name)
        if one is None and name != "--help" and (hint := _hint(name, options, command.epilog or "")):
            raise MensuraError(f"{name}: no such option; {hint}")
        if one is not None and not (one.multiple or one.is_flag) and given.count(name) > 1:
            several = "Where it takes several values, separate them by commas"
            raise MensuraError(f"{name}: given {given.count(name)} times; expected once. {several}")


def _hint(name: str, options: Mapping[str, object], epilog: str) -> str | None:
    """Return what to write instead of an option that is unknown: the nearest option or setting."""
    settings = {f"--{setting.replace('_', '-')}": setting for setting in re.findall(r"^  (\w+)=", epilog, re.MULTILINE)}
    near = difflib.get_close_matches(name, [*options, *settings], n=1)
    if switched := settings.get(f"--{name.removeprefix('--no-')}"):
        return f"write --set {switched}=false"
    if near and near[0] in settings:
        return f"write --set {settings[near[0]]}=VALUE"
    if near and not near[0].startswith("-"):
        return f"write the {near[0]} alone, as a word of its own"
    return f"did you mean {near[0]}?" if near else None
