/** Ask: URLs for a crawler, answered while the file is typed; the selected one is explained. */

import { Coalesced, Latest, post, postLines, showError } from "./api";
import { names } from "./command";
import { findCrawler, purposeTitle, whenCrawlersAreKnown } from "./crawlers";
import { announce, byId, count, debounce, fill, h } from "./dom";
import type { LineMark, RobotsEditor } from "./editor";
import type { Explanation, Verdict } from "./types";
import { UrlField } from "./url_lists";
import { PROFILE_NAMES, outcomeWords, reasonWords, recordName, shorten, verdictMark, verdictWord } from "./words";

// URLs that are answered at each key; the others follow when typing pauses.
const LIVE_URLS = 200;
const OTHERS: Record<string, string[]> = {
  default: ["google", "strict"],
  strict: ["default", "google"],
  google: ["default", "strict"],
};

interface Row {
  element: HTMLTableRowElement;
  verdict: HTMLElement;
  button: HTMLButtonElement;
  why: HTMLElement;
  differs: HTMLElement;
}

export class AskPanel {
  readonly urlField: UrlField;
  readonly #crawler = byId<HTMLInputElement>("crawler");
  readonly #profile = byId<HTMLSelectElement>("profile");
  readonly #purposes = byId<HTMLInputElement>("purposes");
  readonly #literal = byId<HTMLInputElement>("literal");
  readonly #answers = byId("answers");
  readonly #explanation = byId("explanation");
  readonly #summary = h("div", { class: "summary" });
  readonly #body = h("tbody");
  readonly #list: HTMLElement;
  readonly #error = h("div");
  #rows: Row[] = [];
  #shown: string[] = [];
  #verdicts: Verdict[] = [];
  #others = new Map<string, Verdict[]>();
  #filter = "";
  #all: { key: string; allowed: boolean[] } | null = null;
  #selected = "";
  #selectedAt = -1;
  #explained: Explanation | null = null;
  #reveal = false;
  #since = 0;

