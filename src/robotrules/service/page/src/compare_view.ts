/** Compare: two files, and what changes from one to the other for all possible URLs. */

import { Latest, errorWords, post, showError } from "./api";
import { command, names } from "./command";
import { acceptFiles, announce, byId, count, debounce, download, fill, h, scrolling } from "./dom";
import type { EditView } from "./edit_view";
import { RobotsEditor, readText } from "./editor";
import { EXAMPLE, EXAMPLE_BEFORE } from "./example";
import type { Fields } from "./share";
import { UrlField } from "./url_lists";
import { choose, textOf, type ViewPart } from "./views";
import { profileHint, recordName, shorten, verdictMark } from "./words";

interface Side {
  allowed: boolean;
  reason: string;
  rule: { key: string; pattern: string; line: number } | null;
}

interface Region {
  patterns: string[];
  witness: { path: string; url: string };
  old: Side;
  new: Side;
  unchanged: { pattern: string }[];
  /** False: there are more exceptions than are listed. */
  unchanged_complete?: boolean;
}

interface Change {
  crawlers: { name: string; purposes: string[] }[];
  equal: boolean | null;
  complete: boolean;
  regions: Region[];
}

interface Statement {
  record: string;
  crawlers: { name: string }[];
  removed: { text: string; line: number }[];
  added: { text: string; line: number }[];
}

interface Difference {
  equal: boolean | null;
  complete: boolean;
  changes: Change[];
  statements: Statement[];
  impact: Impact | null;
}

interface Impact {
  urls: number;
  changed: number;
  crawlers: {
    crawlers: string;
    newly_disallowed: number;
    newly_allowed: number;
    newly_disallowed_examples: string[];
    newly_allowed_examples: string[];
  }[];
}

const MAX_CHANGES = 60;
const MAX_REGIONS = 40;
const MAX_EXCEPTIONS = 6;

export class CompareView implements ViewPart {
  readonly #old: RobotsEditor;
  readonly #new: RobotsEditor;
  readonly #as = byId<HTMLInputElement>("compare-as");
  readonly #profile = byId<HTMLSelectElement>("compare-profile");
  readonly #urls: UrlField;
  readonly #place = byId("differences");
  readonly #latest = new Latest();
  readonly #soon = debounce(300, () => void this.#compare());
  #visible = false;
  #stale = true;

