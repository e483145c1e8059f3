"""The errors Mensura raises on purpose; each message says what, where, what is allowed and what to do."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

NAMES_SHOWN = 5
"""Names that a message lists one by one."""
LONGEST_MESSAGE = 20_000
"""Characters of a message; what somebody put into one cell or line does not have to be read to them in full."""


class MensuraError(ValueError):
    """Input that cannot be used as it is. The command line prints the message without a traceback."""

    def __init__(self, message: object = "") -> None:
        text = str(message)
        left = len(text) - LONGEST_MESSAGE
        super().__init__(text if left <= 0 else f"{text[:LONGEST_MESSAGE]} … ({left:,} more characters)")


def listed_names(names: Sequence[str]) -> str:
    """Name the first few of a list, and how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise MensuraError(f"{name}: got {value!r}; expected one of {', '.join(choices)}")


def counted(number: int, noun: str) -> str:
    """Return "1 model" or "1,200 models"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def with_article(noun: str) -> str:
    """Return a noun with its article: "an effect", "a rate"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


@dataclass(frozen=True)
class Fault:
    """One thing wrong in one file. ``row`` counts as an editor does: the header is row 1; 0 means the whole file."""

    file: str
    row: int
    column: str
    value: str
    expected: str

    def __str__(self) -> str:
        where = (
            self.file + (f", row {self.row}" if self.row else "") + (f", column {self.column}" if self.column else "")
        )
        got = f"got {self.value!r}; " if self.value else ""
        return f"{where}: {got}expected {self.expected}"


class EvidenceError(MensuraError):
    """Evidence that was refused; ``faults`` lists every reason, the message prints them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        listed = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"evidence refused, {count}; nothing was loaded or changed\n{listed}")
