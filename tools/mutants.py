"""The one-line changes that could be wrong and still run: what :mod:`tools.mutate` plants.

A mutant replaces one operator, constant or call of a line. What no test can be asked to see is left alone: texts
(docstrings, messages, help), annotations and type aliases, decorators, ``raise`` statements, ``__all__``, blocks for
the type checker, and keywords that only guard (``strict=``, ``exist_ok=``) or settle an order (``maintain_order=``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_ARITHMETIC = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/",)),
    ast.Div: ("/", ("*",)),
    ast.FloorDiv: ("//", ("/",)),
    ast.Mod: ("%", ("*",)),
    ast.Pow: ("**", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
}
_COMPARISON = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_BOOLEAN = {ast.And: ("and", ("or",)), ast.Or: ("or", ("and",))}
_OPPOSITES = (("min", "max"), ("minimum", "maximum"), ("any", "all"), ("floor", "ceil"), ("argmin", "argmax"))
_OPPOSITE = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
_GUARDS = {"strict", "exist_ok", "parents", "missing_ok", "maintain_order", "stacklevel", "frozen"}
_TYPES = {"Annotated", "Literal", "Callable", "TypeVar", "isinstance", "issubclass", "cast"}


@dataclass(frozen=True)
class Mutant:
    """One changed piece of one file; ``start`` and ``end`` count the bytes of the source."""

    file: str
    line: int
    function: int
    """First line of the function it is in, decorators included; 0 at the level of the module."""
    start: int
    end: int
    text: str
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with this change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file that parses and differs from it, in the order of the file."""
    reader = _Reader(source)
    reader.visit(ast.parse(source))
    found = []
    for start, end, text, function, around in sorted(reader.found, key=lambda one: one[:4]):
        if around.differs(source, start, end, text):
            changed = source[:start] + text.encode() + source[end:]
            line = source.count(b"\n", 0, start) + 1
            before, after = _line(source, start), _line(changed, start)
            found.append(Mutant(file, line, function, start, end, text, before, after))
    return found


@dataclass(frozen=True)
class _Statement:
    """A statement of a module: what a change within it has to be read with."""

    start: int
    end: int
    read: str

    def differs(self, source: bytes, start: int, end: int, text: str) -> bool:
        """Return whether the statement still parses with a change, and to something else."""
        try:
            changed = ast.parse(source[self.start : start] + text.encode() + source[end : self.end])
        except SyntaxError:
            return False
        return ast.dump(changed) != self.read


def _line(source: bytes, at: int) -> str:
    """Return the line that holds a byte, without its indentation."""
    return source[source.rfind(b"\n", 0, at) + 1 :].split(b"\n", 1)[0].decode().strip()


class _Reader(ast.NodeVisitor):
    """Walks a module and notes (start, end, new text, function, statement) of everything that can be changed."""

    def __init__(self, source: bytes) -> None:
        self.found: list[tuple[int, int, str, int, _Statement]] = []
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._function = 0
        self._statement = _Statement(0, 0, "")

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def _note(self, start: int, end: int, text: str) -> None:
        self.found.append((start, end, text, self._function, self._statement))

    def _between(self, left: ast.expr, right: ast.expr, symbol: str, others: tuple[str, ...]) -> None:
        """Note the other symbols for the one that stands between two expressions."""
        start, end = self._end(left), self._start(right)
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self._source[start:end])
        at = re.search(re.escape(symbol).replace(r"\ ", r"\s+").encode(), gap)
        if at is not None:
            for other in others:
                self._note(start + at.start(), start + at.end(), other)

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if not _is_exports(statement):
                start, end = self._start(statement), self._end(statement)
                self._statement = _Statement(start, end, ast.dump(ast.parse(self._source[start:end])))
                self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, self._function = self._function, min([node.lineno, *(part.lineno for part in node.decorator_list)])
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._function = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test) and "__name__" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages stay; that something is raised is the business of the condition above."""

    def visit_Assign(self, node: ast.Assign) -> None:
        is_alias = self._function == 0 and isinstance(node.value, ast.BinOp) and _is_union(node.value)
        if not is_alias:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if _name(node.value) not in _TYPES:
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts stay, and what is put into them too: its place in the source is not known before Python 3.12."""

    def visit_Call(self, node: ast.Call) -> None:
        if _name(node.func) in _TYPES:
            return
        other = _OPPOSITE.get(_name(node.func))
        if other is not None:
            self._note(self._end(node.func) - len(_name(node.func)), self._end(node.func), other)
        if _name(node.func) == "range" and not isinstance(node.args[-1], ast.Constant):
            self._note(self._end(node.args[-1]), self._end(node.args[-1]), " - 1")
        self.visit(node.func)
        for argument in (*node.args, *(part.value for part in node.keywords if part.arg not in _GUARDS)):
            self.visit(argument)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._note(self._start(node.value), self._end(node.value), "None")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        operator = _ARITHMETIC.get(type(node.op))
        if operator is not None and not _is_text(node.left) and not _is_text(node.right):
            self._between(node.left, node.right, *operator)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, *_BOOLEAN[type(node.op)])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            self._between(left, right, *_COMPARISON[type(operator)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.UAdd):
            self._note(self._start(node), self._start(node.operand), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        for text in _other_constants(node.value):
            self._note(self._start(node), self._end(node), text)


def _other_constants(value: object) -> Iterator[str]:
    """Yield constants to put in place of one: the other truth, a neighbouring count, another size."""
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield str(value + 1)
        if value > 0:
            yield str(value - 1)
    elif isinstance(value, float):
        yield repr(value * 2 if value else 1.0)
        if value:
            yield repr(value / 2)


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _is_text(node: ast.expr) -> bool:
    """Return whether an operand is a text: joined or appended to a path, any other operator would just crash."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_union(node: ast.expr) -> bool:
    """Return whether an expression is built from names and ``|`` alone: a type, not a number."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_union(node.left) and _is_union(node.right)
    return isinstance(node, ast.Name | ast.Subscript) or (isinstance(node, ast.Constant) and node.value is None)


def _is_exports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(_name(target) == "__all__" for target in node.targets)
