/** Page: guidance from pasted headers and HTML, together with the robots.txt of the editor. */

import { Latest, errorWords, post, showError } from "./api";
import { command, names } from "./command";
import { acceptFiles, announce, byId, debounce, download, fill, h, scrolling } from "./dom";
import type { EditView } from "./edit_view";
import { readText } from "./editor";
import { isServerError, readHeaders, statusWords } from "./headers";
import type { Fields } from "./share";
import { choose, textOf, type ViewPart } from "./views";
import { answerMark, noteWords, reasonWords, recordName, shorten } from "./words";

interface Source {
  carrier: string;
  line: number | null;
  element: number | null;
  state: string | null;
}

interface Mention {
  rule: string;
  standing: string;
  token: string;
  text: string;
  source: Source;
}

interface Usage {
  may_archive: boolean | null;
  decided_by: Record<string, number[]>;
  mentions: Mention[];
  unknown: unknown[];
  notes: GuidanceNote[];
}

interface GuidanceNote {
  code: string;
  level: string;
  message: string;
  source?: Source | null;
}

interface Guidance {
  url: string;
  may_crawl: boolean | null;
  may_index: boolean | null;
  may_snippet: boolean | null;
  may_follow: boolean | null;
  verdict: { allowed: boolean; reason: string; rule: { key: string; pattern: string; line: number } | null } | null;
  tags: string;
  usage: Usage | null;
  unseen: Usage | null;
  preferences: {
    applicable: boolean;
    preferences: Record<string, string>;
    statements: { text?: string; source?: Source | null }[];
    notes: GuidanceNote[];
  } | null;
  reservation: { reserved: boolean | null; policy: string | null; carrier: string | null; notes: GuidanceNote[] } | null;
  notes: GuidanceNote[];
}

interface Tags {
  may_index: boolean | null;
  mentions: Mention[];
}

const EXAMPLE_URL = "https://example.com/private/press/2026.html";
const EXAMPLE_HEADERS = `Content-Type: text/html; charset=utf-8
X-Robots-Tag: noarchive
`;
const EXAMPLE_HTML = `<!doctype html>
<html>
<head>
  <title>Press release</title>
  <meta name="robots" content="max-snippet:120">
  <meta name="googlebot" content="noindex">
</head>
<body>…</body>
</html>
`;

const STANDINGS: Record<string, string> = {
  "in-force": "applies",
  overridden: "a stricter value applies",
  "other-crawler": "for another crawler",
  unknown: "not a known rule",
};

const PREFERENCES: Record<string, string> = { "train-ai": "Use to train AI", search: "Use in search" };

export class PageView implements ViewPart {
  readonly #url = byId<HTMLInputElement>("page-url");
  readonly #as = byId<HTMLInputElement>("page-as");
  readonly #profile = byId<HTMLSelectElement>("page-profile");
  readonly #headers = byId<HTMLTextAreaElement>("page-headers");
  readonly #html = byId<HTMLTextAreaElement>("page-html");
  readonly #robots = byId<HTMLInputElement>("page-robots");
  readonly #place = byId("guidance");
  readonly #latest = new Latest();
  readonly #soon = debounce(250, () => void this.#load());
  #stale = true;

