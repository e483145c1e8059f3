"""Run the commands of the tutorials in an empty folder: ``python -m tools.tutorials [--write] [FILE …]``.

A block marked ``csv NAME`` (or ``toml``, ``json``) is a file of the reader. A block marked ``console`` holds commands,
each after ``$``, with what they print; ``console 8`` shows the first eight lines of each and then ``…``. Without
``--write`` a difference is an error; with it the blocks and the pictures of the page are written anew.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "faq.md")
BLOCK = re.compile(r"^```(csv|toml|json|console|python)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+)\)")
WIDTH = "96"


def run_page(text: str, folder: Path) -> str:
    """Run every block of a page in a folder; return the page with what was printed."""

    def again(block: re.Match[str]) -> str:
        kind, word, body = block.groups()
        if kind == "console":
            most = int(word) if word else None
            printed = "".join(
                run_command(line[2:], folder, most) for line in body.splitlines() if line.startswith("$ ")
            )
            return f"```console{f' {word}' if word else ''}\n{printed}```"
        if kind == "python":
            run_python(body, folder)
        elif word:
            (folder / word).write_text(body, encoding="utf-8")
        return block[0]

    return BLOCK.sub(again, text)


def run_command(command: str, folder: Path, most: int | None) -> str:
    """Return a command and what it prints, as a reader sees it."""
    words = shlex.split(command)
    if words[0] != "mensura":
        raise SystemExit(f"{command}: expected a command of mensura")
    words = [
        found for word in words for found in (sorted(p.name for p in folder.glob(word)) if "*" in word else [word])
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-m", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"$ {command}\n{done.stdout}{done.stderr}ended with {done.returncode}")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if most is not None and len(lines) > most:
        lines = [*lines[:most], "…"]
    return "\n".join([f"$ {command}", *lines]) + "\n"


def run_python(body: str, folder: Path) -> None:
    """Run an example in Python; what it shows is not compared."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", body], cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )
    if done.returncode:
        raise SystemExit(f"{body}\n{done.stderr}")


def main() -> None:
    write = "--write" in sys.argv
    names = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    for page in names or PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            found = run_page(text, Path(folder))
            if write:
                page.write_text(found, encoding="utf-8")
                for picture in PICTURE.findall(text):
                    if (made := Path(folder) / picture).is_file():
                        shutil.copy(made, page.parent / picture)
            elif found != text:
                raise SystemExit(
                    f"{page.name}: prints something else now; run python -m tools.tutorials --write {page}"
                )
        print(f"{page.name}: every command ran")


if __name__ == "__main__":
    main()
