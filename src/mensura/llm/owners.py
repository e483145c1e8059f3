"""Who holds a claim in a journal, and whether that process still lives."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

LEASE_SECONDS = 60.0
"""A process that has not stirred for so long is taken for dead, wherever it runs."""
BEAT_SECONDS = 10.0
_START_TIME_FIELD = 19
"""Where /proc/PID/stat holds the start time, counted after the closing bracket of the command's name."""


@dataclass(frozen=True)
class Holder:
    """One process that uses a journal: machine, process id, when that process was born, its last beat (seconds)."""

    host: str
    pid: int
    born: str
    beat: float

    def dead(self, now: float, here: str) -> bool:
        """Return whether its claims may be taken over: gone from this machine, or silent for a lease."""
        if self.host == here and _can_look_up_processes() and birth_of(self.pid) != self.born:
            return True
        return now - self.beat > LEASE_SECONDS


def this_machine() -> str:
    """Return a name for the set of processes that can see one another: machine, boot and process namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot = space = ""
    return f"{platform.node()} {boot} {space}"


def birth_of(pid: int) -> str:
    """Return when a process of this machine was started, in the system's own terms; empty when there is none."""
    if sys.platform == "linux":
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        fields = stat.rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[_START_TIME_FIELD]
    if not _can_look_up_processes():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "alive"
    return "alive"


def _can_look_up_processes() -> bool:
    """Asking after a process would end it on Windows; there the lease alone decides."""
    return sys.platform != "win32"
