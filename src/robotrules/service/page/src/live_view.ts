/** Live: the robots.txt of a site, fetched by the service. */

import { ApiError, Latest, get, showFailure } from "./api";
import { command } from "./command";
import { announce, byId, count, fill, h } from "./dom";
import type { Fields } from "./share";
import { textOf, type ViewPart } from "./views";
import { durationWords, visible } from "./words";

interface LiveFile {
  url: string;
  state: string | null;
  status: number | null;
  failure: string | null;
  failure_reason: string | null;
  source: string | null;
  age: number | null;
  policy: string;
  redirects: unknown[];
  bytes: number;
  complete: boolean;
  robots: string | null;
  robots_base64: string | null;
  store_error: string | null;
}

const POLICIES: Record<string, string> = {
  rules: "The rules of this file apply.",
  allow: "There is no robots.txt, so everything is allowed.",
  disallow: "The file cannot be fetched, so crawlers must not fetch anything for now.",
  nothing: "Not known yet.",
};

const STATES: Record<string, string> = { success: "fetched" };
// A longer file is shown in part; the editor gets all of it.
const MAX_SHOWN = 200_000;

export class LiveView implements ViewPart {
  readonly #url = byId<HTMLInputElement>("live-url");
  readonly #place = byId("live");
  readonly #latest = new Latest();
  readonly commandTitle = "On the command line: fetch the file, and check it for problems";

  constructor(
    private readonly open: (text: string) => void,
    private readonly changed: () => void,
  ) {
    byId("live-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.changed();
      void this.#fetch();
    });
  }

  get #target(): string {
    const text = this.#url.value.trim();
    return text.includes("://") ? text : `https://${text}`;
  }

  async #fetch(): Promise<void> {
    fill(this.#place, h("p", { class: "card change" }, "Fetching…"));
    announce("Fetching…");
    await this.#latest.run(
      async (signal) => this.#draw(await get<LiveFile>("v1/robots", { url: this.#target }, signal)),
      (error) => {
        const off = error instanceof ApiError && error.slug === "fetching-off";
        const words = "This service does not fetch: it was started with --no-fetch. Paste the file into the editor instead.";
        showFailure(this.#place, off ? new Error(words) : error, () => void this.#fetch());
      },
    );
  }

  #draw(found: LiveFile): void {
    const { robots } = found;
    const refused = found.failure_reason === "refused-address";
    const meaning = refused ? "This service does not connect to that address." : POLICIES[found.policy] ?? found.policy;
    const state = refused ? "not fetched" : STATES[found.state ?? ""] ?? found.state ?? "none";
    announce(meaning);
    const facts: [string, string | Node | null][] = [
      ["File", h("code", {}, visible(found.url))],
      ["Access result", `${state}${found.status ? ` (HTTP ${found.status})` : ""}`],
      ["Meaning", meaning],
      ["Failure", found.failure && visible(found.failure)],
      ["Age", found.age === null || refused ? null : found.source === "fetched" ? "fetched just now" : `${durationWords(found.age)}, kept by the service`],
      ["Redirects", found.redirects.length ? count(found.redirects.length, "redirect") : null],
      ["Size", robots === null ? null : `${count(found.bytes, "byte")}${found.complete ? "" : ", cut"}`],
      ["Encoding", found.robots_base64 ? "Not UTF-8: bytes that are not are replaced here." : null],
      ["Store", found.store_error],
    ];
    fill(
      this.#place,
      h("div", { class: "card change" },
        h("dl", { class: "facts" }, facts.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : []))),
        robots !== null && h("div", { class: "bar" }, h("button", { type: "button", class: "strong", onclick: () => this.open(robots) }, "Open in the editor")),
        robots !== null && h("pre", { class: "file-text", tabindex: "0", role: "region", "aria-label": "Text of the file" }, visible(robots.slice(0, MAX_SHOWN))),
        robots !== null && robots.length > MAX_SHOWN && h("p", { class: "hint" }, `Only the first ${count(MAX_SHOWN, "character")} are shown here. The editor opens all of it.`),
      ),
    );
  }

  fields(): Fields {
    return { url: this.#url.value };
  }

  load(fields: Fields | null): void {
    // The link only fills the field: opening it must not make the service fetch.
    this.#url.value = textOf(fields, "url").slice(0, 8000);
  }

  show(): void {
    // Nothing is fetched until the button is used.
  }

  command(): string {
    const origin = URL.canParse(this.#target) ? new URL(this.#target).origin : "https://example.com";
    return `${command("prefetch", [], [origin])}\n${command("lint", [], [`${origin}/`])}`;
  }

  downloads(): [string, () => void][] {
    return [];
  }
}
