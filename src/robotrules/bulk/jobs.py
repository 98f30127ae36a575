"""
Jobs: a dataset processed in parts, which a killed run continues.

The inputs are grouped into tasks, small files together, and each task is processed in parts of
about `part_rows` rows. A part file appears under its name when it is complete, and then a line of
the journal states it, with the position in the input behind it. A run that starts with the same
command, options and inputs skips the parts of the journal and continues at those positions. Where
parts end depends only on the inputs and options, so the output is the same, byte for byte, however
often the run was killed.

    folder/manifest.json      inputs, options, version; at the end the parts and counts
    folder/part-00000-00000…  part files: number of the task, number of the part in it
    folder/rejects.jsonl      records that cannot be used: source, place, reason
    folder/.journal.jsonl     finished parts, while the run is not complete

A job with one output file has its parts in a hidden folder beside it, which is removed at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, NamedTuple, Protocol

from robotrules.bulk.outputs import OutputFormat, TableWriter, join_parts
from robotrules.bulk.readers.chunks import Cursor, InputChunk
from robotrules.bulk.readers.inputs import MANIFEST, InputFile
from robotrules.bulk.rejects import Reject
from robotrules.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: two runs on one folder are not detected
    fcntl = None  # type: ignore[assignment]

KIND = "robotrules/bulk"
# The package itself is to the right of this layer, and always imported.
VERSION: str = sys.modules["robotrules"].__version__
JOURNAL, LOCK, REJECTS = ".journal.jsonl", ".lock", "rejects.jsonl"
# Small inputs are grouped into tasks of about this size.
TASK_BYTES = 64 * 1024 * 1024
PART_ROWS = 25_000

Progress = Callable[[int, int], None]
"""Called with rows and bytes of the input since the last call; without rows: from earlier runs."""


class Work(Protocol):
    """What a job does with its inputs. With several processes it is pickled."""

    def read(
        self, source: InputFile, start: Cursor | None, skipped: Counter[str]
    ) -> Iterator[InputChunk]:
        """Yield the rows of an input, from a cursor on."""

    def transform(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the output for batches of the input; it must not depend on earlier parts."""


class Job(NamedTuple):
    """What to run."""

    command: str
    options: dict[str, Any]
    """All options that affect the output; values as JSON has them."""
    inputs: list[InputFile]
    output: str
    format: OutputFormat
    single: bool
    """One output file; otherwise *output* is a folder of part files."""
    part_rows: int = PART_ROWS

    @property
    def folder(self) -> str:
        """The folder of the part files."""
        if not self.single:
            return self.output
        where, name = os.path.split(os.path.abspath(self.output))
        return os.path.join(where, f".{name}.robotrules")

    @property
    def rejects_path(self) -> str:
        """The file with the rejects."""
        return f"{self.output}.{REJECTS}" if self.single else os.path.join(self.output, REJECTS)

    def tasks(self) -> list[list[InputFile]]:
        """Return the inputs in groups."""
        groups: list[list[InputFile]] = []
        size = TASK_BYTES
        for source in self.inputs:
            if size + source.size > TASK_BYTES:
                groups.append([])
                size = 0
            groups[-1].append(source)
            size += source.size
        return groups

    def identity(self) -> dict[str, Any]:
        """Return what must be equal to continue a run."""
        return {
            "kind": KIND,
            "version": VERSION,
            "command": self.command,
            "options": {**self.options, "part_rows": self.part_rows, "format": self.format.name},
            "inputs": [source._asdict() for source in self.inputs],
        }


class JobSummary(NamedTuple):
    """What a job has done."""

    rows: int
    rejects: int
    skipped: dict[str, int]
    """Records of archives that are not robots.txt captures, by type."""
    parts: int
    continued: int
    """Parts that an earlier run had finished."""


class Part(NamedTuple):
    """A line of the journal: a finished part."""

    task: int
    part: int
    file: str | None
    """None: the task has no more rows."""
    rows: int
    size: int
    sha256: str
    rejects: int
    skipped: dict[str, int]
    cursor: list[Any] | None
    """Index of the input in the task and the position in it; None: the task is finished."""
    octets: int
    """Bytes of the input, for progress."""


# --- Running --------------------------------------------------------------------------------------


