/** Live: the robots.txt of a site, fetched by the service. */

import { ApiError, Latest, get, showFailure } from "./api";
import { command } from "./command";
import { announce, byId, count, fill, h, isLoopback } from "./dom";
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
  redirects: { location: string | null }[];
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

const FAILURES: Record<string, string> = {
  dns: "This computer cannot look up the name. If crawlers cannot either, they must not fetch anything.",
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
    return text.includes("://") ? text : `${isPlainHttp(text) ? "http" : "https"}://${text}`;
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
    const meaning = refused
      ? `This service does not connect to that address. Start the service with --allow-private ${visible(refusedHost(found))} to fetch from there.`
      : FAILURES[found.failure_reason ?? ""] ?? POLICIES[found.policy] ?? found.policy;
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

/** Whether an address without a scheme is one that rarely has https: this computer, a private network, or a port. */
function isPlainHttp(text: string): boolean {
  if (!URL.canParse(`http://${text}`)) return false;
  const { hostname, port } = new URL(`http://${text}`);
  if (port === "443") return false;
  // The parser leaves out the port of http.
  const isPort80 = /^[^/?#]*:0*80(?:[/?#]|$)/.test(text);
  return port !== "" || isPort80 || isLoopback(hostname) || isPrivate(hostname);
}

/** Addresses and names of private networks (RFC 1918, RFC 3927, RFC 4193, RFC 6762). */
function isPrivate(host: string): boolean {
  return (
    /^(10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.[\d.]+$/.test(host) ||
    /^\[f([cd]|e[89ab])[\da-f]*:/i.test(host) ||
    /(^[^.[]+|\.(local|internal|home\.arpa))$/i.test(host)
  );
}

/** The host that was refused; after redirects, the last one. */
function refusedHost(found: LiveFile): string {
  const location = found.redirects.at(-1)?.location ?? found.url;
  const url = URL.canParse(location, found.url) ? new URL(location, found.url) : new URL(found.url);
  return url.hostname.replace(/^\[|\]$/g, "");
}
