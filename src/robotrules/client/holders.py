"""
Holders of leases: names that say which process holds a lease, so that its death is seen.

A process that is killed gives back nothing, and its leases would keep others waiting until they
end. A holder's name therefore says where its process runs, its number and when it started. Whoever
waits on the same machine looks whether that process still runs, and takes the lease if it does not.

    PLACE.PID.START.RANDOM.COUNT

PLACE stands for the boot of the kernel and the PID namespace: process numbers mean something there
and nowhere else. A holder in another place, such as another machine or container that shares the
store, is never declared dead here: its lease ends by itself. The same holds for names that others
made, and wherever the kernel does not say all of this (only Linux with /proc does).
"""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from pathlib import Path

# /proc/PID/stat (proc_pid_stat(5)), counted after the name, which may hold any character.
_STATE, _THREADS, _START = 0, 17, 19
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Start times are counted from the boot as the time namespace has it, so it is a part of the place.
_NAMESPACES = ("pid", "time")

_numbers = count(1)


def new_holder() -> str:
    """Return a name for a holder in this process that no other holder has."""
    return f"{_process(os.getpid())}.{next(_numbers):x}"


def is_dead(holder: str) -> bool:
    """Tell whether a holder's process has ended; False where that is not certain."""
    place, _, rest = holder.partition(".")
    here = place_of_processes(os.getpid())
    if here is None or place != here:
        return False
    parts = rest.split(".")
    if len(parts) != 4 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return False
    return not _is_running(int(parts[0]), int(parts[1]))


@lru_cache(maxsize=1)
def place_of_processes(pid: int) -> str | None:
    """
    Return what stands for the place in which process numbers are this process's; None: unknown.

    *pid* is this process's number: a child of a fork may be in another namespace.
    """
    try:
        if os.readlink("/proc/self") != str(pid):
            return None  # /proc is that of another PID namespace
        parts = [_BOOT_ID.read_text(encoding="ascii").strip()]
        for name in _NAMESPACES:
            if name == "pid" or os.path.lexists(f"/proc/self/ns/{name}"):
                parts.append(os.readlink(f"/proc/self/ns/{name}"))
    except (OSError, ValueError):
        return None
    if not parts[0]:
        return None
    return blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    """Return the part of a name that all holders of this process share."""
    place, status = place_of_processes(pid), _status(pid)
    start = status[_START] if status else "-"
    if place is None or status is None:
        place = "-"
    return f"{place}.{pid}.{start}.{os.urandom(8).hex()}"


def _is_running(pid: int, start: int) -> bool:
    """Tell whether the process of that number and start is there; True where it is not certain."""
    # The kernel reaches a whole group of processes by a number below 1.
    if pid < 1:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it is another user's, or it cannot be asked
    # /proc may hide other users' processes (hidepid): what is not shown may run.
    status = _status(pid)
    if status is None:
        return True
    if status[_START] != str(start):
        return False  # the number was given to another process
    # A process that ended is a zombie until its parent notices. One whose first thread ended looks
    # the same, but has other threads.
    return not (status[_STATE] in ("Z", "X") and int(status[_THREADS]) <= 1)


def _status(pid: int) -> list[str] | None:
    """Return the values of /proc/PID/stat after the name; None: they cannot be read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    values = text.rpartition(")")[2].split()
    return values if len(values) > _START and values[_THREADS].isdecimal() else None