  constructor(
    edit: EditView,
    private readonly changed: () => void,
  ) {
    const make = (id: string, label: string) =>
      new RobotsEditor({
        place: byId(id),
        label,
        profile: () => this.#profile?.value ?? "default",
        changed: () => {
          byId(`${id}-error`).hidden = true;
          this.#refresh();
        },
        assisted: true,
      });
    this.#old = make("before", "robots.txt before");
    this.#new = make("after", "robots.txt after");
    this.#urls = new UrlField(byId<HTMLTextAreaElement>("compare-urls"), byId<HTMLInputElement>("open-compare-urls"), byId("compare-urls-status"), () => this.#refresh());
    this.#as.addEventListener("input", () => this.#refresh());
    this.#profile.addEventListener("change", () => this.#refresh());
    byId("before-from-editor").addEventListener("click", () => this.#old.setText(edit.editor.text, false, edit.editor.remark));
    byId("after-from-editor").addEventListener("click", () => this.#new.setText(edit.editor.text, false, edit.editor.remark));
    byId("swap").addEventListener("click", () => {
      const { text, remark } = this.#old;
      this.#old.setText(this.#new.text, false, this.#new.remark);
      this.#new.setText(text, false, remark);
    });
    for (const [id, editor] of [["before", this.#old], ["after", this.#new]] as const) {
      acceptFiles(byId(id), byId<HTMLInputElement>(`open-${id}`), (file) => {
        readText(file).then(
          ({ text, remark }) => editor.setText(text, false, remark),
          (error: unknown) => {
            const place = byId(`${id}-error`);
            place.textContent = errorWords(error as Error);
            place.hidden = false;
          },
        );
      });
    }
  }

  #refresh(): void {
    byId("compare-profile-hint").textContent = profileHint(this.#profile?.value ?? "default");
    this.#stale = true;
    this.changed();
    this.#drawRemarks();
    if (this.#visible && !byId("view-compare").hidden) this.#soon();
  }

  /** What got lost when a file was opened. */
  #drawRemarks(): void {
    for (const [id, editor] of [["before", this.#old], ["after", this.#new]] as const) {
      const remark = editor?.remark ?? "";
      byId(`${id}-status`).textContent = remark;
      byId(`${id}-status`).hidden = !remark;
    }
  }

  show(): void {
    this.#visible = true;
    this.#old.view.requestMeasure();
    this.#new.view.requestMeasure();
    if (this.#stale) this.#soon();
  }

  async #compare(): Promise<void> {
    this.#stale = false;
    if (!this.#old.doc.length && !this.#new.doc.length) {
      this.#latest.stop();
      fill(this.#place, h("p", { class: "hint" }, "Open, paste or take over two files."));
      return;
    }
    await this.#latest.run(
      async (signal) => {
        const urls = this.#urls.urls;
        const tokens = names(this.#as.value);
        const body = {
          old: this.#old.text,
          new: this.#new.text,
          profile: this.#profile.value,
          ...(tokens.length ? { as: tokens } : {}),
          ...(urls.length ? { urls } : {}),
        };
        this.#draw(await post<Difference>("v1/diff", body, signal));
      },
      (error) => {
        this.#stale = true;
        showError(this.#place, error, () => this.#refresh());
      },
    );
  }

  #draw(found: Difference): void {
    const changes = found.changes.filter((change) => change.equal !== true);
    const nothing = !changes.length && !found.statements.length;
    const heading = nothing
      ? found.complete ? "Both files mean the same to every crawler." : "No difference was found, but the comparison stopped early."
      : changes.length
        ? `The answer changes for ${count(changes.length, "group of crawlers", "groups of crawlers")}`
        : "The same URLs are blocked";
    announce(`${heading}.`.replace("..", "."));
    fill(
      this.#place,
      h("div", { class: "card change" }, h("h3", {}, heading), !found.complete && !nothing && h("p", { class: "hint" }, "The comparison stopped early; there may be more differences.")),
      found.impact && this.#impact(found.impact),
      ...changes.slice(0, MAX_CHANGES).map((change) => this.#change(change)),
      changes.length > MAX_CHANGES && h("p", { class: "hint" }, `and ${count(changes.length - MAX_CHANGES, "more", "more")}`),
      found.statements.length > 0 && this.#statements(found.statements),
    );
  }

  #change(change: Change): HTMLElement {
    const who = change.crawlers.map((crawler) => [crawler.name, ...crawler.purposes.map((purpose) => `(purpose ${purpose})`)].join(" "));
    const title = shorten(who.slice(0, 12).join(", ") + (who.length > 12 ? ` and ${who.length - 12} more` : ""), 400);
    return h(
      "section",
      { class: "card change" },
      h("h3", {}, title.charAt(0).toUpperCase() + title.slice(1)),
      ...change.regions.slice(0, MAX_REGIONS).map((region) => this.#region(region)),
      change.regions.length > MAX_REGIONS && h("p", { class: "hint" }, `and ${count(change.regions.length - MAX_REGIONS, "more region")}`),
      !change.complete && h("p", { class: "hint" }, "The comparison stopped early; there may be more differences."),
    );
  }

  #region(region: Region): HTMLElement {
    const patterns = region.patterns.slice(0, 12).flatMap((pattern, index) => [index ? ", " : "", h("code", {}, shorten(pattern, 200))]);
    const except = region.unchanged.slice(0, MAX_EXCEPTIONS).flatMap((part, index) => [index ? ", " : " except ", h("code", {}, shorten(part.pattern, 200))]);
    const isCut = region.unchanged_complete === false || region.unchanged.length > MAX_EXCEPTIONS;
    const others = isCut && (except.length ? " and others" : " except some");
    return h(
      "div",
      { class: `region ${region.new.allowed ? "opens" : "closes"}` },
      h("p", { class: "patterns" }, "URLs that match ", ...patterns, ...except, others),
      h("p", { class: "arrow" },
        h("span", {}, verdictMark(region.old.allowed), " ", this.#rule(region.old, this.#old)),
        h("span", { "aria-hidden": "true" }, "→"), h("span", { class: "hidden" }, "becomes"),
        h("span", {}, verdictMark(region.new.allowed), " ", this.#rule(region.new, this.#new))),
      h("p", { class: "hint" }, "Example: ", h("code", {}, shorten(region.witness.url, 300))),
    );
  }

  #rule(side: Side, editor: RobotsEditor): HTMLElement {
    const { rule } = side;
    if (!rule) return h("span", { class: "hint" }, "no rule matches");
    return h("button", { type: "button", class: "link", onclick: () => editor.reveal(rule.line, true) }, `line ${rule.line}: ${recordName(rule.key)}: ${shorten(rule.pattern, 100)}`);
  }

  #statements(statements: Statement[]): HTMLElement {
    return h("section", { class: "card change" }, h("h3", {}, "Other records"),
      h("ul", { class: "plain-list" }, statements.slice(0, 100).map((statement) =>
        h("li", {}, h("strong", {}, statement.record), statement.crawlers.length ? ` (${shorten(statement.crawlers.map((crawler) => crawler.name).join(", "), 200)})` : "",
          ...statement.removed.map((one) => h("div", {}, "removed: ", h("code", {}, shorten(one.text, 300)))),
          ...statement.added.map((one) => h("div", {}, "added: ", h("code", {}, shorten(one.text, 300))))))));
  }

  #impact(impact: Impact): HTMLElement {
    const examples = (urls: string[]) => urls.slice(0, 3).map((url) => h("div", { class: "hint" }, h("code", {}, shorten(url, 200))));
    return h("section", { class: "card change" },
      h("h3", {}, `The answer changes for ${count(impact.changed, "URL")} of ${impact.urls} in your list`),
      impact.crawlers.length > 0 && scrolling("Changes in the list", h("table", {},
        h("thead", {}, h("tr", {}, ["Crawlers", "Newly blocked", "Newly allowed"].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, impact.crawlers.slice(0, 100).map((row) => h("tr", {},
          h("th", { scope: "row" }, shorten(row.crawlers, 200)),
          h("td", {}, String(row.newly_disallowed), examples(row.newly_disallowed_examples)),
          h("td", {}, String(row.newly_allowed), examples(row.newly_allowed_examples))))))));
  }

  fields(): Fields {
    return {
      before: this.#old.text,
      after: this.#new.text,
      as: this.#as.value,
      profile: this.#profile.value === "default" ? "" : this.#profile.value,
      urls: this.#urls.area.value,
    };
  }

  /** Whether both files are still those of the first start. */
  get isExample(): boolean {
    return this.#old.text === EXAMPLE_BEFORE && this.#new.text === EXAMPLE && !this.#urls.area.value;
  }

  clear(): void {
    this.load({}, true);
  }

  load(fields: Fields | null, undoable = false): void {
    this.#old.setText(fields ? textOf(fields, "before") : EXAMPLE_BEFORE, !undoable);
    this.#new.setText(fields ? textOf(fields, "after") : EXAMPLE, !undoable);
    this.#as.value = textOf(fields, "as").slice(0, 1000);
    choose(this.#profile, textOf(fields, "profile"), "default");
    this.#urls.text = textOf(fields, "urls");
    byId<HTMLDetailsElement>("compare-urls-details").open = Boolean(this.#urls.area.value);
    this.#refresh();
  }

  command(): string {
    const options = names(this.#as.value).map((name): [string, string] => ["--as", name]);
    if (this.#profile.value !== "default") options.push(["--profile", this.#profile.value]);
    if (this.#urls.urls.length) options.push(["--urls", "urls.txt"]);
    return command("diff", options, ["before.txt", "after.txt"]);
  }

  downloads(): [string, () => void][] {
    const files: [string, () => void][] = [
      ["Download before.txt", () => download("before.txt", this.#old.text)],
      ["Download after.txt", () => download("after.txt", this.#new.text)],
    ];
    if (this.#urls.urls.length) files.push(["Download urls.txt", () => download("urls.txt", `${this.#urls.urls.join("\n")}\n`)]);
    return files;
  }
}
