/**
 * The editor: CodeMirror with colours, notes, explanations and completion from the service.
 *
 * CodeMirror lives in a shadow root: there it keeps its styles in a constructed style sheet, which
 * the Content-Security-Policy allows, and not in a <style> element, which it does not.
 * Positions of the service are those of the language server: line and UTF-16 column.
 */

import { autocompletion, completionKeymap, completionStatus, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, undo } from "@codemirror/commands";
import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { ChangeSet, EditorState, RangeSetBuilder, StateEffect, StateField, type ChangeSpec, type Text } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  WidgetType,
  closeHoverTooltips,
  drawSelection,
  hasHoverTooltips,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";
import { ApiError, Coalesced, post, whenTokenIsEntered } from "./api";
import { announce, debounce, h } from "./dom";
import { editorTheme } from "./editor_theme";
import { renderMarkdown } from "./markdown";
import { visible } from "./words";
import type { CompletionItem, Fix, Hover, Note, Position, Range, Tokens } from "./types";

export type LineEnd = "\n" | "\r\n" | "\r";
export const MAX_BYTES = 4 * 1024 * 1024;

/** What a line does for the selected URL. */
export interface LineMark {
  line: number;
  className: string;
  label: string;
}

interface Shown {
  marks: DecorationSet;
  widgets: DecorationSet;
}

// Block widgets are not virtual: a file with a note on each line keeps the rest in the list.
const MAX_WIDGETS = 100;
// Characters from which verdicts alone are asked for at each key, and the rest when typing pauses.
const LARGE = 60_000;
// Pixels between a line that is scrolled to and the edge.
const MARGIN = 60;
// Milliseconds after a change in which no explanation opens.
const TYPING = 1_000;
// Lines around those that are seen which get colours; a request is answered for 5,000.
const TOKEN_LINES = 1_000;

const setTokens = StateEffect.define<DecorationSet>();
const setNotes = StateEffect.define<Shown>();
const setMarks = StateEffect.define<DecorationSet>();

