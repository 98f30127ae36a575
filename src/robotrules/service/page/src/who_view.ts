/** Who: the matrix of crawlers and paths for the file of the editor. */

import { Latest, post, showError } from "./api";
import { command, names } from "./command";
import { purposeTitle, usedPurposes, whenCrawlersAreKnown } from "./crawlers";
import { announce, byId, count, debounce, fill, h, scrolling } from "./dom";
import type { EditView } from "./edit_view";
import type { Fields } from "./share";
import { choose, textOf, type ViewPart } from "./views";
import { profileHint, shorten, verdictMark, visible } from "./words";

interface Cell {
  path: string;
  allowed: boolean;
  reason: string;
  line: number | null;
  rule: string | null;
}

interface Matrix {
  paths: { path: string; line: number | null }[];
  bands: { name: string; title: string; sentence: string }[];
  crawlers: {
    name: string;
    product_token: string;
    band: string;
    known: { operator: string; obeys: string } | null;
    summary: string;
    cells: Cell[];
  }[];
  left_out: number;
  crawlers_checked: string;
}

const SUMMARIES: Record<string, string> = {
  everything: "everything",
  some: "some URLs",
  nothing: "nothing",
  "not decided": "not decided",
};

export class WhoView implements ViewPart {
  readonly #paths = byId<HTMLInputElement>("who-paths");
  readonly #profile = byId<HTMLSelectElement>("who-profile");
  readonly #purpose = byId<HTMLSelectElement>("who-purpose");
  readonly #as = byId<HTMLInputElement>("who-as");
  readonly #all = byId<HTMLInputElement>("who-all");
  readonly #place = byId("matrix");
  readonly #latest = new Latest();
  readonly #soon = debounce(250, () => void this.#load());
  #wantedPurpose = "";
  #stale = true;

  constructor(
    private readonly edit: EditView,
    private readonly changed: () => void,
    private readonly openLine: (line: number) => void,
  ) {
    for (const field of [this.#paths, this.#as]) field.addEventListener("input", () => this.#refresh());
    for (const field of [this.#profile, this.#purpose, this.#all]) field.addEventListener("change", () => this.#refresh());
    whenCrawlersAreKnown(() => {
      this.#purpose.append(...usedPurposes().map((purpose) => h("option", { value: purpose }, purposeTitle(purpose))));
      if (this.#wantedPurpose) {
        choose(this.#purpose, this.#wantedPurpose, "");
        this.#refresh();
      }
    });
  }

  fileChanged(): void {
    this.#stale = true;
  }

  #refresh(): void {
    byId("who-profile-hint").textContent = profileHint(this.#profile.value);
    this.#stale = true;
    this.changed();
    if (!byId("view-who").hidden) this.#soon();
  }

  show(): void {
    if (this.#stale) this.#soon();
  }

  async #load(): Promise<void> {
    this.#stale = false;
    await this.#latest.run(
      async (signal) => {
        const tokens = names(this.#as.value);
        const body = {
          robots: this.edit.editor.text,
          profile: this.#profile.value,
          path: this.#pathList,
          // Crawlers by name cannot be combined with those of a purpose.
          ...(tokens.length
            ? { as: tokens }
            : { all: this.#all.checked, purpose: this.#purpose.value ? [this.#purpose.value] : [] }),
        };
        this.#draw(await post<Matrix>("v1/matrix", body, signal));
      },
      (error) => {
        this.#stale = true;
        showError(this.#place, error, () => this.#refresh());
      },
    );
  }

  /** Paths have no white space, and can have commas. */
  get #pathList(): string[] {
    return [...new Set(this.#paths.value.split(/\s+/).filter(Boolean))];
  }

  #draw(found: Matrix): void {
    announce(`${count(found.crawlers.length, "crawler")}, ${count(found.paths.length, "path")}.`);
    const width = found.paths.length + 2;
    const rows = found.bands.flatMap((band) => [
      h("tr", {}, h("th", { scope: "rowgroup", colspan: width }, h("span", {}, h("strong", {}, band.title), ` – ${band.sentence}`))),
      ...found.crawlers.filter((crawler) => crawler.band === band.name).map((crawler) =>
        h("tr", {},
          h("th", { scope: "row" }, shorten(crawler.name, 40), crawler.known && h("span", { class: "operator" }, crawler.known.operator)),
          h("td", {}, SUMMARIES[crawler.summary] ?? crawler.summary),
          ...crawler.cells.map((cell) => this.#cell(cell)))),
    ]);
    fill(
      this.#place,
      found.paths.length > 1 && h("p", { class: "hint narrow" }, `${count(found.paths.length, "path")}: scroll sideways`),
      h("div", { class: "card" }, scrolling("Matrix of crawlers and paths", h("table", { class: "matrix" },
        h("caption", { class: "hidden" }, "Which crawlers may fetch which paths"),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Crawler"), h("th", { scope: "col" }, "May fetch"),
          found.paths.map((path) => h("th", { scope: "col", title: visible(path.path) }, h("code", {}, shorten(path.path, 40)))))),
        h("tbody", {}, rows)))),
      h("p", { class: "hint" },
        found.left_out > 0 && `${count(found.left_out, "more crawler")} left out: choose a purpose, or all. `,
        `Crawlers as their operators document them, checked on ${found.crawlers_checked}. A crawler that is allowed may still be blocked elsewhere, and one that is blocked may ignore the file.`),
    );
  }

  #cell(cell: Cell): HTMLElement {
    const { line, rule } = cell;
    const why = line ? h("button", { type: "button", class: "link hint", title: visible(rule ?? ""), onclick: () => this.openLine(line) }, `line ${line}`) : null;
    return h("td", {}, verdictMark(cell.allowed), why && " ", why);
  }

  fields(): Fields {
    const profile = this.#profile.value === "default" ? "" : this.#profile.value;
    return { path: this.#paths.value, profile, purpose: this.#purpose.value, as: this.#as.value, all: this.#all.checked };
  }

  load(fields: Fields | null): void {
    this.#paths.value = textOf(fields, "path").slice(0, 4000);
    choose(this.#profile, textOf(fields, "profile"), "default");
    this.#wantedPurpose = textOf(fields, "purpose");
    choose(this.#purpose, this.#wantedPurpose, "");
    this.#as.value = textOf(fields, "as").slice(0, 1000);
    this.#all.checked = fields?.["all"] === true;
    this.#refresh();
  }

  command(): string {
    const options: [string, string][] = names(this.#as.value).map((name) => ["--as", name]);
    if (!options.length && this.#purpose.value) options.push(["--purpose", this.#purpose.value]);
    for (const path of this.#pathList) options.push(["--path", path]);
    if (this.#profile.value !== "default") options.push(["--profile", this.#profile.value]);
    const all = !names(this.#as.value).length && this.#all.checked ? " --all" : "";
    return `${command("matrix", options, [])}${all} robots.txt`;
  }

  downloads(): [string, () => void][] {
    return [["Download robots.txt", () => this.edit.save()]];
  }
}
