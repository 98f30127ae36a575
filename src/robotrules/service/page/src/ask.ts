/** Ask: URLs for a crawler, answered while the file is typed; the selected one is explained. */

import { Coalesced, Latest, post, postLines, showError } from "./api";
import { names } from "./command";
import { findCrawler, purposeTitle, whenCrawlersAreKnown } from "./crawlers";
import { announce, byId, count, debounce, download, fill, h } from "./dom";
import type { LineMark, RobotsEditor } from "./editor";
import type { Explanation, Verdict } from "./types";
import { UrlField } from "./url_lists";
import { PROFILE_NAMES, noteWords, outcomeWords, profileHint, reasonWords, recordName, shorten, verdictMark, verdictWord } from "./words";

// URLs that are answered at each key; the others follow when typing pauses.
const LIVE_URLS = 200;
// More URLs than this have a filter.
const FEW_URLS = 10;
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
  readonly #counts = h("strong");
  readonly #chosen = h("select", { class: "small", "aria-label": "Show" },
    h("option", { value: "" }, "All"), h("option", { value: "blocked" }, "Blocked"), h("option", { value: "allowed" }, "Allowed"));
  readonly #listed = h("span", { class: "hint" });
  readonly #download = h("button", { type: "button", class: "small" }, "Download answers");
  readonly #summary = h("div", { class: "summary" }, this.#counts, this.#chosen, this.#listed, this.#download);
  readonly #body = h("tbody");
  readonly #list: HTMLElement;
  readonly #error = h("div");
  #rows: Row[] = [];
  #shown: string[] = [];
  #verdicts: Verdict[] = [];
  /** The verdicts of the other profiles; those before stay until they are asked again. */
  #others = new Map<string, Verdict[]>();
  #othersCurrent = false;
  #profiles: { url: string; element: HTMLElement } | null = null;
  /** The answers to all URLs, if they are more than have a row; not current after a change. */
  #all: { urls: string[]; allowed: boolean[]; current: boolean } | null = null;
  #version = 0;
  #selected = "";
  #selectedAt = -1;
  #explained: Explanation | null = null;
  #reveal = false;
  #since = 0;
  #announced = "";

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
    this.#chosen.addEventListener("change", () => this.refresh());
    this.#download.addEventListener("click", () => void this.#downloadAnswers());
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

  /** Which answers are shown: "blocked", "allowed" or all. */
  get #filter(): string {
    return this.urlField.urls.length > FEW_URLS ? this.#chosen.value : "";
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
    byId("profile-hint").textContent = profileHint(this.profile);
    this.#since = performance.now();
    this.#version++;
    if (this.#all) this.#all.current = false;
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
      const all = this.urlField.urls.length;
      fill(this.#error, !as.length
        ? h("p", { class: "hint" }, "Name a crawler, such as Googlebot, or * for crawlers that no group names.")
        : h("p", { class: "hint" }, all > 0 ? `No URL is ${this.#filter}.` : "Enter URLs or paths to see their answers."));
      this.#setOutdated(false);
      this.#draw();
      this.#clear();
      if (as.length) this.#countIfNeeded();
      return;
    }
    const { doc } = this.editor;
    const urls = this.#shown;
    // One URL is answered with an object, several with lines: `urls` is always a list.
    this.#verdicts = await postLines<Verdict>("v1/check", { ...this.#robots, urls, profile: this.profile });
    fill(this.#error);
    this.#setOutdated(false);
    if (urls !== this.#shown) return;
    const filter = this.#filter;
    const isLong = this.urlField.urls.length > LIVE_URLS;
    if (!isLong && filter && !this.#verdicts.some((verdict) => verdict.allowed === (filter === "allowed"))) {
      fill(this.#error, h("p", { class: "hint" }, `No URL is ${filter}.`));
      this.#draw();
      this.#clear();
      return;
    }
    this.#othersCurrent = false;
    this.#draw();
    if (doc === this.editor.doc) this.#light();
    performance.measure("robotrules: verdict", { start: since });
    this.#explainSoon();
    this.#compareSoon();
    this.#announceSoon();
    this.#countIfNeeded();
  }

  /** Count the answers to all URLs again, if the file, the question or the URLs changed. */
  #countIfNeeded(): void {
    const { urls } = this.urlField;
    if (urls.length > LIVE_URLS && !(this.#all?.current && this.#all.urls === urls)) this.#countSoon();
  }

  #fail(error: Error): void {
    // The last answers stay, dimmed; the lines of the editor are no longer marked.
    this.#setOutdated(true);
    this.editor.setMarks([], false);
    showError(this.#error, error, () => this.refresh());
  }

  #setOutdated(outdated: boolean): void {
    for (const part of [this.#summary, this.#list, this.#explanation]) part.classList.toggle("outdated", outdated);
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
    const known = this.#all?.urls === all ? this.#all.allowed : null;
    if (all.length > LIVE_URLS && this.#filter && known) {
      const wanted = this.#filter === "allowed";
      shown = all.filter((_, index) => known[index] === wanted).slice(0, LIVE_URLS);
    }
    if (shown.join("\n") === this.#shown.join("\n") && this.#rows.length === shown.length) return;
    this.#shown = shown;
    this.#verdicts = [];
    this.#others.clear();
    this.#othersCurrent = false;
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
      const shown = this.#rows.flatMap((row, at) => (row.element.hidden ? [] : [at]));
      const here = shown.indexOf(index);
      const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: shown.length - 1 }[event.key];
      const next = to === undefined ? undefined : shown[to];
      if (next === undefined) return;
      event.preventDefault();
      this.#reveal = true;
      this.#select(next, true);
      this.#rows[next]?.button.focus();
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
      // One stop for the Tab key; arrows go from one answer to the next.
      row.button.tabIndex = at === index ? 0 : -1;
      row.element.classList.toggle("selected", at === index);
    });
    if (!ask) return;
    this.#light();
    this.changed();
    void this.#explain.request();
    this.#announced = "";
    this.#announceSoon();
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
    const total = this.urlField.urls.length;
    const filter = this.#filter;
    this.#rows.forEach((row, index) => {
      const verdict = this.#verdicts[index];
      if (!verdict) {
        row.element.hidden = false;
        fill(row.verdict);
        fill(row.why);
        fill(row.differs);
        return;
      }
      if (!verdict.allowed) blocked++;
      // A row that no longer belongs to the filter goes at once; others follow when all are counted.
      row.element.hidden = filter !== "" && verdict.allowed !== (filter === "allowed");
      const mark = verdictMark(verdict.allowed);
      const isSame = row.verdict.textContent === mark.textContent;
      if (!isSame) fill(row.verdict, mark);
      const why = reasonWords(verdict);
      if (row.why.textContent !== why) row.why.textContent = why;
      if (this.#othersCurrent) this.#drawDifference(row, index, verdict);
      else if (!isSame) fill(row.differs);
    });
    // A row that is hidden cannot be the stop of the Tab key.
    if (this.#rows[this.#selectedAt]?.element.hidden) {
      const at = this.#rows.findIndex((row) => !row.element.hidden);
      if (at >= 0) this.#select(at, false);
    }
    this.#list.hidden = this.#rows.every((row) => row.element.hidden);
    this.#drawSummary(total, blocked);
  }

  #drawSummary(total: number, blocked: number): void {
    const isLong = total > LIVE_URLS;
    const all = isLong && this.#all?.urls === this.urlField.urls ? this.#all : null;
    const allowed = all ? all.allowed.filter(Boolean).length : this.#verdicts.length - blocked;
    const isCounted = isLong ? all !== null : this.#verdicts.length > 0;
    this.#counts.textContent = isCounted ? `${count((isLong ? total : this.#verdicts.length) - allowed, "URL")} blocked, ${count(allowed, "URL")} allowed` : isLong ? count(total, "URL") : "";
    this.#counts.classList.toggle("outdated", all?.current === false);
    this.#chosen.hidden = total <= FEW_URLS;
    const filter = this.#filter;
    const matching = !filter || !all ? total : filter === "allowed" ? allowed : total - allowed;
    this.#listed.textContent = matching > LIVE_URLS ? `the first ${LIVE_URLS} are listed` : "";
    this.#download.hidden = !isCounted;
    this.#summary.hidden = !total || (!isCounted && !isLong);
  }

  /** All answers as CSV, also those that have no row. */
  async #downloadAnswers(): Promise<void> {
    const { urls } = this.urlField;
    this.#download.disabled = true;
    try {
      const verdicts = await postLines<Verdict>("v1/check", { ...this.#robots, urls, profile: this.profile });
      const rows = verdicts.map((verdict) => {
        const hasRule = verdict.line && verdict.pattern !== null;
        const rule = hasRule ? `${verdict.reason === "allow-rule" ? "Allow" : "Disallow"}: ${verdict.pattern}` : reasonWords({ reason: verdict.reason });
        return [verdict.url, verdictWord(verdict.allowed), String(verdict.line ?? ""), rule];
      });
      download("answers.csv", [["url", "answer", "line", "rule"], ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join(""), "text/csv;charset=utf-8");
      announce("Downloaded.");
    } catch (error) {
      showError(this.#error, error as Error);
    }
    this.#download.disabled = false;
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
        this.#othersCurrent = true;
        this.#draw();
        this.#drawExplanation();
      },
      () => {
        this.#others.clear();
        this.#othersCurrent = true;
        this.#draw();
      },
    );
  }

  async #countAll(): Promise<void> {
    await this.#counting.run(
      async (signal) => {
        const { urls } = this.urlField;
        const version = this.#version;
        const body = { ...this.#robots, urls, profile: this.profile, fields: "allowed" };
        const { allowed } = await post<{ allowed: boolean[] }>("v1/check", body, signal);
        // After another change there is another count.
        if (version !== this.#version || urls !== this.urlField.urls) return;
        this.#all = { urls, allowed, current: true };
        // The filter has other rows now.
        if (this.#filter) await this.#live.request();
        else this.#draw();
        this.#announceSoon();
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
      ...found.notes.slice(0, 5).map((note) => h("p", { class: "hint" }, note.line ? line(note.line) : "File", `: ${noteWords(note.message)}`)),
    );
  }

  #groupWords(found: Explanation): string {
    const name = found.product_token;
    switch (found.matched_by) {
      case "star":
        return name === "*" ? "The group for * applies:" : `No group names ${name}, so the group for * applies:`;
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
    if (!mine) return false;
    const url = this.#selected;
    if (!this.#othersCurrent) return this.#profiles?.url === url && this.#profiles.element;
    if (!this.#others.size) return false;
    const element = this.#makeProfileTable(mine, at);
    this.#profiles = { url, element };
    return element;
  }

  #makeProfileTable(mine: Verdict, at: number): HTMLElement {
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

  /** Announce the counts and the selected answer, if they are not those that were announced last. */
  #announce(): void {
    const verdict = this.#verdicts[this.#selectedAt];
    if (!verdict) return;
    const sentence = `${this.#summary.querySelector("strong")?.textContent ?? ""}. ${shorten(verdict.url, 200)}: ${verdictWord(verdict.allowed)}, ${reasonWords(verdict)}.`;
    if (sentence === this.#announced) return;
    this.#announced = sentence;
    announce(sentence);
  }
}

function upper(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A cell of CSV (RFC 4180); spreadsheets must not take a text of a site for a formula. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