def run_job(
    job: Job,
    work: Work,
    *,
    processes: int = 1,
    restart: bool = False,
    rejects: Sequence[Reject] = (),
    progress: Progress | None = None,
) -> JobSummary:
    """
    Run a job, or continue it; raises InputError if an earlier run was a different one.

    *rejects* are added before those of the inputs.
    """
    with _Run(job, restart, rejects) as run:
        if run.summary is not None:
            return run.summary
        for part in run.finished():
            if progress is not None:
                progress(0, part.octets)
        todo = run.unfinished_tasks()
        if processes > 1 and len(todo) > 1:
            from robotrules.bulk.worker_processes import run_tasks

            for part in run_tasks(job, work, todo, min(processes, len(todo)), progress):
                run.add(part)
        else:
            for task in todo:
                for part in task_parts(job, work, task, progress):
                    run.add(part)
        return run.complete()


class Task(NamedTuple):
    """A group of inputs, and where to start in it."""

    number: int
    inputs: list[InputFile]
    part: int
    cursor: list[Any] | None


def task_parts(
    job: Job, work: Work, task: Task, progress: Progress | None = None
) -> Iterator[Part]:
    """Process a task from its cursor on; yield its parts as they are finished."""
    skipped: Counter[str] = Counter()
    reader = _TaskReader(work, task, skipped, progress)
    number = task.part
    while not reader.exhausted:
        name = f"part-{task.number:05}-{number:05}"
        path = os.path.join(job.folder, name + job.format.extension)
        header = not job.single or (task.number == 0 and number == 0)
        skipped.clear()
        with TableWriter(path, job.format, header=header) as writer:
            for batch in work.transform(reader.batches(job.part_rows)):
                writer.write(batch)
            is_empty = writer.schema is None or (not writer.rows and number > 0)
            rejects = reader.take_rejects()
            if rejects:
                _write_rejects(os.path.join(job.folder, f".{name}.{REJECTS}"), rejects)
            written = None if is_empty else writer.finish()
        yield Part(
            task.number,
            number,
            name + job.format.extension if written else None,
            written.rows if written else 0,
            written.size if written else 0,
            written.sha256 if written else "",
            len(rejects),
            dict(skipped),
            None if reader.exhausted else reader.cursor,
            reader.take_octets(),
        )
        number += 1


class _TaskReader:
    """The chunks of the inputs of a task, one part after the other."""

    def __init__(
        self, work: Work, task: Task, skipped: Counter[str], progress: Progress | None
    ) -> None:
        self._work, self._inputs, self._skipped = work, task.inputs, skipped
        self._progress = progress
        self.cursor: list[Any] = list(task.cursor) if task.cursor else [0, None]
        self.exhausted = False
        self._chunks = self._read()
        self._waiting: InputChunk | None = _NOTHING
        self._rejects: list[Reject] = []
        self._octets = 0

    def _read(self) -> Iterator[InputChunk]:
        first, start = self.cursor
        for index in range(first, len(self._inputs)):
            before = 0
            for chunk in self._work.read(self._inputs[index], start, self._skipped):
                if start is not None and not before:
                    before = chunk.position  # an earlier run has read what is before
                done, before = max(chunk.position - before, 0), max(chunk.position, before)
                cursor: Any = None if chunk.cursor is None else [index, chunk.cursor]
                yield chunk._replace(cursor=cursor, position=done)
            start = None
            rest = max(self._inputs[index].size - before, 0)
            following: Any = [index + 1, None]
            yield InputChunk(None, [], following, rest)

    def batches(self, most: int) -> Iterator[Any]:
        """Yield batches until a part is full and reading can start behind it."""
        rows = 0
        while self._waiting is not None:
            chunk = self._waiting
            count = 0 if chunk.batch is None else len(chunk.batch)
            self._rejects += chunk.rejects
            self._octets += chunk.position
            if self._progress is not None:
                self._progress(count + len(chunk.rejects), chunk.position)
            if chunk.batch is not None:
                yield chunk.batch
            rows += count + len(chunk.rejects)
            self.cursor = chunk.cursor or self.cursor
            # Without a look ahead: the records that it would skip belong to the next part.
            if rows >= most and chunk.cursor is not None:
                self._waiting = _NOTHING
                return
            self._waiting = next(self._chunks, None)
            if self._waiting is None:
                self.exhausted = True

    def take_rejects(self) -> list[Reject]:
        """Return the rejects since the last call."""
        rejects, self._rejects = self._rejects, []
        return rejects

    def take_octets(self) -> int:
        """Return the bytes of the input since the last call."""
        octets, self._octets = self._octets, 0
        return octets


