"""Real editors, where they are installed: the set-ups of docs/editors.md work."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import process_environment
from tests.lsp.editor import COMMAND

ROOT = Path(__file__).parents[2]
EDITORS = ROOT / "editors"
NVIM, NODE = shutil.which("nvim"), shutil.which("node")


@pytest.mark.slow
@pytest.mark.skipif(NVIM is None, reason="nvim is not installed here")
def test_neovim_shows_diagnostics_hover_and_completion(tmp_path: Path) -> None:
    """With editors/neovim/robotrules.lua: diagnostics, hover, completion and formatting."""
    robots, shown = tmp_path / "robots.txt", tmp_path / "shown.json"
    text = "user-agent: *\nDisallow: /shop*\nAllow: /shop # 😀\n\nUser-agent: gp\n"
    robots.write_text(text, encoding="utf-8")
    command = f"let g:robotrules_command = {json.dumps(COMMAND)}"
    plugin, script = EDITORS / "neovim" / "robotrules.lua", ROOT / "tests" / "lsp" / "neovim.lua"
    ran = subprocess.run(
        [
            *(str(NVIM), "--headless", "--clean", "--cmd", command, "--cmd", f"luafile {plugin}"),
            *(str(robots), "-c", f"luafile {script}", "-c", "qa!"),
        ],
        capture_output=True,
        env=process_environment(
            ROBOTRULES_SHOWN=str(shown), XDG_STATE_HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)
        ),
        text=True,
        timeout=120,
    )
    assert shown.exists(), ran.stderr
    found = json.loads(shown.read_text(encoding="utf-8"))
    assert {"line": 2, "column": 7, "code": "RR501"} in found["diagnostics"]
    assert found["hover"][0] == "**Allow** `/shop` for all crawlers that no other group names"
    assert any("decided by line 2" in line for line in found["hover"])
    assert "GPTBot" in found["labels"]
    assert found["formatted"][0] == "User-agent: *"
    assert "Allow: /shop" in found["formatted"][2]


# --- VS Code --------------------------------------------------------------------------------------

# The extension with a fake VS Code API: prints how it would start the server.
FAKE_HOST = """
const modules = require("module");
const calls = [];
const vscode = {
  workspace: {
    getConfiguration: (name) => ({ get: (key) => settings[`${name}.${key}`].default }),
    createFileSystemWatcher: (pattern) => pattern,
  },
};
class LanguageClient {
  constructor(...given) { calls.push(given); }
  async start() { calls.push("start"); }
  async stop() { calls.push("stop"); }
}
const load = modules._load;
modules._load = (name, ...rest) =>
  ({ vscode, "vscode-languageclient/node": { LanguageClient } })[name] ?? load(name, ...rest);
const folder = process.argv[1];
const settings = require(`${folder}/package.json`).contributes.configuration.properties;
const { activate, deactivate } = require(`${folder}/extension.js`);
activate().then(deactivate).then(() => console.log(JSON.stringify(calls)));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed here")
def test_the_extension_for_vs_code_starts_the_server() -> None:
    """By default `robotrules lsp`, for files named robots.txt, until it is deactivated."""
    ran = subprocess.run(
        [str(NODE), "-e", FAKE_HOST, str(EDITORS / "vscode")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stderr == ""
    (_, _, server, client), *then = json.loads(ran.stdout)
    assert server == {"command": "robotrules", "args": ["lsp"]}
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    (language,) = manifest["contributes"]["languages"]
    assert client["documentSelector"] == [{"language": language["id"]}]
    assert language["filenames"] == ["robots.txt"]
    assert then == ["start", "stop"]


def test_a_workspace_cannot_set_the_command() -> None:
    """The command has machine scope, because a folder may be untrusted."""
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    command = manifest["contributes"]["configuration"]["properties"]["robotrules.command"]
    assert command["scope"] == "machine"
    assert (EDITORS / "vscode" / manifest["main"]).exists()
    assert (EDITORS / "vscode" / "language-configuration.json").exists()
