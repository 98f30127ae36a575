/** Notes of lint: in the text and in a list below the editor, with their fixes. */

import { Latest, post, showError, showFailure } from "./api";
import { announce, byId, count, debounce, fill, h } from "./dom";
import type { RobotsEditor } from "./editor";
import { visible } from "./words";
import type { FixedFile, Fix, Note, Notes } from "./types";

// As many notes are read, not ten thousand.
const MAX_NOTES = 300;
const MAX_LISTED = 100;
// A pause that grows with the file: lint of a large one takes longer than typing a word.
const PAUSE = 250;
const LARGE_PAUSE = 900;

export class NotesPanel {
  readonly #place = byId("notes");
  readonly #title = byId("notes-title");
  readonly #latest = new Latest();
  readonly #soon = debounce(
    () => (this.editor.isLarge ? LARGE_PAUSE : PAUSE),
    () => void this.#load(),
  );
  readonly #fixes = new Map<HTMLButtonElement, Fix>();
  #summary = "";

  constructor(
    private readonly editor: RobotsEditor,
    private readonly profile: () => string,
  ) {}

  refresh(): void {
    this.#latest.stop();
    for (const [button, fix] of this.#fixes) button.disabled = !this.editor.canApply(fix);
    this.#soon();
  }

  async #load(): Promise<void> {
    await this.#latest.run(
      async (signal) => {
        const { doc } = this.editor;
        const body = { robots: this.editor.text, profile: this.profile(), tokens: false, max_notes: MAX_NOTES };
        const found = await post<Notes>("v1/editor/notes", body, signal);
        if (doc !== this.editor.doc) return;
        this.editor.setNotes(found.notes);
        this.#draw(found);
      },
      (error) => {
        showError(this.#place, error, () => this.refresh());
      },
    );
  }

  #draw(found: Notes): void {
    const { notes } = found;
    this.#fixes.clear();
    const total = notes.length + found.more;
    const summary = total ? count(total, "note") : "No notes";
    this.#title.textContent = total ? `Notes (${total})` : "Notes";
    if (summary !== this.#summary) announce(`${summary} on the file.`);
    this.#summary = summary;
    if (!total) {
      fill(this.#place, h("p", { class: "hint" }, "No problems found."));
      return;
    }
    const safe = notes.filter((note) => note.fixes.some((fix) => fix.safe !== false)).length;
    const hidden = total - Math.min(notes.length, MAX_LISTED);
    fill(
      this.#place,
      safe > 1 && h("div", { class: "bar" }, h("button", { type: "button", class: "small fix", onclick: () => void this.#fixAll() }, "Apply all safe fixes")),
      h("ul", { "aria-label": "Notes on the file" }, notes.slice(0, MAX_LISTED).map((note) => this.#item(note, found))),
      hidden > 0 && h("p", { class: "hint" }, `and ${count(hidden, "more", "more")}: robotrules lint robots.txt --all`),
    );
  }

  #item(note: Note, found: Notes): HTMLElement {
    const line = note.range.start.line + 1;
    const about = found.checks[note.code]?.summary;
    return h(
      "li",
      {},
      h("span", { class: `level ${note.level}-level` }, note.level),
      " ",
      h("button", { type: "button", class: "link", onclick: () => this.editor.reveal(line, true) }, `line ${line}`),
      ` ${visible(note.message)} `,
      h("span", { class: "hint", title: about }, `${note.code} ${note.slug}`),
      note.fixes.length > 0 &&
        h("div", { class: "bar" }, note.fixes.flatMap((fix) => this.#fixButton(fix, line))),
    );
  }

  #fixButton(fix: Fix, line: number): HTMLElement[] {
    const apply = () => this.editor.applyFix(fix, line);
    const button = h("button", { type: "button", class: "small fix", onclick: apply }, `Fix: ${visible(fix.title)}`);
    this.#fixes.set(button, fix);
    return fix.safe === false ? [button, h("span", { class: "hint" }, "changes which URLs are blocked")] : [button];
  }

  async #fixAll(): Promise<void> {
    await this.#latest.run(
      async (signal) => {
        const { doc } = this.editor;
        const body = { robots: this.editor.text, profile: this.profile() };
        const fixed = await post<FixedFile>("v1/editor/fix", body, signal);
        if (doc !== this.editor.doc) return;
        this.editor.applyEdits(fixed.edits);
        this.editor.view.focus();
        announce(`Applied ${count(fixed.applied.length, "fix", "fixes")}.`);
        this.refresh();
      },
      (error) => showFailure(this.#place, error, () => this.refresh()),
    );
  }
}
