"""
Every command on hostile files: seconds at 500 KiB, and growth as the files double in size.

    python benches/hostile.py                     the table at 500 KiB
    python benches/hostile.py --growth            four sizes, each twice the one before
    python benches/hostile.py --commands simplify diff --patience 60

Each command runs in a separate process; the time is processor time, with the start of the
interpreter (the row `nothing`). A command that takes longer than `--patience` is ended. A number
with `?` means exit code 2: the command ended with "not decided" or refused the file, with a message
that states the reason; docs/analysis.md lists the limits. Does not know: rivals.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from corpora.hostile import SHAPES, SIZE

FILE = "{file}"
EXPECTED = """[[expect]]
crawlers = ["*", "Googlebot"]
allowed = ["/x"]
all-allowed = ["/zzz/"]
"""
SMALL = "User-agent: *\nDisallow: /b\n"
# The requests of an editor that opens a file: diagnostics, semantic tokens, outline, and a hover.
EDITOR = """
import gc, sys
from robotrules.cli import COLLECTED_AFTER
gc.set_threshold(COLLECTED_AFTER)  # as the command `lsp` does
from robotrules.editing.diagnostics import lint_document, make_diagnostics
from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import render_hover
from robotrules.editing.outline import list_document_symbols, list_folding_ranges
from robotrules.editing.semantic_tokens import encode_semantic_tokens
document = OpenDocument(open(sys.argv[1], newline="").read())
notes = lint_document(document)
make_diagnostics(document, "file:///robots.txt", notes)
encode_semantic_tokens(document), list_document_symbols(document), list_folding_ranges(document)
render_hover(document, 25, notes)
"""
COMMANDS: dict[str, list[str]] = {
    "parse": ["parse", FILE],
    "check": ["check", "/aab", "--as", "Googlebot", "--robots", FILE],
    "explain": ["explain", "/aab", "--as", "Googlebot", "--robots", FILE],
    "lint": ["lint", FILE],
    "lint --fix": ["lint", "--fix", "--diff", FILE],
    "lint --unsafe-fixes": ["lint", "--unsafe-fixes", "--diff", FILE],
    "fmt": ["fmt", "--diff", FILE],
    "simplify": ["simplify", FILE],
    "matrix": ["matrix", FILE],
    "diff": ["diff", FILE, "{small}"],
    "diff itself": ["diff", FILE, FILE],
    "test": ["test", "{expected}", "--robots", FILE],
    "preferences": ["preferences", "/aab", "--as", "Googlebot", "--robots", FILE],
    "directives": ["directives", "/aab", "--app", "x", "--robots", FILE],
    "guidance": ["guidance", "/aab", "--as", "Googlebot", "--robots", FILE],
    "lsp": [],
}


def measure_seconds(command: Sequence[str], patience: float) -> str:
    """Return the processor time of a process as text, with `>` if it was ended."""
    limit = int(patience)

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=set_limit
    )
    if process.wait() < 0:
        return f">{limit}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{took:.1f}{'' if process.returncode in (0, 1) else '?'}"


def print_table(names: Sequence[str], shapes: Sequence[str], size: int, patience: float) -> None:
    """Print the time of each command on each file of a size."""
    print(f"\n| {size:,} octets | {' | '.join(shapes)} |")
    print(f"|---|{'---:|' * len(shapes)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        texts = {"small": SMALL, "expected": EXPECTED}
        paths = {"small": Path(folder, "small.txt"), "expected": Path(folder, "x.test.toml")}
        for name, path in paths.items():
            path.write_text(texts[name], encoding="utf-8")
        files = [Path(folder, f"{number}.txt") for number in range(len(shapes))]
        for shape, file in zip(shapes, files, strict=True):
            file.write_bytes(SHAPES[shape](size))
        program = [sys.executable, "-m", "robotrules"]
        print(f"| nothing | {measure_seconds([*program, '--version'], patience)} |", flush=True)
        for name in names:
            cells = []
            for file in files:
                values = {"file": str(file), **{key: str(path) for key, path in paths.items()}}
                arguments = [part.format(**values) for part in COMMANDS[name]]
                command = [*program, *arguments]
                if name == "lsp":
                    command = [sys.executable, "-c", EDITOR, str(file)]
                cells.append(measure_seconds(command, patience))
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description="Time every command on hostile files.")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--size", type=int, default=SIZE, help="octets of a file")
    parser.add_argument("--growth", action="store_true", help="four sizes up to --size")
    parser.add_argument(
        "--patience", type=float, default=30.0, metavar="SECONDS", help="time limit"
    )
    options = parser.parse_args()
    os.environ.setdefault("ROBOTRULES_CACHE_DIR", tempfile.mkdtemp())
    # Let Python cache bytecode, as for an installed package.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sizes = [options.size >> times for times in (3, 2, 1, 0)] if options.growth else [options.size]
    for size in sizes:
        print_table(options.commands, options.shapes, size, options.patience)


if __name__ == "__main__":
    main()