function decorations(effect: typeof setTokens): StateField<DecorationSet> {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(value, transaction) {
      let now = value.map(transaction.changes);
      for (const found of transaction.effects) if (found.is(effect)) now = found.value;
      return now;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

const tokenField = decorations(setTokens);
const markField = decorations(setMarks);
const noteField = StateField.define<Shown>({
  create: () => ({ marks: Decoration.none, widgets: Decoration.none }),
  update(value, transaction) {
    let now = value;
    if (transaction.docChanged) {
      now = { marks: value.marks.map(transaction.changes), widgets: value.widgets.map(transaction.changes) };
    }
    for (const found of transaction.effects) if (found.is(setNotes)) now = found.value;
    return now;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (shown) => shown.marks),
    EditorView.decorations.from(field, (shown) => shown.widgets),
  ],
});

/** The notes of a line, below it. The list under the editor is the same for screen readers. */
class NoteWidget extends WidgetType {
  constructor(
    private readonly notes: Note[],
    private readonly apply: (fix: Fix) => void,
  ) {
    super();
  }

  override eq(other: NoteWidget): boolean {
    return JSON.stringify(other.notes) === JSON.stringify(this.notes);
  }

  override toDOM(): HTMLElement {
    const rows = this.notes.map((note) =>
      h(
        "div",
        { class: `rr-note rr-${note.level}` },
        h("span", { class: "rr-level" }, note.level),
        h("span", { class: "rr-message" }, visible(note.message)),
        ...note.fixes.map((fix) =>
          h("button", { type: "button", class: "rr-fix", tabindex: "-1", onclick: () => this.apply(fix) }, fix.title),
        ),
      ),
    );
    return h("div", { class: "rr-notes", "aria-hidden": "true" }, ...rows);
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

class LabelWidget extends WidgetType {
  constructor(
    private readonly label: string,
    private readonly className: string,
  ) {
    super();
  }

  override eq(other: LabelWidget): boolean {
    return other.label === this.label && other.className === this.className;
  }

  override toDOM(): HTMLElement {
    return h("span", { class: `rr-label ${this.className}`, "aria-hidden": "true" }, this.label);
  }
}

export interface EditorOptions {
  place: HTMLElement;
  label: string;
  profile: () => string;
  changed: () => void;
  moved?: () => void;
  /** Whether the service is asked for explanations and completion. */
  assisted: boolean;
}

/**
 * Replace a selection by what is typed. Chromium would keep the style of the first selected character
 * in a `style` attribute, which the Content-Security-Policy refuses with a line in the console.
 */
function typeOverSelection(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== "insertText" || event.data === null || !event.cancelable) return false;
  if (event.isComposing || view.state.readOnly || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

export class RobotsEditor {
  readonly view: EditorView;
  lineEnd: LineEnd = "\n";
  /** What got lost when the text was read, for the status line. */
  remark = "";
  readonly #options: EditorOptions;
  #typed = 0;
  /** The text that the notes are about, and what was changed since. */
  #noted: Text | null = null;
  #changes: ChangeSet | null = null;
  /** What has colours; another part is asked for when it comes into view. */
  #coloured: [number, number] = [0, 0];
  readonly #colours = new Coalesced(
    () => this.#colour(),
    // The text is readable without them, and other requests say what is wrong.
    (error) => {
      if (error instanceof ApiError && error.status === 401) whenTokenIsEntered(() => this.colour());
    },
  );
  readonly #colourSoon = debounce(() => (this.isLarge ? 350 : 60), () => void this.#colours.request());

  constructor(options: EditorOptions) {
    this.#options = options;
    const root = options.place.attachShadow({ mode: "open" });
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: "", extensions: this.#extensions() }),
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && hasHoverTooltips(this.view.state)) this.view.dispatch({ effects: closeHoverTooltips });
    });
    // The editor has only the lines that are seen; on paper the text is complete.
    const printed = h("pre", { class: "printed-text" });
    options.place.after(printed);
    window.addEventListener("beforeprint", () => (printed.textContent = this.text));
    window.addEventListener("afterprint", () => (printed.textContent = ""));
  }

  #extensions() {
    const { label, changed, moved, assisted } = this.#options;
    return [
      lineNumbers(),
      highlightActiveLineGutter(),
      // CodeMirror's own list has some of the characters that change the direction of a text.
      highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069]/g }),
      history(),
      drawSelection(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      search({ top: true }),
      // No key of these is Tab, so Tab leaves the editor as it leaves any field.
      keymap.of([...completionKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap]),
      editorTheme,
      tokenField,
      markField,
      noteField,
      EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
      EditorView.contentAttributes.of({
        "aria-label": label,
        autocapitalize: "off",
        autocorrect: "off",
        tabindex: "0",
        spellcheck: "false",
      }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          this.#typed = performance.now();
          this.#changes = this.#changes?.compose(update.changes) ?? null;
          changed();
        }
        const [from, to] = this.#coloured;
        const { viewport } = update.view;
        if (update.docChanged) this.#colourSoon();
        else if (update.viewportChanged && (viewport.from < from || viewport.to > to)) this.#colourSoon();
        if (update.selectionSet || update.docChanged) moved?.();
      }),
      assisted
        ? [
            hoverTooltip((view, at) => this.#hover(view, at), { hoverTime: 350, hideOnChange: true }),
            autocompletion({ override: [(context) => this.#complete(context)], activateOnTyping: true, maxRenderedOptions: 8 }),
          ]
        : [],
    ];
  }

  /** The text with the line ends that it came with. */
  get text(): string {
    return this.view.state.doc.sliceString(0, undefined, this.lineEnd);
  }

  get isLarge(): boolean {
    return this.view.state.doc.length > LARGE;
  }

  get doc(): Text {
    return this.view.state.doc;
  }

  /** Replace the text; *fresh* also forgets the history. *remark*: what got lost when it was read. */
  setText(text: string, fresh = false, remark = ""): void {
    this.remark = remark;
    const ends = new Set(text.match(/\r\n?|\n/g) ?? []);
    const first = /\r\n?|\n/.exec(text)?.[0] as LineEnd | undefined;
    this.lineEnd = first ?? "\n";
    if (ends.size > 1) {
      this.lineEnd = "\n";
      this.remark = `${remark} The file mixed line ends; the editor uses LF.`.trim();
    }
    if (fresh) {
      this.#noted = this.#changes = null;
      this.view.setState(EditorState.create({ doc: text, extensions: this.#extensions() }));
      this.#options.changed();
      this.#colourSoon();
    } else {
      // One step to undo, apart from what was typed before.
      const changes = { from: 0, to: this.doc.length, insert: this.view.state.toText(text) };
      this.view.dispatch({ changes, annotations: isolateHistory.of("full") });
    }
  }

  undo(): void {
    undo(this.view);
  }

  /** Ask for the colours of the lines that are seen, and of many around them. */
  async #colour(): Promise<void> {
    const doc = this.doc;
    const { from, to } = this.view.viewport;
    const first = Math.max(doc.lineAt(from).number - 1 - TOKEN_LINES, 0);
    const last = Math.min(doc.lineAt(to).number - 1 + TOKEN_LINES, doc.lines);
    const body = { robots: this.text, profile: this.#options.profile(), first, last };
    const found = await post<Tokens>("v1/editor/tokens", body);
    if (this.doc !== doc) return;
    this.#coloured = [doc.line(first + 1).from, doc.line(Math.min(last + 1, doc.lines)).to];
    this.#setTokens(found.tokens, found.legend.tokenTypes);
  }

  /** Ask for the colours again, for example because the profile is another one. */
  colour(): void {
    this.#colourSoon();
  }

  #setTokens(data: number[], legend: string[]): void {
    const builder = new RangeSetBuilder<Decoration>();
    let line = 0;
    let column = 0;
    for (let at = 0; at + 4 < data.length; at += 5) {
      const [deltaLine = 0, deltaColumn = 0, length = 0, type = 0] = data.slice(at, at + 4);
      column = deltaLine ? deltaColumn : column + deltaColumn;
      line += deltaLine;
      if (line >= this.doc.lines) break;
      const { from, to } = this.doc.line(line + 1);
      const start = Math.min(from + column, to);
      const end = Math.min(start + length, to);
      if (end > start) builder.add(start, end, tokenMark(legend[type] ?? ""));
    }
    this.view.dispatch({ effects: setTokens.of(builder.finish()) });
  }

  setNotes(notes: Note[]): void {
    this.#noted = this.doc;
    this.#changes = ChangeSet.empty(this.doc.length);
    const marks = notes.flatMap((note) => {
      const [from, to] = this.toOffsets(note.range);
      return to > from ? [Decoration.mark({ class: `rr-underline rr-${note.level}` }).range(from, to)] : [];
    });
    const byLine = new Map<number, Note[]>();
    for (const note of notes) {
      const line = this.#lineOf(note.range.start).number;
      if (!byLine.has(line) && byLine.size >= MAX_WIDGETS) continue;
      byLine.set(line, [...(byLine.get(line) ?? []), note]);
    }
    const widgets = [...byLine].map(([line, found]) =>
      Decoration.widget({
        widget: new NoteWidget(found, (fix) => this.applyFix(fix, line)),
        block: true,
        side: 1,
      }).range(this.doc.line(line).to),
    );
    this.view.dispatch({
      effects: setNotes.of({ marks: Decoration.set(marks, true), widgets: Decoration.set(widgets, true) }),
    });
  }

  /** Apply a fix of the notes that are shown, unless its lines were changed since they were made. */
  applyFix(fix: Fix, line: number): void {
    const changes = this.#mapEdits(fix.edits);
    if (changes) this.view.dispatch({ changes, userEvent: "input.fix", annotations: isolateHistory.of("full") });
    // So that the next key, such as Ctrl+Z, is for the editor.
    this.view.focus();
    announce(changes ? `Applied on line ${line}: ${fix.title}` : `Line ${line} was changed: wait for its notes.`);
  }

  /** Whether the lines of a fix are still those that its note is about. */
  canApply(fix: Fix): boolean {
    return this.#mapEdits(fix.edits) !== null;
  }

  #mapEdits(edits: Fix["edits"]): ChangeSpec[] | null {
    const doc = this.#noted;
    const since = this.#changes;
    if (!doc || !since) return null;
    const changes: ChangeSpec[] = [];
    for (const edit of edits) {
      const [from, to] = this.toOffsets(edit.range, doc);
      const start = doc.lineAt(from).from;
      const end = doc.lineAt(to).to;
      const now = since.mapPos(start, -1);
      if (this.view.state.sliceDoc(now, since.mapPos(end, 1)) !== doc.sliceString(start, end)) return null;
      changes.push({ from: now + from - start, to: now + to - start, insert: this.view.state.toText(edit.newText) });
    }
    return changes;
  }

  applyEdits(edits: Fix["edits"]): void {
    const changes: ChangeSpec[] = edits.map((edit) => {
      const [from, to] = this.toOffsets(edit.range);
      return { from, to, insert: this.view.state.toText(edit.newText) };
    });
    this.view.dispatch({ changes, userEvent: "input.fix", annotations: isolateHistory.of("full") });
  }

  /** Light up lines; the first one can be scrolled into view. */
  setMarks(marks: LineMark[], reveal: boolean): void {
    const ranges = marks
      .filter((mark) => mark.line >= 1 && mark.line <= this.doc.lines)
      .flatMap((mark) => {
        const { from, to } = this.doc.line(mark.line);
        const lit = Decoration.line({ class: `rr-lit ${mark.className}` }).range(from);
        if (!mark.label) return [lit];
        const widget = new LabelWidget(mark.label, mark.className);
        return [lit, Decoration.widget({ widget, side: 1 }).range(to)];
      });
    this.view.dispatch({ effects: setMarks.of(Decoration.set(ranges, true)) });
    const [first] = marks;
    if (reveal && first) this.reveal(first.line);
  }

  /** Scroll to a line; *focus* also puts the cursor there, and scrolls the page to the editor. */
  reveal(line: number, focus = false): void {
    const { from } = this.doc.line(Math.min(Math.max(line, 1), this.doc.lines));
    if (!focus) {
      this.#scrollTo(from);
      return;
    }
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: MARGIN }) });
    this.view.focus();
  }

  /** Scroll the editor alone: the page stays where it is. */
  #scrollTo(offset: number, again = true): void {
    const { view } = this;
    view.requestMeasure({
      read: () => {
        const { top, bottom } = view.lineBlockAt(Math.min(offset, this.doc.length));
        const { scrollTop, clientHeight } = view.scrollDOM;
        const first = view.documentPadding.top;
        if (top + first < scrollTop + MARGIN) return top + first - MARGIN;
        if (bottom + first > scrollTop + clientHeight - MARGIN) return bottom + first - clientHeight + MARGIN;
        return scrollTop;
      },
      write: (top) => {
        if (top === view.scrollDOM.scrollTop) return;
        view.scrollDOM.scrollTop = top;
        // The heights of lines that were not seen yet are estimates.
        if (again) requestAnimationFrame(() => this.#scrollTo(offset, false));
      },
    });
  }

  openSearch(): void {
    openSearchPanel(this.view);
  }

  /** Explain what is at the cursor. */
  async explainCursor(signal: AbortSignal): Promise<Hover | null> {
    return this.#ask("v1/editor/hover", this.view.state.selection.main.head, signal);
  }

  toPosition(offset: number): Position {
    const line = this.doc.lineAt(offset);
    return { line: line.number - 1, character: offset - line.from };
  }

  toOffsets(range: Range, doc = this.doc): [number, number] {
    const offset = (position: Position) => {
      // The end of a range can be the start of the line after the last one.
      if (position.line >= doc.lines) return doc.length;
      const { from, to } = doc.line(Math.max(position.line, 0) + 1);
      return Math.min(from + Math.max(position.character, 0), to);
    };
    const from = offset(range.start);
    return [from, Math.max(from, offset(range.end))];
  }

  #lineOf(position: Position) {
    return this.doc.line(Math.min(Math.max(position.line, 0) + 1, this.doc.lines));
  }

  #ask<T>(path: string, offset: number, signal?: AbortSignal): Promise<T> {
    const body = { robots: this.text, profile: this.#options.profile(), position: this.toPosition(offset) };
    return post<T>(path, body, signal);
  }

  async #hover(view: EditorView, at: number) {
    const doc = view.state.doc;
    // The pointer rests where the click was: who types does not ask about that place.
    const isTyping = () => completionStatus(view.state) !== null || performance.now() - this.#typed < TYPING;
    if (isTyping()) return null;
    const found = await this.#ask<Hover | null>("v1/editor/hover", at).catch(() => null);
    const markdown = found?.markdown;
    if (!markdown || view.state.doc !== doc || isTyping()) return null;
    const [pos, end] = found.range ? this.toOffsets(found.range) : [at, at];
    return {
      pos,
      end,
      above: true,
      create: () => ({ dom: h("div", { class: "rr-hover" }, renderMarkdown(markdown)) }),
    };
  }

  async #complete(context: CompletionContext): Promise<CompletionResult | null> {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    // Paths are not completed, so the service is not asked while one is typed.
    if (!context.explicit && (!before.trim() || /^\s*(dis)?allow\s*:|^\s*sitemap\s*:/i.test(before))) return null;
    const controller = new AbortController();
    context.addEventListener("abort", () => controller.abort(), { onDocChange: true });
    if (!context.explicit && this.isLarge) {
      // Verdicts go first: in a large file names are suggested when typing pauses.
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (controller.signal.aborted) return null;
    }
    const answer = await this.#ask<{ items: CompletionItem[] }>(
      "v1/editor/completion",
      context.pos,
      controller.signal,
    ).catch(() => null);
    if (!answer || context.aborted) return null;
    // A name that is being typed is in the file already; it is not offered for itself.
    const items = answer.items.filter((item) => {
      const [from, to] = this.toOffsets(item.range);
      return context.state.sliceDoc(from, to) !== item.newText;
    });
    if (!items.length) return null;
    const [first] = items;
    const from = first ? this.toOffsets(first.range)[0] : context.pos;
    return { from, options: items.map((item) => this.#toCompletion(item)), validFor: /^[-\w.=?]*$/ };
  }

  #toCompletion(item: CompletionItem): Completion {
    const text = item.documentation;
    return {
      label: item.label,
      // The range of the item reaches to the end of the word, also behind the cursor.
      apply: (view, _completion, from, to) => {
        const word = /^[-\w.=?]*/.exec(view.state.doc.lineAt(to).text.slice(to - view.state.doc.lineAt(to).from));
        const end = to + (word?.[0].length ?? 0);
        view.dispatch({
          changes: { from, to: end, insert: item.newText },
          selection: { anchor: from + item.newText.length },
          userEvent: "input.complete",
        });
      },
      ...(item.detail ? { detail: item.detail } : {}),
      ...(text ? { info: () => renderMarkdown(text) } : {}),
    };
  }
}

const tokenMarks = new Map<string, Decoration>();

function tokenMark(type: string): Decoration {
  let mark = tokenMarks.get(type);
  if (!mark) {
    mark = Decoration.mark({ class: `rr-token-${type.replace(/\W/g, "")}` });
    tokenMarks.set(type, mark);
  }
  return mark;
}

/** Read a file as text; bytes that are not UTF-8 are replaced, and that is said. */
export async function readText(file: Blob): Promise<{ text: string; remark: string }> {
  if (file.size > MAX_BYTES) throw new Error("The file is larger than 4 MiB.");
  const bytes = await file.arrayBuffer();
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), remark: "" };
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return { text, remark: "The file has bytes that are not UTF-8; they are replaced here." };
  }
}
