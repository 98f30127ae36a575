// Starts `robotrules lsp` for robots.txt files; the server implements all features. The command is a
// setting of the machine and not of a workspace, so that an opened folder cannot start another
// program.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("robotrules").get("command");
  client = new LanguageClient(
    "robotrules",
    "robots.txt",
    { command, args },
    {
      documentSelector: [{ language: "robotstxt" }],
      // The settings of a project affect the diagnostics: lint again when they change.
      synchronize: {
        fileEvents: workspace.createFileSystemWatcher("**/{robotrules,pyproject}.toml"),
      },
    },
  );
  await client.start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
