"""
`action.yml` and the template for GitLab: valid by their schemas, and every step really runs.

The steps run with bash as the runners call it, in real repositories, with the API of a forge on
loopback. What is installed is a wheel from a folder in place of the package index; its command is
the one that is tested.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import robotrules
from tests.cli.shell import COMMAND
from tests.operations.forge_server import TOKEN, ForgeServer, forge
from tests.operations.repositories import Repository
from tests.stored_schemas import ACTION, GITLAB, schema_errors

yaml = pytest.importorskip("yaml", reason="pre-commit brings it")
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="the steps are for bash")

ROOT = Path(__file__).parents[2]
ACTION_FILE = ROOT / "action.yml"
TEMPLATE_FILE = ROOT / "packaging" / "gitlab" / "robotrules.yml"
METADATA = yaml.safe_load(ACTION_FILE.read_text(encoding="utf-8"))
TEMPLATE = yaml.safe_load(TEMPLATE_FILE.read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
RULES = b"User-agent: *\nDisallow: /private/\n"
STRICTER = RULES + b"\nUser-agent: GPTBot\nDisallow: /\n"


class StepResult(NamedTuple):
    """What a step left behind."""

    code: int
    out: str
    summary: str
    outputs: str


def make_wheel(folder: Path) -> None:
    """Write a wheel of this version, whose command is the one that is tested."""
    name = f"robotrules-{robotrules.__version__}"
    main = (
        f"import os, sys\ndef main():\n    os.execv({COMMAND[0]!r}, {COMMAND!r} + sys.argv[1:])\n"
    )
    about = f"Metadata-Version: 2.1\nName: robotrules\nVersion: {robotrules.__version__}\n"
    files = {
        "robotrules_stand_in.py": main,
        f"{name}.dist-info/METADATA": f"{about}Provides-Extra: html\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/entry_points.txt": (
            "[console_scripts]\nrobotrules = robotrules_stand_in:main\n"
        ),
    }
    record = "".join(f"{file},,\n" for file in files)
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        for file, text in {**files, f"{name}.dist-info/RECORD": record}.items():
            archive.writestr(file, text)


class Runner:
    """A runner of GitHub Actions with one repository."""

    def __init__(self, folder: Path, wheels: Path, server: ForgeServer) -> None:
        self.site = folder / "site"
        self.site.mkdir(parents=True)
        self.repository = Repository(self.site)
        self.temporary = folder / "temp"
        self.temporary.mkdir()
        self.server = server
        self.variables = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": server.url,
            "GITHUB_REPOSITORY": "owner/site",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "RUNNER_TEMP": str(self.temporary),
        }

    def commit(self, **files: bytes | None) -> str:
        """Commit files; see `Repository.commit`."""
        return self.repository.commit("a subject `$(touch subject)`", **files)

    def event(self, value: dict[str, Any], name: str = "pull_request") -> None:
        """Have an event."""
        Path(self.variables["GITHUB_EVENT_PATH"]).write_text(json.dumps(value))
        self.variables["GITHUB_EVENT_NAME"] = name

    def pull_request(self, base: str, *, fork: bool = False) -> None:
        """Have the event of a pull request whose names are hostile."""
        source = {"full_name": "stranger/site" if fork else "owner/site"}
        head = {"sha": "f" * 40, "repo": source, "ref": "$(touch branch)\n::error::x"}
        pull = {"number": 7, "title": "`touch title`", "head": head}
        self.event(
            {"pull_request": pull | {"base": {"sha": base, "repo": {"full_name": "owner/site"}}}}
        )

    def run(self, name: str, **inputs: str) -> StepResult:
        """Run the step of a name as the runner does."""
        [step] = [step for step in METADATA["runs"]["steps"] if step.get("name") == name]
        given = {key: str(value["default"]) for key, value in METADATA["inputs"].items()} | inputs

        def value_of(match: re.Match[str]) -> str:
            """Return the value of an expression."""
            expression = match[1]
            if expression == "github.token":
                return TOKEN
            return EXPRESSION.sub(value_of, given[expression.removeprefix("inputs.")])

        environment = {key: EXPRESSION.sub(value_of, text) for key, text in step["env"].items()}
        script = self.temporary / "step.sh"
        script.write_text(step["run"])
        for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
            Path(self.variables[name]).write_text("")
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.site,
            env=self.variables | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        summary, outputs = (
            Path(self.variables[name]).read_text(encoding="utf-8")
            for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
        )
        return StepResult(ran.returncode, ran.stdout.decode(), summary, outputs)

    def review(self, **inputs: str) -> StepResult:
        """Run the step that does the work, with the program that is tested."""
        program = self.temporary / "robotrules" / "bin" / "robotrules"
        if not program.exists():
            program.parent.mkdir(parents=True)
            program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
            program.chmod(0o755)
        return self.run("Review", **inputs)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in place of the package index."""
    folder = tmp_path_factory.mktemp("wheels")
    make_wheel(folder)
    return folder


