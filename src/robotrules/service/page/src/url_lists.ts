/** Fields for lists of URLs: one per line, or what the service finds in a sitemap or a log. */

import { post } from "./api";
import { acceptFiles, count } from "./dom";
import { lines } from "./command";

interface UrlList {
  form: string | null;
  urls: string[];
  skipped: { lines: number };
  error: string | null;
  hint: string | null;
}

export const MAX_URLS = 10_000;
// The limit of a request's body, with room for base64.
const MAX_FILE = 5 * 1024 * 1024;

/** Connect a text area, its button for files, and its status line. */
export class UrlField {
  #list: string[] = [];
  #text = "";

  constructor(
    readonly area: HTMLTextAreaElement,
    private readonly file: HTMLInputElement,
    private readonly status: HTMLElement,
    private readonly changed: () => void,
  ) {
    area.addEventListener("input", () => {
      this.status.textContent = "";
      this.changed();
    });
    area.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isPlainList(text)) return;
      event.preventDefault();
      void this.#read({ text });
    });
    acceptFiles(area, this.file, (chosen) => void this.#open(chosen));
  }

  /** The URLs, at most MAX_URLS. */
  get urls(): string[] {
    if (this.area.value !== this.#text) {
      this.#text = this.area.value;
      this.#list = lines(this.#text).slice(0, MAX_URLS);
    }
    return this.#list;
  }

  set text(text: string) {
    this.area.value = text;
    this.status.textContent = "";
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
    await this.#read({ base64: btoa(binary) });
  }

  async #read(body: { text: string } | { base64: string }): Promise<void> {
    this.status.textContent = "Reading…";
    try {
      const found = await post<UrlList>("v1/urls", body);
      if (!found.urls.length && "text" in body) {
        this.area.setRangeText(body.text.slice(0, 100_000), this.area.selectionStart, this.area.selectionEnd, "end");
      } else {
        this.area.value = found.urls.slice(0, MAX_URLS).join("\n") + "\n";
      }
      this.status.textContent = describe(found);
      this.changed();
    } catch (error) {
      this.status.textContent = (error as Error).message;
    }
  }
}

function isPlainList(text: string): boolean {
  return text.length < 1_000_000 && lines(text).every((line) => /^(\/|https?:\/\/)\S*$/i.test(line));
}

function describe(found: UrlList): string {
  const skipped = found.skipped.lines;
  const parts = [`Read ${count(found.urls.length, "URL")}${found.form ? ` (${found.form})` : ""}.`];
  if (found.urls.length > MAX_URLS) parts.push(`Only the first ${count(MAX_URLS, "URL")} are used.`);
  if (skipped) parts.push(`${count(skipped, "line")} without a URL.`);
  if (found.error) parts.push(found.error);
  if (found.hint) parts.push(found.hint);
  return parts.join(" ");
}