  constructor(
    private readonly edit: EditView,
    private readonly changed: () => void,
  ) {
    for (const field of [this.#url, this.#as, this.#headers, this.#html]) {
      field.addEventListener("input", () => this.#refresh());
    }
    for (const field of [this.#profile, this.#robots]) field.addEventListener("change", () => this.#refresh());
    const status = byId("html-status");
    this.#html.addEventListener("input", () => (status.textContent = ""));
    acceptFiles(this.#html, byId<HTMLInputElement>("open-html"), (file) => {
      readText(file).then(
        ({ text, remark }) => {
          this.#html.value = text;
          status.textContent = remark;
          this.#refresh();
        },
        (error: unknown) => (status.textContent = errorWords(error as Error)),
      );
    });
  }

  fileChanged(): void {
    this.#stale = true;
  }

  #refresh(): void {
    this.#stale = true;
    this.changed();
    if (!byId("view-page").hidden) this.#soon();
  }

  show(): void {
    if (this.#stale) this.#soon();
  }

  get #headerLines(): string[] {
    return readHeaders(this.#headers.value).fields;
  }

  get #tokens(): string[] {
    return names(this.#as.value);
  }

  async #load(): Promise<void> {
    this.#stale = false;
    if (!this.#url.value.trim() || !this.#tokens.length) {
      this.#latest.stop();
      fill(this.#place, h("p", { class: "hint" }, "Enter the URL of the page and the name of a crawler."));
      return;
    }
    await this.#latest.run(
      async (signal) => {
        const page = {
          url: this.#url.value.trim(),
          as: this.#tokens,
          profile: this.#profile.value,
          headers: this.#headerLines,
          ...(this.#html.value.trim() ? { html: this.#html.value } : {}),
        };
        const robots = this.#robots.checked ? { robots: this.edit.editor.text } : {};
        const found = await post<Guidance>("v1/guidance", { ...page, ...robots }, signal);
        const hasPage = page.headers.length > 0 || "html" in page;
        const tags = hasPage && found.may_crawl !== false ? await post<Tags>("v1/tags", page, signal) : null;
        this.#draw(found, tags);
      },
      (error) => {
        this.#stale = true;
        showError(this.#place, error, () => this.#refresh());
      },
    );
  }

  #draw(found: Guidance, tags: Tags | null): void {
    const usage = found.usage ?? found.unseen;
    const mentions = tags?.mentions ?? usage?.mentions ?? [];
    const because = (...rules: string[]) =>
      (found.usage ? rules : []).flatMap((rule) => usage?.decided_by[rule] ?? []).map((index) => {
        const mention = usage?.mentions[index];
        return mention && h("li", {}, h("code", {}, shorten(mention.text, 100)), ` – ${sourceWords(mention.source)}`);
      });
    const rule = found.verdict?.rule;
    const answer = (value: boolean | null) => (value === null ? "unknown" : value ? "yes" : "no");
    const [summary, isBad] = this.#summary(found);
    const { status } = readHeaders(this.#headers.value);
    const isShown = !statusWords(status);
    // A page that fails for a while is neither shown for certain, nor hidden.
    const failed = isServerError(status) ? null : false;
    const by = (value: boolean | null) => (isShown ? value : failed);
    const ofStatus = !isShown && h("li", {}, `status ${status}`);
    announce(`${statusWords(status)} Crawl: ${answer(found.may_crawl)}. Show in search results: ${answer(by(found.may_index))}.`);
    const hidden = found.may_crawl === false && h("li", {}, "robots.txt blocks the page, so its tags are not read");
    fill(
      this.#place,
      h("h3", {}, "Guidance"),
      summary && h("p", { class: isBad ? "exception" : "" }, summary),
      h("div", { class: "questions" },
        question("Crawl the page", found.may_crawl, [
          found.verdict && h("li", {}, rule ? `robots.txt, line ${rule.line}: ${recordName(rule.key)}: ${shorten(rule.pattern, 100)}` : `robots.txt: ${reasonWords({ reason: found.verdict.reason })}`),
        ]),
        question("Show it in search results", by(found.may_index), [ofStatus, hidden, ...because("noindex", "none")]),
        question("Show a snippet", by(found.may_snippet), [ofStatus, hidden, ...because("nosnippet", "max-snippet", "max_snippet")]),
        question("Follow its links", by(found.may_follow), [ofStatus, hidden, ...because("nofollow", "none")]),
        ...Object.entries(found.preferences?.preferences ?? {}).map(([name, value]) =>
          question(PREFERENCES[name] ?? name, { allowed: true, disallowed: false }[value] ?? null, [
            h("li", {}, value === "unknown" ? "the site says nothing" : "Content-Usage"),
          ])),
        found.reservation && found.reservation.reserved !== null &&
          question("Text and data mining", !found.reservation.reserved, [
            h("li", {}, `TDM reservation: ${found.reservation.carrier ?? ""}`),
          ])),
      mentions.length > 0 && h("h3", {}, found.usage ? "Tag rules and their sources" : "Tag rules that crawlers do not read"),
      mentions.length > 0 && scrolling("Tag rules", h("table", {},
        h("thead", {}, h("tr", {}, ["Rule", "For", "Source", "Effect"].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, mentions.slice(0, 200).map((mention) => h("tr", {},
          h("td", {}, h("code", {}, shorten(mention.text, 100))),
          h("td", {}, mention.token === "*" ? "all crawlers" : shorten(mention.token, 60)),
          h("td", {}, sourceWords(mention.source)),
          h("td", {}, !found.usage ? "not read" : STANDINGS[mention.standing] ?? mention.standing.replaceAll("-", " "))))))),
      ...this.#notes(found, usage),
      h("p", { class: "hint" }, "All of these are requests to crawlers, not access control."),
    );
  }

  /** The answer in one sentence, and whether the page is not shown. */
  #summary(found: Guidance): [string, boolean] {
    const failed = statusWords(readHeaders(this.#headers.value).status);
    if (failed) return [failed, true];
    const { usage } = found;
    const because = (...rules: string[]) => {
      const mention = usage?.mentions[rules.flatMap((rule) => usage.decided_by[rule] ?? [])[0] ?? -1];
      return mention ? ` because of ${shorten(mention.text, 100)} in the ${sourceWords(mention.source)}` : "";
    };
    if (found.may_crawl === false) {
      const line = found.verdict?.rule?.line;
      return [`Not crawled because of ${line ? `line ${line} of ` : ""}robots.txt, so its tags are not read.`, true];
    }
    if (found.may_index === false) return [`Not shown in search results${because("noindex", "none")}.`, true];
    if (found.may_index === null) return ["", false];
    if (found.may_snippet === false) return [`May be shown in search results, without a snippet${because("nosnippet", "max-snippet", "max_snippet")}.`, false];
    return ["May be shown in search results.", false];
  }

  #notes(found: Guidance, usage: Usage | null): (HTMLElement | false)[] {
    const all = [...found.notes, ...(usage?.notes ?? []), ...(found.preferences?.notes ?? []), ...(found.reservation?.notes ?? [])];
    if (!all.length) return [];
    return [
      h("h3", {}, "Notes"),
      h("ul", { class: "plain-list" }, all.slice(0, 100).map((note) =>
        h("li", {}, h("span", { class: `level ${note.level}-level` }, note.level), ` ${noteWords(note.message)}`,
          note.source && h("span", { class: "hint" }, ` (${sourceWords(note.source)})`)))),
    ];
  }

  fields(): Fields {
    return {
      url: this.#url.value,
      as: this.#as.value,
      profile: this.#profile.value === "default" ? "" : this.#profile.value,
      headers: this.#headers.value,
      html: this.#html.value,
      alone: !this.#robots.checked,
    };
  }

  /** Whether the fields are still those of the first start. */
  get isExample(): boolean {
    return this.#url.value === EXAMPLE_URL && this.#headers.value === EXAMPLE_HEADERS && this.#html.value === EXAMPLE_HTML;
  }

  /** Empty the fields; the crawler stays. */
  clear(): void {
    for (const field of [this.#url, this.#headers, this.#html]) field.value = "";
    this.#refresh();
  }

  load(fields: Fields | null): void {
    const first = fields === null;
    this.#url.value = first ? EXAMPLE_URL : textOf(fields, "url").slice(0, 8000);
    this.#as.value = first ? "Googlebot" : textOf(fields, "as").slice(0, 1000);
    choose(this.#profile, textOf(fields, "profile"), "default");
    this.#headers.value = first ? EXAMPLE_HEADERS : textOf(fields, "headers");
    this.#html.value = first ? EXAMPLE_HTML : textOf(fields, "html");
    this.#robots.checked = fields?.["alone"] !== true;
    byId("html-status").textContent = "";
    this.#refresh();
  }

  command(): string {
    if (!this.#url.value.trim() || !this.#tokens.length) return "";
    const options: [string, string][] = this.#tokens.map((token) => ["--as", token]);
    if (this.#robots.checked) options.push(["--robots", "robots.txt"]);
    for (const line of this.#headerLines) options.push(["--header", line]);
    if (this.#html.value.trim()) options.push(["--page", "page.html"]);
    if (this.#profile.value !== "default") options.push(["--profile", this.#profile.value]);
    return command("guidance", options, [this.#url.value.trim()]);
  }

  downloads(): [string, () => void][] {
    const files: [string, () => void][] = this.#robots.checked ? [["Download robots.txt", () => this.edit.save()]] : [];
    if (this.#html.value.trim()) files.push(["Download page.html", () => download("page.html", this.#html.value, "text/html;charset=utf-8")]);
    return files;
  }
}

function question(title: string, value: boolean | null, reasons: (HTMLElement | false | null | undefined)[]): HTMLElement {
  return h("div", { class: "question" }, h("h4", {}, title), answerMark(value), h("ul", {}, reasons));
}

/** "2nd meta element", "1st X-Robots-Tag header". */
function sourceWords({ carrier, line, element }: Source): string {
  if (element !== null) return `${ordinal(element)} ${carrier} element`;
  if (line === null || carrier === "robots.txt") return line === null ? carrier : `${carrier}, line ${line}`;
  return `${ordinal(line)} ${carrier} header`;
}

function ordinal(number: number): string {
  const end = number % 100 >= 11 && number % 100 <= 13 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th");
  return `${number}${end}`;
}
