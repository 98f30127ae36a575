/** Fields for lists of URLs: one per line, or what the service finds in a sitemap or a log. */

import { post } from "./api";
import { acceptFiles, announce, count } from "./dom";
import { lines } from "./command";

interface UrlList {
  form: string | null;
  urls: string[];
  skipped: { lines: number };
  error: string | null;
  hint: string | null;
}

export const MAX_URLS = 10_000;
// What has no URL is inserted as it was pasted, up to this many characters.
const MAX_PLAIN = 100_000;
// Chromium needs seconds for a thousand lines that are inserted as typing does.
const MAX_TYPED_LINES = 300;
// The limit of a request's body, with room for base64.
const MAX_FILE = 5 * 1024 * 1024;

/** Connect a text area, its button for files, and its status line. */
export class UrlField {
  #list: string[] = [];
  #total = 0;
  #inserted: { before: string; after: string } | null = null;
  #text = "";

  constructor(
    readonly area: HTMLTextAreaElement,
    private readonly file: HTMLInputElement,
    private readonly status: HTMLElement,
    private readonly changed: () => void,
  ) {
    area.addEventListener("input", () => {
      this.status.textContent = this.#limitWords;
      this.changed();
    });
    area.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isPlainList(text)) return;
      event.preventDefault();
      void this.#read({ text }, text);
    });
    area.addEventListener("keydown", (event) => this.#undo(event));
    acceptFiles(area, this.file, (chosen) => void this.#open(chosen));
  }

  /** The URLs, at most MAX_URLS. */
  get urls(): string[] {
    if (this.area.value !== this.#text) {
      this.#text = this.area.value;
      const all = lines(this.#text);
      this.#total = all.length;
      this.#list = all.slice(0, MAX_URLS);
    }
    return this.#list;
  }

  set text(text: string) {
    this.area.value = text;
    this.status.textContent = this.#limitWords;
  }

  /** Replace the list; the answers follow. */
  replace(text: string, words = ""): void {
    this.text = text;
    if (words) this.status.textContent = words;
    this.changed();
  }

  get #limitWords(): string {
    const used = this.urls.length;
    return this.#total > used ? `${count(this.#total, "URL")}: only the first ${count(used, "is", "are")} used.` : "";
  }

  async #open(chosen: File): Promise<void> {
    if (chosen.size > MAX_FILE) {
      this.status.textContent = "The file is larger than 5 MiB: use robotrules check --urls FILE.";
      return;
    }
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    let binary = "";
    for (let at = 0; at < bytes.length; at += 8192) {
      binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    await this.#read({ base64: btoa(binary) }, null);
  }

  /** Read a list, and insert its URLs where it was pasted; a file replaces what is there. */
  async #read(body: { text: string } | { base64: string }, pasted: string | null): Promise<void> {
    const { area } = this;
    const { value, selectionStart, selectionEnd } = area;
    this.status.textContent = "Reading…";
    try {
      const found = await post<UrlList>("v1/urls", body);
      const total = found.urls.length;
      if (found.form && found.form !== "list") found.urls = [...new Set(found.urls)];
      let text = found.urls.map((url) => `${url}\n`).join("");
      // A list in the middle of a line begins a new one.
      if (text && pasted !== null && /[^\n]$/.test(value.slice(0, selectionStart))) text = `\n${text}`;
      if (!text && pasted !== null && pasted.length <= MAX_PLAIN) text = pasted;
      if (text) {
        if (pasted === null) this.#insert(text, 0, area.value.length);
        else if (area.value === value) this.#insert(text, selectionStart, selectionEnd);
        else this.#insert(text, area.selectionStart, area.selectionEnd);
      }
      const words = [describe(found, total, pasted !== null), this.#limitWords].filter(Boolean).join(" ");
      this.status.textContent = words;
      announce(words);
    } catch (error) {
      this.status.textContent = (error as Error).message;
    }
  }

  /** Insert as typing does, so that it can be undone. */
  #insert(text: string, start: number, end: number): void {
    const { area } = this;
    const focused = document.activeElement;
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, end);
    const isShort = text.split("\n", MAX_TYPED_LINES + 1).length <= MAX_TYPED_LINES;
    if (!isShort || !document.execCommand("insertText", false, text)) {
      const before = area.value;
      area.setRangeText(text, start, end, "end");
      this.#inserted = { before, after: area.value };
      this.changed();
    }
    if (focused instanceof HTMLElement && focused !== document.body) focused.focus({ preventScroll: true });
  }

  /** Ctrl+Z right after a long list was inserted, which the browser itself cannot undo. */
  #undo(event: KeyboardEvent): void {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (!isUndo || !this.#inserted || this.area.value !== this.#inserted.after) return;
    event.preventDefault();
    this.text = this.#inserted.before;
    this.#inserted = null;
    this.changed();
  }
}

/** A list that needs no reading, or a line that is not one of XML, JSON or a log. */
function isPlainList(text: string): boolean {
  const found = lines(text);
  if (found.length <= 1 && text.length <= 2_000 && !/^\s*[<{[]|"[A-Z]+ \S+ HTTP\//.test(text)) return true;
  return found.every((line) => /^(\/|https?:\/\/)\S*$/i.test(line));
}

/** *total*: the URLs before each was taken once. */
function describe(found: UrlList, total: number, pasted: boolean): string {
  const skipped = found.skipped.lines;
  if (!found.urls.length) return [pasted ? "No URL found in what you pasted." : "No URL found in the file.", found.error, found.hint].filter(Boolean).join(" ");
  const different = found.urls.length;
  const ofLog = `${count(total + skipped, "line")}, ${count(different, "different URL")} (access log, all visitors).`;
  const parts = found.form === "access log"
    ? [ofLog]
    : [`Read ${count(different, different < total ? "different URL" : "URL")}${found.form ? ` (${found.form})` : ""}.`];
  if (skipped) parts.push(`${count(skipped, "line")} without a URL.`);
  // The service stops at as many URLs as the page uses.
  if (found.error) parts.push(total >= MAX_URLS ? "The rest was not read." : found.error);
  if (found.hint) parts.push(found.hint);
  return parts.join(" ");
}
