// Starts `robotrules lsp` for robots.txt files. All else is the server's: what it finds, says and
// offers. The command is a setting of the machine and not of a workspace, so that a folder that
// somebody opens cannot name another program.
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
      // Settings of a project decide what is reported: lint again when they change.
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
