"""Work for a process beside the server: in a file of its own, for that process imports all that the file imports."""

import os
import time

from mensura.errors import MensuraError


def niceness(_: int) -> int:
    return os.nice(0)


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    raise MensuraError(f"{number} is refused")


def fail(number: int) -> int:
    raise ZeroDivisionError("an inside")


def die(number: int) -> int:
    os._exit(number)


def sleep(number: int) -> None:
    time.sleep(number)
