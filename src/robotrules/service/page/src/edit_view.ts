/** The first view: the editor with its notes, and the questions beside it. */

import { Latest, errorWords, showError } from "./api";
import { AskPanel } from "./ask";
import { command } from "./command";
import { acceptFiles, announce, byId, count, debounce, download, fill } from "./dom";
import { RobotsEditor, readText, type LineEnd } from "./editor";
import { EXAMPLE, EXAMPLE_CRAWLER, EXAMPLE_URLS } from "./example";
import { renderMarkdown } from "./markdown";
import { NotesPanel } from "./notes";
import type { Fields } from "./share";
import type { ViewPart } from "./views";

const LINE_ENDS: Record<string, LineEnd> = { LF: "\n", CRLF: "\r\n", CR: "\r" };
const RFC_LIMIT = 500 * 1024;
const UNDO_MILLISECONDS = 30_000;

export class EditView implements ViewPart {
  readonly editor: RobotsEditor;
  readonly ask: AskPanel;
  readonly #notes: NotesPanel;
  readonly #lineEnds = byId<HTMLSelectElement>("line-ends");
  readonly #status = byId("file-status");
  readonly #details = byId<HTMLDetailsElement>("cursor-details");
  readonly #help = byId("cursor-help");
  readonly #cursor = new Latest();
  readonly #explainSoon = debounce(250, () => void this.#explainCursor());
  readonly #statusSoon = debounce(150, () => this.#drawStatus());
  readonly #replaced = byId("replaced");
  #restore = () => {};
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #loading = true;

  constructor(
    changed: () => void,
    private readonly fileChanged: () => void,
    private readonly fileOpened: () => void,
  ) {
    this.editor = new RobotsEditor({
      place: byId("editor"),
      label: "robots.txt",
      profile: () => this.ask.profile,
      changed: () => this.#edited(),
      moved: () => {
        if (this.#details.open) this.#explainSoon();
      },
      assisted: true,
    });
    this.#notes = new NotesPanel(this.editor, () => this.ask.profile);
    this.ask = new AskPanel(this.editor, changed, () => {
      this.#notes.refresh();
      this.editor.colour();
    });
    this.#connect();
    this.#loading = false;
  }

  #connect(): void {
    byId("undo-replaced").addEventListener("click", () => this.#undoReplaced());
    byId("download").addEventListener("click", () => this.save());
    byId("find").addEventListener("click", () => this.editor.openSearch());
    byId("example").addEventListener("click", () => {
      this.open(EXAMPLE);
      if (!this.ask.urlField.area.value) this.ask.urlField.replace(EXAMPLE_URLS);
      this.editor.view.focus();
    });
    this.#lineEnds.addEventListener("change", () => {
      this.editor.lineEnd = LINE_ENDS[this.#lineEnds.value] ?? "\n";
      this.#edited();
    });
    this.#details.addEventListener("toggle", () => {
      if (this.#details.open) void this.#explainCursor();
    });
    acceptFiles(byId("editor"), byId<HTMLInputElement>("open-robots"), (file) => void this.#open(file));
  }

  async #open(file: File): Promise<void> {
    const error = byId("file-error");
    try {
      const { text, remark } = await readText(file);
      this.open(text, remark);
      this.fileOpened();
      error.hidden = true;
    } catch (reason) {
      error.textContent = errorWords(reason as Error);
      error.hidden = false;
    }
  }

  /** Put a text into the editor. */
  open(text: string, remark = ""): void {
    this.editor.setText(text, false, remark);
  }

  /** Put a text of another view into the editor, and offer for a while to return the one before. */
  replace(text: string, restore: () => void): void {
    const before = this.editor.text;
    this.open(text);
    if (!before || this.editor.text === before) return;
    this.#restore = restore;
    this.#replaced.hidden = false;
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => (this.#replaced.hidden = true), UNDO_MILLISECONDS);
    announce("Your file was replaced. Undo with Ctrl+Z.");
  }

  #undoReplaced(): void {
    this.editor.undo();
    this.#restore();
    this.editor.view.focus();
  }

  save(): void {
    download("robots.txt", this.editor.text);
  }

  #edited(): void {
    if (this.#loading) return;
    // Ctrl+Z now undoes something else.
    this.#replaced.hidden = true;
    // Verdicts first: notes and colours wait for a pause.
    this.ask.refresh();
    this.#notes.refresh();
    this.#statusSoon();
    this.fileChanged();
    if (this.#details.open) this.#explainSoon();
  }

  #drawStatus(): void {
    const bytes = new TextEncoder().encode(this.editor.text).length;
    const name = Object.keys(LINE_ENDS).find((key) => LINE_ENDS[key] === this.editor.lineEnd);
    this.#lineEnds.value = name ?? "LF";
    const long = bytes > RFC_LIMIT ? " Crawlers may ignore what is beyond 500 KiB." : "";
    const { doc } = this.editor;
    // As `wc -l` counts: what follows the last line end is a line only if it has a character.
    const lines = doc.lines - (doc.line(doc.lines).length ? 0 : 1);
    fill(this.#status, `${count(lines, "line")}, ${count(bytes, "byte")}.${long} ${this.editor.remark}`);
  }

  async #explainCursor(): Promise<void> {
    await this.#cursor.run(
      async (signal) => {
        const found = await this.editor.explainCursor(signal);
        fill(this.#help, found?.markdown ? renderMarkdown(found.markdown) : "There is nothing to explain at the cursor.");
      },
      (error) => showError(this.#help, error),
    );
  }

  fields(): Fields {
    return { robots: this.editor.text, ...this.ask.fields() };
  }

  load(fields: Fields | null, undoable = false): void {
    const example = fields === null;
    const from: Fields = fields ?? { as: EXAMPLE_CRAWLER, urls: EXAMPLE_URLS, selected: "https://example.com/private/press/2026.html" };
    this.#loading = true;
    this.ask.load(from);
    this.editor.setText(example ? EXAMPLE : String(from["robots"] ?? ""), !undoable);
    this.#loading = false;
    this.#edited();
    this.#drawStatus();
  }

  show(): void {
    this.editor.view.requestMeasure();
  }

  command(): string {
    const { question } = this.ask;
    const tokens = Array.isArray(question.as) ? question.as : [question.as];
    const options: [string, string][] = [
      ...tokens.map((token): [string, string] => ["--as", token]),
      ...question.purpose.map((purpose): [string, string] => ["--purpose", purpose]),
      ["--robots", "robots.txt"],
    ];
    if (this.ask.profile !== "default") options.push(["--profile", this.ask.profile]);
    const literal = question.literal ? " --literal" : "";
    const add = (text: string) => text.replace(" --robots ", `${literal} --robots `);
    // Without a crawler there is no question.
    const urls = tokens.length ? this.ask.urlField.urls : [];
    const lines = [];
    if (urls.length && this.ask.selected) lines.push(add(command("explain", options, [this.ask.selected])));
    if (urls.length > 20) lines.push(add(command("check", [...options, ["--urls", "urls.txt"]], [])));
    else if (urls.length) lines.push(add(command("check", options, urls)));
    lines.push(command("lint", this.ask.profile === "default" ? [] : [["--profile", this.ask.profile]], ["robots.txt"]));
    return lines.join("\n");
  }

  downloads(): [string, () => void][] {
    const files: [string, () => void][] = [["Download robots.txt", () => this.save()]];
    if (this.ask.urlField.urls.length > 20) {
      files.push(["Download urls.txt", () => download("urls.txt", `${this.ask.urlField.urls.join("\n")}\n`)]);
    }
    return files;
  }
}