  readonly #live = new Coalesced(
    () => this.#check(),
    (error) => this.#fail(error),
  );
  readonly #explain = new Coalesced(
    () => this.#explainSelected(),
    (error) => showError(this.#explanation, error, () => this.refresh()),
  );
  readonly #compare = new Latest();
  readonly #counting = new Latest();
  readonly #explainSoon = debounce(() => (this.editor.isLarge ? 250 : 0), () => void this.#explain.request());
  readonly #compareSoon = debounce(() => (this.editor.isLarge ? 500 : 120), () => void this.#compareProfiles());
  readonly #countSoon = debounce(350, () => void this.#countAll());
  readonly #announceSoon = debounce(900, () => this.#announce());

  constructor(
    private readonly editor: RobotsEditor,
    private readonly changed: () => void,
    private readonly profileChanged: () => void,
  ) {
    this.urlField = new UrlField(byId<HTMLTextAreaElement>("urls"), byId<HTMLInputElement>("open-urls"), byId("urls-status"), () => this.refresh());
    for (const field of [this.#crawler, this.#purposes]) {
      field.addEventListener("input", () => {
        this.#describeCrawler();
        this.refresh();
      });
    }
    this.#literal.addEventListener("change", () => this.refresh());
    this.#profile.addEventListener("change", () => {
      this.profileChanged();
      this.refresh();
    });
    whenCrawlersAreKnown(() => this.#describeCrawler());
    const table = h(
      "table",
      { class: "answers" },
      h("caption", { class: "hidden" }, "Answers"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Answer"), h("th", { scope: "col" }, "URL and reason"))),
      this.#body,
    );
    this.#list = h("div", { class: "answers-list", role: "region", "aria-label": "Answers", tabindex: "0" }, table);
    this.#list.hidden = true;
    this.#answers.className = "stack";
    this.#answers.append(this.#error, this.#summary, this.#list);
  }

  get profile(): string {
    return this.#profile.value;
  }

  get crawler(): string {
    return this.#crawler.value.trim();
  }

  get selected(): string {
    return this.#selected;
  }

  /** The options that are the same for each question. */
  get question(): { as: string | string[]; purpose: string[]; literal: boolean } {
    const tokens = names(this.#crawler.value);
    return {
      as: tokens.length === 1 ? tokens[0] ?? "" : tokens,
      purpose: names(this.#purposes.value),
      literal: this.#literal.checked,
    };
  }

  get purposes(): string[] {
    return names(this.#purposes.value);
  }

  get literal(): boolean {
    return this.#literal.checked;
  }

  fields() {
    return {
      as: this.#crawler.value,
      profile: this.#profile.value === "default" ? "" : this.#profile.value,
      purpose: this.#purposes.value,
      literal: this.#literal.checked,
      urls: this.urlField.area.value,
      selected: this.#selected,
    };
  }

  load(fields: Record<string, string | boolean | undefined>): void {
    const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
    this.#crawler.value = text("as").slice(0, 1000);
    this.#profile.value = text("profile") in OTHERS ? text("profile") : "default";
    this.#purposes.value = text("purpose").slice(0, 1000);
    this.#literal.checked = fields["literal"] === true;
    this.urlField.text = text("urls");
    this.#selected = text("selected");
    this.#describeCrawler();
  }

  /** Answer again: the file or the question changed. */
  refresh(): void {
    this.#since = performance.now();
    this.changed();
    void this.#live.request();
  }

  get #robots() {
    return { robots: this.editor.text, ...this.question };
  }

  async #check(): Promise<void> {
    const since = this.#since;
    this.#show();
    const { as } = this.question;
    if (!as.length || !this.#shown.length) {
      this.#verdicts = [];
      fill(this.#error, !as.length && h("p", { class: "hint" }, "Name a crawler, such as Googlebot, or * for crawlers that no group names."));
      this.#draw();
      this.#clear();
      return;
    }
    const { doc } = this.editor;
    const urls = this.#shown;
    // One URL is answered with an object, several with lines: `urls` is always a list.
    this.#verdicts = await postLines<Verdict>("v1/check", { ...this.#robots, urls, profile: this.profile });
    fill(this.#error);
    if (urls !== this.#shown) return;
    this.#others.clear();
    this.#draw();
    if (doc === this.editor.doc) this.#light();
    performance.measure("robotrules: verdict", { start: since });
    this.#explainSoon();
    this.#compareSoon();
    this.#announceSoon();
    if (this.urlField.urls.length > LIVE_URLS) this.#countSoon();
  }

  #fail(error: Error): void {
    this.#verdicts = [];
    this.#draw();
    this.#clear();
    showError(this.#error, error, () => this.refresh());
  }

  #clear(): void {
    this.#explained = null;
    fill(this.#explanation);
    this.editor.setMarks([], false);
  }

  /** Choose the URLs that have a row, and make the rows. */
  #show(): void {
    const all = this.urlField.urls;
    let shown = all.length > LIVE_URLS ? all.slice(0, LIVE_URLS) : all;
    const known = this.#all?.key === all.join("\n") ? this.#all.allowed : null;
    if (all.length > LIVE_URLS && this.#filter && known) {
      const wanted = this.#filter === "allowed";
      shown = all.filter((_, index) => known[index] === wanted).slice(0, LIVE_URLS);
    }
    if (shown.join("\n") === this.#shown.join("\n") && this.#rows.length === shown.length) return;
    this.#shown = shown;
    this.#verdicts = [];
    this.#others.clear();
    this.#rows = shown.map((url, index) => this.#row(url, index));
    fill(this.#body, this.#rows.map((row) => row.element));
    this.#list.hidden = !shown.length;
    this.#selectedAt = shown.indexOf(this.#selected);
    if (this.#selectedAt < 0) this.#select(0, false);
    else this.#select(this.#selectedAt, false);
  }

  #row(url: string, index: number): Row {
    const verdict = h("td");
    const button = h("button", { type: "button", class: "link", "aria-pressed": "false" }, shorten(url, 300));
    button.addEventListener("click", () => {
      this.#reveal = true;
      this.#select(index, true);
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = step && this.#rows[index + step];
      if (!next) return;
      event.preventDefault();
      next.button.focus();
      this.#reveal = true;
      this.#select(index + step, true);
    });
    const why = h("div", { class: "hint" });
    const differs = h("div");
    const element = h("tr", {}, verdict, h("td", { class: "url" }, button, why, differs));
    return { element, verdict, button, why, differs };
  }

  #select(index: number, ask: boolean): void {
    this.#selectedAt = index;
    this.#selected = this.#shown[index] ?? "";
    this.#rows.forEach((row, at) => {
      row.button.setAttribute("aria-pressed", String(at === index));
      row.element.classList.toggle("selected", at === index);
    });
    if (!ask) return;
    this.#light();
    this.changed();
    void this.#explain.request();
  }

  /** Light up the deciding line at once; the losing rules follow with the explanation. */
  #light(): void {
    const verdict = this.#verdicts[this.#selectedAt];
    const explained = this.#explained;
    const marks: LineMark[] = [];
    if (verdict?.line) {
      const className = verdict.allowed ? "rr-allows" : "rr-blocks";
      marks.push({ line: verdict.line, className, label: `decides: ${verdictWord(verdict.allowed).toLowerCase()}` });
    }
    if (explained && verdict && explained.url === verdict.url && explained.profile === verdict.profile) {
      const winner = verdict.line;
      for (const rule of explained.losers.slice(0, 500)) {
        if (rule.line !== winner) marks.push({ line: rule.line, className: "rr-loses", label: outcomeWords(rule.outcome) });
      }
    }
    this.editor.setMarks(marks, this.#reveal);
    this.#reveal = false;
  }

  #draw(): void {
    let blocked = 0;
    this.#rows.forEach((row, index) => {
      const verdict = this.#verdicts[index];
      if (!verdict) {
        fill(row.verdict);
        fill(row.why);
        fill(row.differs);
        return;
      }
      if (!verdict.allowed) blocked++;
      const mark = verdictMark(verdict.allowed);
      if (row.verdict.textContent !== mark.textContent) fill(row.verdict, mark);
      const why = reasonWords(verdict);
      if (row.why.textContent !== why) row.why.textContent = why;
      this.#drawDifference(row, index, verdict);
    });
    const total = this.urlField.urls.length;
    if (total > LIVE_URLS) this.#drawCounts(total);
    else if (this.#verdicts.length) fill(this.#summary, h("strong", {}, `${count(blocked, "URL")} blocked, ${count(this.#verdicts.length - blocked, "URL")} allowed`));
    else fill(this.#summary);
  }

  #drawCounts(total: number): void {
    const allowed = this.#all?.allowed.filter(Boolean).length;
    const counts =
      allowed === undefined || this.#all?.allowed.length !== total
        ? `${count(total, "URL")}`
        : `${count(total - allowed, "URL")} blocked, ${count(allowed, "URL")} allowed`;
    let filter = this.#summary.querySelector("select");
    if (!filter) {
      filter = h("select", { class: "small", "aria-label": "Show" },
        h("option", { value: "" }, "All"), h("option", { value: "blocked" }, "Blocked"), h("option", { value: "allowed" }, "Allowed"));
      const field = filter;
      field.addEventListener("change", () => {
        this.#filter = field.value;
        this.refresh();
      });
      fill(this.#summary, h("strong", {}), field, h("span", { class: "hint" }, ""));
      field.value = this.#filter;
    }
    const [strong, , hint] = this.#summary.children;
    if (strong) strong.textContent = counts;
    if (hint) hint.textContent = `the first ${LIVE_URLS} are listed`;
  }

  #drawDifference(row: Row, index: number, verdict: Verdict): void {
    const found = [...this.#others].flatMap(([profile, verdicts]) => {
      const other = verdicts[index];
      return other && other.allowed !== verdict.allowed ? [`${PROFILE_NAMES[profile]}: ${verdictWord(other.allowed)}`] : [];
    });
    if (row.differs.textContent === found.join("")) return;
    fill(row.differs, found.map((words) => h("span", { class: "tag differs" }, words)));
  }

  async #compareProfiles(): Promise<void> {
    await this.#compare.run(
      async (signal) => {
        const urls = this.#shown;
        const verdicts = this.#verdicts;
        const profiles = OTHERS[this.profile] ?? [];
        const body = this.#robots;
        const found = await Promise.all(
          profiles.map((profile) => postLines<Verdict>("v1/check", { ...body, urls, profile }, signal)),
        );
        if (verdicts !== this.#verdicts) return;
        this.#others = new Map(profiles.map((profile, index) => [profile, found[index] ?? []]));
        this.#draw();
        this.#drawExplanation();
      },
      () => this.#others.clear(),
    );
  }

  async #countAll(): Promise<void> {
    await this.#counting.run(
      async (signal) => {
        const urls = this.urlField.urls;
        const body = { ...this.#robots, urls, profile: this.profile, fields: "allowed" };
        const { allowed } = await post<{ allowed: boolean[] }>("v1/check", body, signal);
        this.#all = { key: urls.join("\n"), allowed };
        this.#draw();
      },
      (error) => this.#fail(error),
    );
  }

  async #explainSelected(): Promise<void> {
    const url = this.#selected;
    if (!url || !this.#verdicts.length) return this.#clear();
    const { doc } = this.editor;
    const found = await post<Explanation>("v1/explain", { ...this.#robots, url, profile: this.profile });
    if (url !== this.#selected) return;
    this.#explained = found;
    this.#drawExplanation();
    if (doc === this.editor.doc) this.#light();
  }

  #drawExplanation(): void {
    const found = this.#explained;
    if (!found) return;
    const { winner } = found;
    const line = (number: number) =>
      h("button", { type: "button", class: "link", onclick: () => this.editor.reveal(number, true) }, `line ${number}`);
    fill(
      this.#explanation,
      h("h3", {}, "Why"),
      h("p", { class: "big" }, verdictMark(found.allowed), " ", h("code", {}, shorten(found.path, 300))),
      winner
        ? h("p", {}, "Decided by ", line(winner.line), ": ", h("span", { class: "rule" }, `${recordName(winner.key)}: ${shorten(winner.pattern, 300)}`), ` – the longest match, ${count(winner.octets, "byte")}.`)
        : h("p", {}, `${upper(reasonWords({ reason: found.reason }))}.`),
      found.losers.length > 0 && h("h4", {}, "Other rules that match"),
      found.losers.length > 0 &&
        h("ul", {}, found.losers.slice(0, 50).map((rule) =>
          h("li", {}, line(rule.line), ": ", h("span", { class: "rule" }, `${recordName(rule.key)}: ${shorten(rule.pattern, 300)}`), ` – ${outcomeWords(rule.outcome)}, ${count(rule.octets, "byte")}`),
        )),
      found.losers.length > 50 && h("p", { class: "hint" }, `and ${count(found.losers.length - 50, "more", "more")}`),
      h("p", {}, this.#groupWords(found), found.groups.length > 0 && " ", found.groups.slice(0, 10).flatMap((group, index) => [
        index ? ", " : "", line(group.first_line), group.last_line > group.first_line ? `–${group.last_line}` : "",
      ]), found.groups.length > 0 && "."),
      this.#profileTable(),
      ...found.notes.slice(0, 5).map((note) => h("p", { class: "hint" }, note.line ? line(note.line) : "File", `: ${note.message}`)),
    );
  }

  #groupWords(found: Explanation): string {
    const name = found.product_token;
    switch (found.matched_by) {
      case "star":
        return `No group names ${name}, so the group for * applies:`;
      case "product-token":
        return `${count(found.groups.length, "group names", "groups name")} ${name}:`;
      case "purpose":
        return `No group names ${name}; the group of its purpose applies:`;
      default:
        return found.groups.length ? "Groups that apply:" : `No group applies to ${name}.`;
    }
  }

  /** Default, Google and strict beside each other, where they differ. */
  #profileTable(): HTMLElement | false {
    const at = this.#selectedAt;
    const mine = this.#verdicts[at];
    if (!mine || !this.#others.size) return false;
    const all = new Map<string, Verdict | undefined>([[this.profile, mine], ...[...this.#others].map(([name, found]) => [name, found[at]] as const)]);
    const differ = [...all.values()].some((other) => other && (other.allowed !== mine.allowed || other.line !== mine.line));
    if (!differ) return h("p", { class: "hint" }, "Default, Google and strict agree.");
    return h("div", {}, h("h4", {}, "By profile"), h("div", { class: "profiles" },
      ["default", "google", "strict"].map((name) => {
        const verdict = all.get(name);
        if (!verdict) return false;
        return h("div", { class: verdict.allowed !== mine.allowed ? "odd" : "" }, h("h4", {}, PROFILE_NAMES[name] ?? name), verdictMark(verdict.allowed), h("div", {}, reasonWords(verdict)));
      }),
    ));
  }

  #describeCrawler(): void {
    const known = findCrawler(this.#crawler.value);
    fill(
      byId("crawler-about"),
      known && `${known.product_token}: ${known.operator}${known.purposes?.length ? `, ${known.purposes.map((purpose) => purposeTitle(purpose).toLowerCase()).join(", ")}` : ""}. `,
      known?.documentation && /^https?:/.test(known.documentation) && h("a", { href: known.documentation, target: "_blank", rel: "noreferrer noopener" }, "Documentation"),
    );
  }

  #announce(): void {
    const verdict = this.#verdicts[this.#selectedAt];
    if (verdict) announce(`${verdict.url}: ${verdictWord(verdict.allowed)}, ${reasonWords(verdict)}.`);
  }
}

function upper(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