_NOTHING = InputChunk(None, [], None, 0)


def _write_rejects(path: str, rejects: list[Reject]) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.writelines(map(_reject_line, rejects))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _reject_line(reject: Reject) -> bytes:
    text = json.dumps(reject._asdict(), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


# --- The state of a run ---------------------------------------------------------------------------


class _Run:
    """The folder of a run: its lock, manifest and journal."""

    def __init__(self, job: Job, restart: bool, rejects: Sequence[Reject]) -> None:
        self._job, self._restart, self._rejects = job, restart, rejects
        self._opened = ExitStack()
        self._parts: dict[tuple[int, int], Part] = {}
        self._continued = 0
        self._is_new = not os.path.exists(job.folder)
        self.summary: JobSummary | None = None
        """Set if an earlier run has completed the job."""

    def __enter__(self) -> _Run:
        try:
            self._open()
        except OSError as error:
            self._opened.close()
            raise InputError(
                f"cannot write to {self._job.folder!r}: {error.strerror or error}"
            ) from None
        except BaseException:
            self._opened.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, Exception) and not self._parts and self._is_new:
            # Nothing is worth continuing.
            shutil.rmtree(self._job.folder, ignore_errors=True)
        self._opened.close()

    def _open(self) -> None:
        folder = self._job.folder
        earlier = self._read_manifest()
        is_ours = self._job.single or earlier is not None or not os.path.isdir(folder)
        if not is_ours and not set(os.listdir(folder)) <= {LOCK, f"{MANIFEST}.tmp"}:
            raise InputError(
                f"the folder {folder!r} is not empty, and not the output of a run: pass another one"
            )
        os.makedirs(folder, exist_ok=True)
        lock = open(self._path(LOCK), "ab")  # noqa: SIM115
        self._opened.enter_context(lock)
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another run is writing to {folder!r}: wait for it") from None
        earlier = self._read_manifest()
        identity = self._job.identity()
        if earlier is not None and not self._restart:
            self._refuse_other_run(earlier, identity)
            if earlier["state"] == "complete":
                parts = [Part(**part) for part in earlier["parts"]]
                self.summary = _summarize(parts, len(parts))._replace(
                    rows=earlier["rows"], rejects=earlier["rejects"], skipped=earlier["skipped"]
                )
                return
            self._read_journal()
        else:
            self._clear()
            self._write_manifest({**identity, "state": "running"})
        self._remove_unfinished()
        self._journal: BinaryIO = open(self._path(JOURNAL), "ab")  # noqa: SIM115
        self._opened.enter_context(self._journal)

    def _path(self, name: str) -> str:
        return os.path.join(self._job.folder, name)

    def _read_manifest(self) -> dict[str, Any] | None:
        try:
            with open(self._path(MANIFEST), encoding="utf-8") as file:
                manifest: dict[str, Any] = json.load(file)
            return manifest if manifest["kind"] == KIND and manifest["state"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write_manifest(self, manifest: dict[str, Any]) -> None:
        temporary = self._path(f"{MANIFEST}.tmp")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path(MANIFEST))

    def _refuse_other_run(self, earlier: dict[str, Any], identity: dict[str, Any]) -> None:
        """Raise if the folder belongs to a run with other options or inputs."""
        changed = next((key for key in identity if earlier.get(key) != identity[key]), None)
        if changed is None:
            return
        before, now = earlier.get(changed), identity[changed]
        if changed == "options" and isinstance(before, dict):
            key = next(key for key in {**before, **now} if before.get(key) != now.get(key))
            detail = f"{key} was {json.dumps(before.get(key))} and is {json.dumps(now.get(key))}"
        elif changed == "inputs" and isinstance(before, list):
            detail = _changed_input(before, now)
        else:
            detail = f"{changed} was {before!r} and is {now!r}"
        raise InputError(
            f"{self._job.output!r} belongs to a different run: {detail}; pass --restart to begin "
            "anew, or another output"
        )

    def _read_journal(self) -> None:
        """Read the finished parts; the last line may be incomplete."""
        whole = 0
        with suppress(FileNotFoundError), open(self._path(JOURNAL), "rb") as file:
            for line in file:
                try:
                    part = Part(**json.loads(line))
                except (ValueError, TypeError):
                    break
                whole += len(line)
                if part.file is not None and self._size(part.file) != part.size:
                    # A file was removed: what follows in its task is done again.
                    raise InputError(
                        f"the part {part.file!r} is missing or was changed: pass --restart"
                    )
                self._parts[part.task, part.part] = part
        with suppress(FileNotFoundError):
            os.truncate(self._path(JOURNAL), whole)
        self._continued = len(self._parts)

    def _size(self, name: str) -> int | None:
        try:
            return os.stat(self._path(name)).st_size
        except OSError:
            return None

    def _clear(self) -> None:
        """Remove what an earlier run has written."""
        for name in os.listdir(self._job.folder):
            if name.startswith(("part-", ".part-")) or name in (MANIFEST, JOURNAL, REJECTS):
                os.unlink(self._path(name))

    def _remove_unfinished(self) -> None:
        known = {part.file for part in self._parts.values()}
        known |= {f".part-{part.task:05}-{part.part:05}.{REJECTS}" for part in self._parts.values()}
        for name in os.listdir(self._job.folder):
            if name.startswith(("part-", ".part-")) and name not in known:
                os.unlink(self._path(name))

    def finished(self) -> list[Part]:
        """Return the parts that an earlier run has finished."""
        return list(self._parts.values())

    def unfinished_tasks(self) -> list[Task]:
        """Return what is left to do."""
        left = []
        for number, inputs in enumerate(self._job.tasks()):
            last = max((part for part in self._parts.values() if part.task == number), default=None)
            if last is None:
                left.append(Task(number, inputs, 0, None))
            elif last.cursor is not None:
                left.append(Task(number, inputs, last.part + 1, last.cursor))
        return left

    def add(self, part: Part) -> None:
        """Note a finished part."""
        self._journal.write(json.dumps(part._asdict()).encode() + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self._parts[part.task, part.part] = part

    def complete(self) -> JobSummary:
        """Write rejects and manifest, and the output if it is one file."""
        parts = [self._parts[key] for key in sorted(self._parts)]
        job, files = self._job, []
        for part in parts:
            if part.file is not None:
                files.append(self._path(part.file))
        self._join_rejects(parts)
        summary = _summarize(parts, self._continued, len(self._rejects))
        if job.single:
            if not files:
                raise InputError("no input could be read: see the rejects file")
            joined = self._path(f"joined{job.format.extension}")
            join_parts(files, joined, job.format)
            os.replace(joined, os.path.realpath(job.output))
            shutil.rmtree(job.folder)
            return summary
        # Without what only serves to continue.
        listed = [
            part._replace(cursor=None, octets=0)._asdict()
            for part in parts
            if part.file is not None
        ]
        self._write_manifest(
            {
                **job.identity(),
                "state": "complete",
                "rows": summary.rows,
                "rejects": summary.rejects,
                "skipped": summary.skipped,
                "parts": listed,
            }
        )
        for name in os.listdir(job.folder):
            if name.startswith(".part-") or name in (JOURNAL, LOCK):
                os.unlink(self._path(name))
        return summary

    def _join_rejects(self, parts: list[Part]) -> None:
        target = self._job.rejects_path
        if not self._rejects and not any(part.rejects for part in parts):
            with suppress(FileNotFoundError):
                os.unlink(target)
            return
        temporary = self._path(f".{REJECTS}.tmp")
        with open(temporary, "wb") as file:
            file.writelines(map(_reject_line, self._rejects))
            for part in parts:
                if part.rejects:
                    name = f".part-{part.task:05}-{part.part:05}.{REJECTS}"
                    with open(self._path(name), "rb") as source:
                        shutil.copyfileobj(source, file)
        os.replace(temporary, target)


def _changed_input(before: list[Any], now: list[Any]) -> str:
    if len(before) != len(now):
        return f"it had {len(before)} inputs, and now there are {len(now)}"
    for old, new in zip(before, now, strict=True):
        if old != new:
            if old.get("path") != new["path"]:
                return f"the input {old.get('path')!r} is now {new['path']!r}"
            return f"the input {new['path']!r} was changed"
    return "the inputs differ"


def _summarize(parts: list[Part], continued: int, rejects: int = 0) -> JobSummary:
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    return JobSummary(
        sum(part.rows for part in parts),
        rejects + sum(part.rejects for part in parts),
        dict(sorted(skipped.items())),
        sum(part.file is not None for part in parts),
        continued,
    )