@pytest.fixture
def runner(tmp_path: Path, wheels: Path) -> Iterator[Runner]:
    """A runner whose repository has a robots.txt."""
    with forge() as server:
        yield Runner(tmp_path, wheels, server)


class TestMetadata:
    """What can be read from the files."""

    def test_schemas(self) -> None:
        assert schema_errors(METADATA, ACTION) == []
        assert schema_errors(TEMPLATE, GITLAB) == []

    def test_the_version_is_that_of_the_package(self) -> None:
        """A tag of the action installs the package of the same release."""
        assert METADATA["inputs"]["version"]["default"] == robotrules.__version__
        variables = TEMPLATE["robotrules"]["variables"]
        assert variables["ROBOTRULES_VERSION"] == robotrules.__version__

    def test_no_expression_in_a_script(self) -> None:
        """Text of others reaches the shell in variables only; these are quoted."""
        for step in METADATA["runs"]["steps"]:
            assert "${{" not in step.get("run", "")
            if "run" in step:
                unquoted = re.sub(r'"[^"]*"|<<<.*|=\$\{.*|\$\{file%.*', "", step["run"])
                assert "$ROBOTRULES" not in unquoted

    def test_other_actions_are_pinned(self) -> None:
        """By commit, with the version in a comment."""
        uses = re.findall(r"uses: (.*)", ACTION_FILE.read_text(encoding="utf-8"))
        assert uses
        for one in uses:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", one)

    def test_every_input_is_used(self) -> None:
        """And every expression names one."""
        steps = json.dumps(METADATA["runs"]["steps"])
        used = set(re.findall(r"inputs\.([\w-]+)", steps))
        assert used == set(METADATA["inputs"])


@pytest.mark.slow
class TestInstall:
    """The step that installs."""

    def test_the_published_package(self, runner: Runner) -> None:
        """By its version, into an environment of its own; files of the repository do not run."""
        trap = "open('imported', 'w')\n"
        for name in ("pip.py", "venv.py", "robotrules.py", "sitecustomize.py", "encodings.py"):
            (runner.site / name).write_text(trap)
        found = runner.run("Install robotrules")
        assert found.code == 0, found.out
        assert (runner.temporary / "robotrules" / "bin" / "robotrules").exists()
        runner.commit(robots_txt=RULES)
        runner.event({}, "workflow_dispatch")
        reviewed = runner.run("Review")
        assert reviewed.code == 0, reviewed.out
        assert "| lint | ✅" in reviewed.summary
        assert not (runner.site / "imported").exists()

    def test_another_package(self, runner: Runner, wheels: Path) -> None:
        """A path, which may look like an option; what is not there is an error."""
        [wheel] = wheels.iterdir()
        assert runner.run("Install robotrules", package=str(wheel)).code == 0
        found = runner.run("Install robotrules", package="--editable=/", version="1; touch x")
        assert found.code != 0
        assert runner.run("Install robotrules", version="$(touch x)").code != 0
        assert not (runner.site / "x").exists()


