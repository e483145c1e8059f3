"""Count long sentences in the documentation and error messages without a remedy: ``python -m tools.count_words``.

With ``--write`` the counts go to tests/words.toml, which tests/test_words.py compares with the present ones.
With the name of a page or package the command lists what it counts there.

Sentences
    README.md and docs/*.md, without the reference pages. Code blocks, tables, headings and comments do not count.
    A paragraph and a list item are each read by themselves. A sentence ends at ``.``, ``!`` or ``?`` before a space.
    Inline code is one word, a link is its text, and a word contains a letter or a digit.

Error messages
    The literal text of each call of MensuraError, or of a class derived from it, somewhere in src.
    A message has a remedy if it states what is expected ("must", "at least"), asks "did you mean", names an option
    (``--unit``), or has a clause that begins with a verb of the list below ("…; add persons.csv").
    This is a heuristic: it finds messages to improve, and it cannot judge the advice.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "words.toml"
REFERENCE = {"commands.md", "tables.md", "rubrics.md"}
LONGEST_SENTENCE = 30
"""Words of a sentence. The aim is 25; a few more are let pass."""

_VERBS = (
    "add allow ask begin build change check choose close convert copy correct create delete divide drop enter "
    "export fill find fit fix free give hand include increase install join keep leave list load lower make map "
    "merge move name omit open pass pick put raise read rebuild record reduce relax remove rename repair replace "
    "report restore retry rewrite run save say see select send set shorten show split start state stop take try "
    "turn unset update use wait write"
)
_REMEDY = re.compile(
    rf"(?:^|[;:,.(] |\(|\b(?:or|and|then) )(?:{'|'.join(_VERBS.split())})\b"
    r"|\b(?:expected|allowed|must|need(?:s|ed)?|at least|at most|did you mean|instead)\b|(?<!\w)--\w",
    flags=re.IGNORECASE,
)


def long_sentences(page: str) -> list[str]:
    """Return the sentences of a Markdown page that have more words than LONGEST_SENTENCE."""
    return [sentence for sentence in sentences(page) if _words(sentence) > LONGEST_SENTENCE]


def sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a Markdown page, without code blocks, tables, headings and comments."""
    page = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    page = re.sub(r"^(?:#|\||    ).*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"^\s*(?:[-*>]|\d+\.)\s", "\n\n", page, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", page):
        paragraph = re.sub(r"`[^`]*`", "Code", paragraph)
        paragraph = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        for sentence in re.split(r"(?<=[.!?])[*_)\"”]*\s+(?=[^a-z])", " ".join(paragraph.split())):
            if sentence:
                yield sentence


def _words(sentence: str) -> int:
    return sum(any(character.isalnum() for character in word) for word in sentence.split())


def messages_without_remedy(files: dict[str, str]) -> dict[str, list[str]]:
    """Return by file name the error messages without a remedy, in Python source texts given by file name."""
    trees = {name: ast.parse(text) for name, text in files.items()}
    errors = _error_classes(trees.values())
    found = {}
    for name, tree in trees.items():
        messages = [
            message
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and _last_name(call.func) in errors
            if (message := " ".join(_literal(argument) for argument in call.args)).strip(" …")
        ]
        found[name] = [message for message in messages if not has_remedy(message)]
    return found


def has_remedy(message: str) -> bool:
    """Tell by its words whether an error message says what to do."""
    return _REMEDY.search(message) is not None


def _error_classes(trees: Iterable[ast.Module]) -> set[str]:
    known = {"MensuraError"}
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    while more := {c.name for c in classes if c.name not in known and known & {_last_name(base) for base in c.bases}}:
        known |= more
    return known


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr) -> str:
    """Return the literal text of an expression; what is computed becomes an ellipsis."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_literal(part) for part in parts)
        case ast.BinOp(left=left, right=right):
            return _literal(left) + _literal(right)
        case ast.IfExp(body=body, orelse=other):
            return f"{_literal(body)} {_literal(other)}"
        case _:
            return "…"


def find_sentences() -> dict[str, list[str]]:
    """Return the long sentences of each page of the documentation."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {
        page.relative_to(ROOT).as_posix(): long_sentences(page.read_text(encoding="utf-8"))
        for page in pages
        if page.name not in REFERENCE
    }


def find_messages() -> dict[str, list[str]]:
    """Return the error messages without a remedy of each package."""
    source = ROOT / "src" / "mensura"
    files = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    by_package: dict[str, list[str]] = {}
    for name, messages in sorted(messages_without_remedy(files).items()):
        by_package.setdefault(Path(name).parts[0].removesuffix(".py"), []).extend(
            f"{name}: {text}" for text in messages
        )
    return by_package


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="?", help="page or package: list its long sentences or its messages")
    parser.add_argument("--write", action="store_true", help="store the present counts")
    arguments = parser.parse_args()
    found = {"sentences": find_sentences(), "messages": find_messages()}
    if arguments.name:
        print("\n\n".join(text for lists in found.values() for text in lists.get(arguments.name, [])))
        return
    text = "# Written by python -m tools.count_words --write. Counts may only fall.\n"
    for section, lists in found.items():
        rows = [f'"{name}" = {len(texts)}' for name, texts in lists.items() if texts]
        text += "\n" + "\n".join([f"[{section}]", *rows]) + "\n"
    if arguments.write:
        STORED.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
