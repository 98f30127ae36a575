"""
Lease holders: names that identify the process that holds a lease, so that its death is detected.

A process that is killed does not release its leases, and other processes would wait until they
expire. The name of a holder therefore contains the machine, the process id and the start time of
its process. A process that waits on the same machine checks whether that process still runs, and
takes over the lease if it does not.

    SPACE.PID.START.RANDOM.COUNT

SPACE identifies the boot of the kernel and the PID namespace: process ids are meaningful only
there. A holder with another SPACE, such as on another machine or in another container that shares
the store, is never considered dead: its lease expires. The same applies to names in another format,
and to systems that do not provide this information (only Linux with /proc does).
"""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from pathlib import Path

# Indices into /proc/PID/stat (proc_pid_stat(5)), after the name, which may contain any character.
_STATE, _THREADS, _START = 0, 17, 19
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Start times count from boot as the time namespace sees it, so that namespace is part of SPACE.
_NAMESPACES = ("pid", "time")

_numbers = count(1)


def new_holder() -> str:
    """Return a unique name for a lease holder in this process."""
    return f"{_process_prefix(os.getpid())}.{next(_numbers):x}"


def is_dead(holder: str) -> bool:
    """Return whether the process of a holder has ended; False if that is not certain."""
    space, _, rest = holder.partition(".")
    here = process_space_id(os.getpid())
    if here is None or space != here:
        return False
    parts = rest.split(".")
    if len(parts) != 4 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return False
    return not _is_running(int(parts[0]), int(parts[1]))


@lru_cache(maxsize=1)
def process_space_id(pid: int) -> str | None:
    """
    Return an identifier of the space in which this process has its process id; None: unknown.

    *pid* is the id of this process: the child of a fork may be in another namespace.
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
def _process_prefix(pid: int) -> str:
    """Return the part of a name that all holders of this process share."""
    space, stat = process_space_id(pid), _read_stat(pid)
    start = stat[_START] if stat else "-"
    if space is None or stat is None:
        space = "-"
    return f"{space}.{pid}.{start}.{os.urandom(8).hex()}"


def _is_running(pid: int, start: int) -> bool:
    """Return whether a process with this id and start time runs; True if that is not certain."""
    # Signals to an id below 1 would reach a whole process group.
    if pid < 1:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it belongs to another user, or the id is out of range
    # /proc may hide processes of other users (hidepid), so a missing one may still run.
    stat = _read_stat(pid)
    if stat is None:
        return True
    if stat[_START] != str(start):
        return False  # the id was reused by another process
    # A process that ended is a zombie until its parent collects it. One whose first thread ended
    # looks the same, but has other threads.
    return not (stat[_STATE] in ("Z", "X") and int(stat[_THREADS]) <= 1)


def _read_stat(pid: int) -> list[str] | None:
    """Return the values of /proc/PID/stat after the name; None if it cannot be read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    values = text.rpartition(")")[2].split()
    return values if len(values) > _START and values[_THREADS].isdecimal() else None