class TestPullRequest:
    """What a pull request shows."""

    def test_one_comment_for_all_pushes(self, runner: Runner) -> None:
        """Created, updated, and the summary has the same text."""
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=STRICTER)
        runner.pull_request(base)
        found = runner.review()
        assert found.code == 0, found.out
        assert found.outputs == "changed=true\npassed=true\n"
        [comment] = runner.server.comments
        assert comment["body"].startswith(
            "<!-- robotrules review -->\n## robots.txt: 1 file changes"
        )
        assert found.summary in comment["body"]
        assert "allowed → **disallowed**" in found.summary
        assert "comment created: https://forge.example/1" in found.out
        runner.commit(robots_txt=RULES)
        found = runner.review()
        assert found.outputs == "changed=false\npassed=true\n"
        assert "no file changed" in runner.server.comments[0]["body"]
        assert runner.server.methods == ["POST", "PATCH"]

    def test_without_a_change_there_is_no_comment(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES)
        runner.commit(notes_txt=b"x")
        runner.pull_request(base)
        found = runner.review()
        assert (found.code, runner.server.methods) == (0, [])
        assert "no comment: no robots.txt changed" in found.out

    def test_a_note_is_an_annotation_and_fails(self, runner: Runner) -> None:
        """`fail-on` decides; the comment is written all the same."""
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=RULES + b"Disallow: shop/\n")
        runner.pull_request(base)
        found = runner.review(**{"fail-on": "error"})
        assert found.code == 1
        assert "\n::error file=robots.txt,line=3,col=11," in f"\n{found.out}"
        assert "a check failed" in runner.server.comments[0]["body"]
        assert found.outputs.endswith("passed=false\n")
        assert runner.review(**{"fail-on": "never"}).code == 0

    def test_a_failed_expectation_fails(self, runner: Runner) -> None:
        base = runner.commit(
            robots_txt=RULES, robots_test_toml=b'[[expect]]\ndisallowed = "/private/"\n'
        )
        runner.commit(robots_txt=b"User-agent: *\nDisallow: /other/\n")
        runner.pull_request(base)
        found = runner.review()
        assert found.code == 1
        assert "| test | ❌ 1 failed, 0 passed |" in found.summary
        assert "fix " in found.summary

    def test_a_fork(self, runner: Runner) -> None:
        """Its token may not write: the report is the summary, and that is said."""
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=STRICTER)
        runner.pull_request(base, fork=True)
        found = runner.review()
        assert (found.code, runner.server.calls) == (0, [])
        assert "allowed → **disallowed**" in found.summary
        assert (
            "::warning title=robotrules review::no comment: a pull request from a fork" in found.out
        )
        assert "the report is the summary of this job" in found.out

    def test_a_token_that_may_not_write(self, runner: Runner) -> None:
        """As of Dependabot: the same, with the permission to grant."""
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=STRICTER)
        runner.pull_request(base)
        runner.server.refused = {"POST": 403}
        found = runner.review()
        assert found.code == 0
        assert "grant the job 'pull-requests: write'" in found.out
        assert "no comment: the variable GITHUB_TOKEN" in runner.review(token="").out

    def test_comment_false(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=STRICTER)
        runner.pull_request(base)
        assert runner.review(comment="false").code == 0
        assert runner.server.calls == []

    def test_an_event_with_secrets_is_refused(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES)
        runner.pull_request(base)
        runner.variables["GITHUB_EVENT_NAME"] = "pull_request_target"
        found = runner.review()
        assert (found.code, runner.server.calls) == (2, [])
        assert "use pull_request" in found.out

    def test_new_deleted_and_renamed_files(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES, old_robots_txt=STRICTER + b"# more\n")
        runner.commit(robots_txt=None, new_robots_txt=b"User-agent: FooBot\nAllow: /new/\n")
        runner.pull_request(base)
        found = runner.review()
        assert "### `robots.txt`: deleted" in found.summary
        assert "Without a robots.txt, crawlers may fetch everything" in found.summary
        assert "### `new.robots.txt`: added" in found.summary
        runner.repository.git("mv", "old.robots.txt", "moved.robots.txt")
        runner.commit()
        assert "### `moved.robots.txt`: renamed" in runner.review().summary

    def test_the_last_file_is_deleted(self, runner: Runner) -> None:
        """There is nothing to lint, and that is not an error."""
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=None)
        runner.pull_request(base)
        found = runner.review()
        assert (found.code, found.outputs) == (0, "changed=true\npassed=true\n")

    @pytest.mark.parametrize(
        "name",
        [
            "a b",
            'it\'s "q"',
            "$(touch hacked)`touch hacked`;touch hacked",
            "x\n::error::y",
            "::add-mask::z",
            "</details><script>@owner",
            "-x",
        ],
    )
    def test_hostile_names(self, runner: Runner, name: str) -> None:
        """Are text: no command of the shell or of the runner, no option, no Markdown."""
        folder = runner.site / name
        folder.mkdir(parents=True)
        base = runner.commit(robots_txt=RULES)
        (folder / "robots.txt").write_bytes(RULES + b"Disallow: ::error::/\n")
        runner.commit()
        runner.pull_request(base)
        found = runner.review()
        assert found.code == 1
        assert list(runner.site.rglob("hacked")) == []
        before, _, after = found.out.partition("::stop-commands::")
        token, _, report = after.partition("\n")
        inside, _, rest = report.partition(f"\n::{token}::\n")
        assert all(
            line.startswith(("::error ", "::warning ", "::notice "))
            for line in before.splitlines()
            if line.lstrip().startswith("::")
        )
        assert "\n::" not in f"\n{rest}"
        assert "<script>" not in re.sub(r"(?m)^    .*$|`[^`\n]*`", "", inside)

    def test_hostile_contents(self, runner: Runner) -> None:
        """Stay in code spans and blocks that they cannot close."""
        base = runner.commit(robots_txt=RULES)
        evil = b"Disallow: /```</details>|`<script>@owner ![x](https://evil.example/)\n"
        runner.commit(robots_txt=RULES + evil + b"User-agent: `` @owner <b>\nDisallow: x\n")
        runner.pull_request(base)
        runner.review()
        [comment] = runner.server.comments
        rendered = re.sub(r"(?m)^    .*$", "", comment["body"])
        spans = re.sub(r"`[^`\n]*`|<code>[^<]*</code>", "", rendered)
        for word in ("<script>", "@owner", "![x]", "<b>"):
            assert word not in spans

    def test_many_files(self, runner: Runner) -> None:
        """The comment stays below the limit of the forge and counts the rest."""
        base = runner.commit(robots_txt=RULES)
        for number in range(60):
            folder = runner.site / f"site-{number}"
            folder.mkdir()
            lines = b"".join(b"Disallow: /%d/%d/\n" % (number, line) for line in range(40))
            (folder / "robots.txt").write_bytes(RULES + lines)
        runner.commit()
        runner.pull_request(base)
        found = runner.review(checks="diff")
        assert found.code == 0
        [comment] = runner.server.comments
        assert 10_000 < len(comment["body"]) < 65_536
        assert "And 40 changed files more" in comment["body"]

    def test_files(self, runner: Runner) -> None:
        """One per line, with any names; only these are checked, and each choice has a comment."""
        base = runner.commit(a_txt=RULES, robots_txt=RULES)
        (runner.site / "it's a $(touch x)").mkdir()
        (runner.site / "it's a $(touch x)" / "robots.txt").write_bytes(RULES)
        runner.commit(a_txt=STRICTER, robots_txt=STRICTER)
        runner.pull_request(base)
        found = runner.review(files="a.txt\r\n\nit's a $(touch x)\n")
        assert found.code == 0
        assert "### `a.txt`: modified" in found.summary
        assert "### `robots.txt`" not in found.summary
        assert not (runner.site / "x").exists()
        runner.review()
        assert len(runner.server.comments) == 2
        assert runner.review(files="-x\n--help").code == 2

    def test_reports_and_baseline(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES + b"Disallow: old/\n")
        program = [*COMMAND, "lint", "--write-baseline", "known.json"]
        subprocess.run(program, cwd=runner.site, check=True, capture_output=True)
        runner.commit(robots_txt=STRICTER + b"Disallow: old/\n")
        runner.pull_request(base)
        found = runner.review(baseline="known.json", sarif="out.sarif", checks="lint,fmt,test,diff")
        assert found.code == 0, found.out
        assert "more in the baseline" in found.summary
        log = json.loads((runner.site / "out.sarif").read_bytes())
        assert log["runs"][0]["results"][0]["baselineState"] == "unchanged"


