"""
A process of `work`: it reads requests from a socket, runs verbs, and writes answers.

    python -m robotrules.service.work_process FD LIMITS

A thread reads the socket. When its other end closes, because the service ended in whatever way, the
process ends at once, also in the middle of a verb.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading

import msgspec

from robotrules.service.problems import Problem
from robotrules.service.settings import Limits
from robotrules.service.verbs import JsonLines, find_agent_verb, load_verbs
from robotrules.service.work import (
    ANSWER,
    ANSWER_HEAD,
    FAILED,
    LINES,
    NO_MEMORY,
    PROBLEM,
    READY,
    REQUEST_HEAD,
    run_verb,
)

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Answer requests until the socket closes."""
    pipe = socket.socket(fileno=int(arguments[0]))
    limits = msgspec.json.decode(arguments[1], type=Limits)
    limit_memory(limits.work_memory)
    # Ctrl-C in a terminal and signals to the process group are for the service, which closes the
    # socket when it has finished.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    verbs = load_verbs()
    requests: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(pipe, requests), daemon=True).start()
    _send(pipe, READY, b"")
    while True:
        path, body = requests.get()
        try:
            verb = verbs.get(path) or find_agent_verb(path)
            answer = run_verb(verb, body, limits)
        except Problem as problem:
            values = {"slug": problem.slug, "detail": problem.detail, "headers": problem.headers}
            _send(pipe, PROBLEM, msgspec.json.encode(values | problem.extra))
        except MemoryError:
            _send(pipe, NO_MEMORY, b"")
        except Exception as error:  # the service reports it with the request
            _send(pipe, FAILED, _place(error).encode())
        else:
            _send(pipe, LINES if isinstance(answer, JsonLines) else ANSWER, answer)


def limit_memory(octets: int) -> None:
    """Limit the memory of this process, where the system can."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (octets, octets))


def _place(error: Exception) -> str:
    """Return the type of an error and its place; its message may have parts of the input."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else "?"
    return f"{type(error).__name__} at {where}"


def _read_requests(pipe: socket.socket, requests: queue.SimpleQueue[tuple[str, bytes]]) -> None:
    try:
        while True:
            path_length, length = REQUEST_HEAD.unpack(_read(pipe, REQUEST_HEAD.size))
            path = _read(pipe, path_length).decode()
            requests.put((path, bytes(_read(pipe, length))))
    finally:
        # The socket is closed, or there is not enough memory for a request.
        os._exit(0)


def _read(pipe: socket.socket, length: int) -> bytearray:
    octets = bytearray(length)
    view, done = memoryview(octets), 0
    while done < length:
        count = pipe.recv_into(view[done:])
        if not count:
            raise ConnectionError
        done += count
    return octets


def _send(pipe: socket.socket, kind: bytes, answer: bytes) -> None:
    try:
        pipe.sendall(ANSWER_HEAD.pack(kind, len(answer)) + answer)
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