class TestPush:
    """Without a pull request there is no comment."""

    def test_a_push(self, runner: Runner) -> None:
        base = runner.commit(robots_txt=RULES)
        runner.commit(robots_txt=STRICTER)
        runner.event({"before": base}, "push")
        found = runner.review()
        assert (found.code, runner.server.calls) == (0, [])
        assert "allowed → **disallowed**" in found.summary
        assert "no comment: this is not a run for a pull request" in found.out

    @pytest.mark.parametrize("before", ["0" * 40, "e" * 40])
    def test_a_new_branch_and_a_forced_push(self, runner: Runner, before: str) -> None:
        """There is nothing to compare with; the other checks run."""
        runner.commit(robots_txt=RULES)
        runner.event({"before": before}, "push")
        found = runner.review()
        assert found.code == 0, found.out
        assert "| diff | nothing to compare with |" in found.summary

    def test_a_base_of_a_pull_request_that_is_missing(self, runner: Runner) -> None:
        """Is an error that says how to have it."""
        runner.commit(robots_txt=RULES)
        runner.pull_request("e" * 40)
        found = runner.review()
        assert found.code == 2
        assert "set fetch-depth: 2 for actions/checkout" in found.out


class TestGitLab:
    """The lines of the template."""

    def run(self, folder: Path, wheels: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script as the runner does, in an environment with a stand-in for pip."""
        bin_folder = folder / "bin"
        if not bin_folder.exists():
            bin_folder.mkdir()
            for name, program in {
                "robotrules": f'exec {shlex.join(COMMAND)} "$@"',
                "python": 'printf "%s\\n" "$@" > "$PIP_LOG"',
            }.items():
                (bin_folder / name).write_text(f"#!/bin/sh\n{program}\n")
                (bin_folder / name).chmod(0o755)
        job = TEMPLATE["robotrules"]
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])],
            cwd=folder / "site",
            env={
                "PATH": f"{bin_folder}:{os.environ['PATH']}",
                "HOME": str(folder),
                "PIP_LOG": str(folder / "pip.log"),
                "GITLAB_CI": "true",
                **job["variables"],
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def test_a_merge_request(self, tmp_path: Path, wheels: Path) -> None:
        """A note that is updated, and a JUnit report; without a token, the log has the report."""
        (tmp_path / "site").mkdir()
        repository = Repository(tmp_path / "site")
        base = repository.commit("first", robots_txt=RULES)
        head = repository.commit("second", robots_txt=STRICTER)
        with forge("gitlab") as server:
            variables = {
                "CI_API_V4_URL": server.url,
                "CI_MERGE_REQUEST_IID": "7",
                "CI_MERGE_REQUEST_PROJECT_ID": "42",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "42",
                "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
                "CI_COMMIT_SHA": head,
            }
            ran = self.run(tmp_path, wheels, **variables)
            assert (ran.returncode, server.calls) == (0, [])
            assert "allowed → **disallowed**" in ran.stdout
            assert "the variable ROBOTRULES_GITLAB_TOKEN is not set" in ran.stderr
            pip = (tmp_path / "pip.log").read_text().split("\n")
            assert pip[-2] == f"robotrules[html]=={robotrules.__version__}"
            for body in (STRICTER, STRICTER + b"Disallow: /x\n"):
                (tmp_path / "site" / "robots.txt").write_bytes(body)
                ran = self.run(tmp_path, wheels, **variables, ROBOTRULES_GITLAB_TOKEN=TOKEN)
                assert "comment " in ran.stderr
            assert server.methods == ["POST", "PUT"]
            assert len(server.comments) == 1
        assert "<testsuites" in (tmp_path / "site" / "robotrules.xml").read_text()

    def test_variables(self, tmp_path: Path, wheels: Path) -> None:
        """Are values, and not commands."""
        site = tmp_path / "site"
        (site / "a $(touch x)").mkdir(parents=True)
        Repository(site).commit("first", robots_txt=RULES)
        (site / "a $(touch x)" / "robots.txt").write_bytes(RULES + b"Disallow: x/\n")
        ran = self.run(
            tmp_path,
            wheels,
            ROBOTRULES_FILES="a $(touch x)",
            ROBOTRULES_PACKAGE="git+https://example.com/$(touch x)",
            ROBOTRULES_FAIL_ON="never",
            ROBOTRULES_CHECKS="lint",
        )
        assert ran.returncode == 0, ran.stderr
        assert "1 error" in ran.stdout
        assert not (site / "x").exists()
