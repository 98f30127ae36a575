/** Write: a form that says what crawlers are asked for, and the robots.txt that says so. */

import { ApiError, Latest, post, showError } from "./api";
import { lines, names } from "./command";
import { findCrawler, purposeTitle, usedPurposes, whenCrawlersAreKnown } from "./crawlers";
import { announce, byId, copyButton, count, debounce, download, fill, h } from "./dom";
import type { Fields } from "./share";
import { textOf, type ViewPart } from "./views";
import { noteWords, shorten, visible } from "./words";

interface Proof {
  statement: string;
  holds: boolean | null;
  witness: string | null;
  profile: string | null;
}

interface Written {
  body: string;
  toml: string;
  fields: { paths: string[]; headers: [string, string][]; html: string }[];
  notes: { level: string; message: string; line?: number | null }[];
  proved: boolean | null;
  proofs: Proof[];
  proofs_left_out: number;
  hints: string[];
}

/** What the form holds; a link has it as JSON, so every part is checked when it is read. */
interface Policy {
  purposes: Record<string, string>;
  use: Record<string, string>;
  disallow: string;
  allow: string;
  delay: string;
  sitemaps: string;
  comment: string;
  crawlers: Entry[];
  tagPaths: string;
  tagRules: string;
}

interface Entry {
  crawlers: string;
  access: string;
  disallow: string;
  allow: string;
  delay: string;
}

type EntryFields = Map<keyof Entry, HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>;

const EMPTY: Policy = {
  purposes: {}, use: {}, disallow: "", allow: "", delay: "", sitemaps: "", comment: "", crawlers: [], tagPaths: "", tagRules: "",
};
const FIRST: Policy = {
  ...EMPTY,
  purposes: { "ai-training": "block" },
  use: { "train-ai": "no" },
};
const NO_ENTRY: Entry = { crawlers: "", access: "", disallow: "", allow: "", delay: "" };
const MAX_ENTRIES = 50;
const MAX_PROOFS = 300;
// First in the form; the others are behind a click.
const MAIN_PURPOSES = ["ai-training", "ai-search", "search", "seo", "archive"];
const USES: [string, string][] = [["train-ai", "Train AI with the content"], ["search", "Use the content in search"]];

export class WriteView implements ViewPart {
  readonly #form = byId<HTMLFormElement>("policy-form");
  readonly #place = byId("written");
  readonly #purposes = h("div", { class: "fields" });
  readonly #morePurposes = h("div", { class: "fields" });
  readonly #entries = h("div", { class: "stack" });
  readonly #uses = new Map<string, HTMLSelectElement>();
  readonly #purposeFields = new Map<string, HTMLSelectElement>();
  readonly #entryFields: EntryFields[] = [];
  readonly #addButton = h("button", { type: "button", class: "small", onclick: () => this.#add(null, true) }, "Add crawlers");
  readonly #texts = new Map<string, HTMLInputElement | HTMLTextAreaElement>();
  readonly #latest = new Latest();
  readonly #soon = debounce(300, () => void this.#write());
  #policy: Policy = EMPTY;
  #result: Written | null = null;
  #stale = true;

  constructor(
    private readonly open: (text: string) => void,
    private readonly changed: () => void,
  ) {
    this.#build();
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#form.addEventListener("input", () => this.#refresh());
    whenCrawlersAreKnown(() => {
      const purposes = usedPurposes();
      for (const purpose of [...MAIN_PURPOSES.filter((one) => purposes.includes(one)), ...purposes.filter((one) => !MAIN_PURPOSES.includes(one))]) {
        const field = this.#choice(purposeTitle(purpose), [["", "Not said"], ["allow", "Allow"], ["block", "Block"]], this.#policy.purposes[purpose] ?? "");
        this.#purposeFields.set(purpose, field.select);
        (MAIN_PURPOSES.includes(purpose) ? this.#purposes : this.#morePurposes).append(field.element);
      }
      if (!byId("view-write").hidden) this.#refresh();
    });
  }

  #choice(label: string, options: [string, string][], value: string) {
    const id = freshId();
    const select = h("select", { id }, options.map(([name, words]) => h("option", { value: name }, words)));
    select.value = options.some(([name]) => name === value) ? value : "";
    return { select, element: h("div", { class: "field" }, h("label", { for: id }, label), select) };
  }

  #text(name: keyof Policy, label: string, hint: string, rows = 3): HTMLElement {
    const id = freshId();
    const field = rows > 1 ? h("textarea", { id, rows, spellcheck: "false", wrap: "off" }) : h("input", { id, autocomplete: "off", spellcheck: "false" });
    if (hint) field.setAttribute("aria-describedby", `${id}-hint`);
    this.#texts.set(name, field);
    return h("div", { class: "field" }, h("label", { for: id }, label), field, hint && h("p", { class: "hint", id: `${id}-hint` }, hint));
  }

  #build(): void {
    const uses = h("div", { class: "fields" }, USES.map(([name, label]) => {
      const field = this.#choice(label, [["", "Not said"], ["yes", "Yes"], ["no", "No"]], "");
      this.#uses.set(name, field.select);
      return field.element;
    }));
    fill(
      this.#form,
      h("fieldset", { class: "stack" }, h("legend", {}, "Well-known crawlers, by what they collect for"), this.#purposes,
        h("details", {}, h("summary", {}, "More purposes"), this.#morePurposes)),
      h("fieldset", { class: "stack" }, h("legend", {}, "Preferences for the use of content (Content-Usage)"), uses,
        h("p", { class: "hint" }, "A draft: few crawlers read it yet")),
      h("fieldset", { class: "stack" }, h("legend", {}, "All crawlers"),
        this.#text("disallow", "Blocked paths", "One path for each line. A path covers all that starts with it; * matches anything, $ the end."),
        this.#text("allow", "Allowed paths inside them", "", 2)),
      h("fieldset", { class: "stack" }, h("legend", {}, "Crawlers by name"), this.#entries, this.#addButton),
      this.#text("sitemaps", "Sitemaps", "", 2),
      h("details", {}, h("summary", {}, "Crawl-delay, comment, and tags for headers"), h("div", { class: "stack" },
        this.#text("delay", "Seconds between requests", "Crawl-delay; many crawlers ignore it.", 1),
        this.#text("comment", "Comment at the top of the file", "", 2),
        h("div", { class: "fields" },
          this.#text("tagPaths", "Paths with tag rules", "Sent in header fields, not in the robots.txt.", 2),
          this.#text("tagRules", "Tag rules", "Such as noindex, max-snippet: 50", 2)))),
    );
  }

  #add(entry: Entry | null, focus: boolean): void {
    if (this.#entryFields.length >= MAX_ENTRIES) return;
    const fields: EntryFields = new Map();
    const id = freshId();
    const access = this.#choice("Access", [["", "As all, and these paths"], ["allow", "Allow all but these paths"], ["block", "Block all but these paths"]], entry?.access ?? "");
    fields.set("access", access.select);
    const make = (name: keyof Entry, label: string, area: boolean) => {
      const own = `${id}-${name}`;
      const field = area ? h("textarea", { id: own, rows: 2, spellcheck: "false", wrap: "off" }) : h("input", { id: own, autocomplete: "off", spellcheck: "false", list: name === "crawlers" ? "crawlers" : undefined });
      field.value = entry?.[name] ?? "";
      fields.set(name, field);
      return h("div", { class: "field" }, h("label", { for: own }, label), field);
    };
    this.#entryFields.push(fields);
    const element = h("div", { class: "question stack", role: "group" },
      h("div", { class: "fields" }, make("crawlers", "Names", false), access.element),
      h("div", { class: "fields" }, make("disallow", "Blocked paths", true), make("allow", "Allowed paths", true)),
      h("div", { class: "bar" }, make("delay", "Seconds between requests", false), h("span", { class: "grow" }),
        h("button", { type: "button", class: "small remove", onclick: () => this.#remove(fields, element) }, "Remove")));
    this.#entries.append(element);
    this.#numberEntries();
    if (focus) fields.get("crawlers")?.focus();
  }

  #remove(fields: EntryFields, element: HTMLElement): void {
    const at = this.#entryFields.indexOf(fields);
    this.#entryFields.splice(at, 1);
    element.remove();
    this.#numberEntries();
    announce("Removed.");
    const next = this.#entryFields[Math.min(at, this.#entryFields.length - 1)];
    (next?.get("crawlers") ?? this.#addButton).focus();
    this.#refresh();
  }

  #numberEntries(): void {
    [...this.#entries.children].forEach((element, index) => {
      element.setAttribute("aria-label", `Crawlers by name, ${index + 1}`);
      element.querySelector(".remove")?.setAttribute("aria-label", `Remove crawlers ${index + 1}`);
    });
  }

  #refresh(): void {
    this.#stale = true;
    this.#policy = this.#read();
    this.changed();
    if (!byId("view-write").hidden) this.#soon();
  }

  #read(): Policy {
    const choices = (fields: Map<string, HTMLSelectElement>, before: Record<string, string>) =>
      fields.size ? Object.fromEntries([...fields].filter(([, field]) => field.value).map(([name, field]) => [name, field.value])) : before;
    const text = (name: string) => this.#texts.get(name)?.value ?? "";
    return {
      purposes: choices(this.#purposeFields, this.#policy.purposes),
      use: choices(this.#uses, {}),
      disallow: text("disallow"),
      allow: text("allow"),
      delay: text("delay"),
      sitemaps: text("sitemaps"),
      comment: text("comment"),
      tagPaths: text("tagPaths"),
      tagRules: text("tagRules"),
      crawlers: this.#entryFields.map((fields) => {
        const value = (name: keyof Entry) => fields.get(name)?.value ?? "";
        return { crawlers: value("crawlers"), access: value("access"), disallow: value("disallow"), allow: value("allow"), delay: value("delay") };
      }),
    };
  }

  show(): void {
    if (this.#stale) this.#soon();
  }

  #request(): object {
    const policy = this.#policy;
    const delay = (text: string) => (text.trim() ? { crawl_delay: Number(text.trim().replace(",", ".")) } : {});
    const tagPaths = lines(policy.tagPaths);
    const tagRules = policy.tagRules.split(/[\n,]/).map((rule) => rule.trim()).filter(Boolean);
    return {
      purposes: policy.purposes,
      use: Object.fromEntries(Object.entries(policy.use).map(([name, value]) => [name, value === "yes"])),
      disallow: lines(policy.disallow),
      allow: lines(policy.allow),
      sitemaps: lines(policy.sitemaps),
      comment: policy.comment.trim(),
      ...delay(policy.delay),
      crawlers: policy.crawlers.filter((entry) => names(entry.crawlers).length).map((entry) => ({
        crawlers: names(entry.crawlers),
        access: entry.access || null,
        disallow: lines(entry.disallow),
        allow: lines(entry.allow),
        ...delay(entry.delay),
      })),
      tags: tagPaths.length && tagRules.length ? [{ paths: tagPaths, rules: tagRules }] : [],
    };
  }

  async #write(): Promise<void> {
    this.#stale = false;
    await this.#latest.run(
      async (signal) => {
        for (const text of [this.#policy.delay, ...this.#policy.crawlers.map((entry) => entry.delay)]) {
          if (text.trim() && !/^\d+([.,]\d+)?$/.test(text.trim())) throw new ApiError(422, "invalid-request", `Seconds between requests: ${shorten(text, 40)} is not a number.`);
        }
        const found = await post<Written>("v1/write", { form: this.#request() }, signal);
        this.#result = found;
        this.#draw(found);
      },
      (error) => {
        this.#stale = true;
        this.#result = null;
        showError(this.#place, error, () => this.#refresh());
      },
    );
  }

  #draw(found: Written): void {
    const { body, toml } = found;
    const heading = found.proved === true ? "Proved: the file says what the form says" : found.proved === false ? "The file does not say all of it" : "Not all of it was decided";
    const doubtful = found.proofs.filter((proof) => proof.holds !== true);
    const proofs = [...doubtful, ...found.proofs.filter((proof) => proof.holds === true)];
    const { unblocked, nameable } = this.#unblocked(found.hints);
    const are = unblocked.length === 1 ? "is" : "are";
    const exception = unblocked.length > 0 && `${count(unblocked.length, "crawler")} with a blocked purpose ${are} not blocked: ${unblocked.join(", ")}`;
    const title = !exception ? heading : `${found.proved === true ? "The file says what the form says" : heading}, but ${exception}`;
    announce(`${title}.`);
    // What was opened stays open.
    const isOpen = (name: string) => this.#place.querySelector<HTMLDetailsElement>(`details.${name}`)?.open;
    const [proofsOpen, policyOpen] = [isOpen("proofs"), isOpen("policy")];
    const copySource = (name: string) => () => this.#place.querySelector<HTMLElement>(`pre.${name}`) ?? this.#place;
    const left = found.proofs_left_out + Math.max(proofs.length - MAX_PROOFS, 0);
    fill(
      this.#place,
      h("div", { class: "bar" }, h("h3", {}, "robots.txt"), h("span", { class: "grow" }),
        h("button", { type: "button", class: "small strong", onclick: () => this.open(body) }, "Open in the editor"),
        copyButton("Copy", "Copy the robots.txt", () => body, copySource("written-text")),
        h("button", { type: "button", class: "small", "aria-label": "Download robots.txt", onclick: () => download("robots.txt", body) }, "Download")),
      h("pre", { class: "file-text written-text", tabindex: "0", role: "region", "aria-label": "The written robots.txt" }, body || "(empty: nothing is asked of crawlers)"),
      h("h3", {}, h("span", { class: `verdict ${found.proved === true ? "allowed" : found.proved === false ? "blocked" : "unknown"}` },
        h("span", { "aria-hidden": "true" }, found.proved === true ? "✓" : found.proved === false ? "✕" : "?")), ` ${title}`),
      nameable.length > 0 && h("div", { class: "exception" }, h("button", { type: "button", class: "small", onclick: () => this.#block(nameable) }, nameable.length > 1 ? "Block these, too" : `Block ${nameable.join("")}, too`)),
      h("details", { class: "proofs", open: proofsOpen ?? doubtful.length > 0 }, h("summary", {}, `${count(found.proofs.length, "statement")}, each for default, strict and Google's parsing`),
        h("ul", { class: "plain-list" }, proofs.slice(0, MAX_PROOFS).map((proof) => h("li", {},
          h("span", { class: `verdict ${proof.holds === true ? "allowed" : proof.holds === false ? "blocked" : "unknown"}` },
            h("span", { "aria-hidden": "true" }, proof.holds === true ? "✓" : proof.holds === false ? "✕" : "?"),
            h("span", { class: "hidden" }, proof.holds === true ? "Proved:" : proof.holds === false ? "Does not hold:" : "Not decided:")),
          ` ${shorten(proof.statement, 500)}`, proof.witness && h("span", { class: "hint" }, ` (not for ${shorten(proof.witness, 200)})`)))),
        left > 0 && h("p", { class: "hint" }, `and ${count(left, "more", "more")}`)),
      found.notes.length > 0 && h("h3", {}, "Notes"),
      found.notes.length > 0 && h("ul", { class: "plain-list" }, found.notes.slice(0, 100).map((note) =>
        h("li", {}, h("span", { class: `level ${note.level}-level` }, note.level), ` ${noteWords(note.message)}`))),
      found.hints.length > 0 && h("h3", {}, "Good to know"),
      found.hints.length > 0 && h("ul", { class: "plain-list" }, found.hints.slice(0, 100).map((hint) => h("li", {}, visible(hint.replaceAll("`", ""))))),
      ...(found.fields.length ? [h("h3", {}, "Header fields and elements for the tag rules"), ...found.fields.map((table) =>
        h("pre", { class: "file-text", tabindex: "0", role: "region", "aria-label": "Tag rules" }, `# ${table.paths.join(" ")}\n${table.headers.map((pair) => pair.join(": ")).join("\n")}\n\n${table.html}`))] : []),
      h("details", { class: "policy", open: policyOpen ?? false }, h("summary", {}, "The policy as a file for robotrules write"),
        h("div", { class: "bar" }, copyButton("Copy", "Copy the policy", () => toml, copySource("policy-text")), h("button", { type: "button", class: "small", onclick: () => download("policy.toml", toml) }, "Download policy.toml")),
        h("pre", { class: "file-text policy-text", tabindex: "0", role: "region", "aria-label": "The policy" }, toml)),
      h("p", { class: "hint" }, "A robots.txt is a request, and it publishes the paths that it lists: protect private content with authentication."),
    );
  }

  /** Crawlers with a blocked purpose that the file does not block, by the hints of the service, and those a group can name. */
  #unblocked(hints: string[]): { unblocked: string[]; nameable: string[] } {
    const isBlocked = (purpose: string) => this.#policy.purposes[purpose] === "block";
    const found = (pattern: RegExp) =>
      hints.map((hint) => pattern.exec(hint)?.[1] ?? "").filter((name) => name && findCrawler(name)?.purposes?.some(isBlocked));
    const nameable = found(/^(.+?) is allowed, because it has the purpose /);
    return { unblocked: [...nameable, ...found(/^(.+?) is left out, because /)], nameable };
  }

  /** Add crawlers by name, all paths blocked. */
  #block(crawlers: string[]): void {
    this.#add({ ...NO_ENTRY, crawlers: crawlers.join(", "), access: "block" }, true);
    this.#refresh();
  }

  fields(): Fields {
    return { policy: JSON.stringify(this.#policy) };
  }

  /** Whether the form is still that of the first start. */
  get isExample(): boolean {
    return JSON.stringify(readPolicy(JSON.stringify(this.#policy))) === JSON.stringify(readPolicy(JSON.stringify(FIRST)));
  }

  clear(): void {
    this.load({ policy: JSON.stringify(EMPTY) });
  }

  load(fields: Fields | null): void {
    this.#policy = fields ? readPolicy(textOf(fields, "policy")) : FIRST;
    for (const [name, field] of this.#texts) {
      const value = this.#policy[name as keyof Policy];
      field.value = typeof value === "string" ? value : "";
    }
    for (const [name, field] of this.#uses) field.value = this.#policy.use[name] ?? "";
    for (const [name, field] of this.#purposeFields) field.value = this.#policy.purposes[name] ?? "";
    this.#entryFields.length = 0;
    fill(this.#entries);
    for (const entry of this.#policy.crawlers) this.#add(entry, false);
    this.#stale = true;
    if (!byId("view-write").hidden) this.#soon();
  }

  command(): string {
    return "robotrules write policy.toml";
  }

  downloads(): [string, () => void][] {
    const found = this.#result;
    return found ? [["Download policy.toml", () => download("policy.toml", found.toml)], ["Download robots.txt", () => download("robots.txt", found.body)]] : [];
  }
}

let lastId = 0;

function freshId(): string {
  return `field-${++lastId}`;
}

/** Read the form of a link: unknown members are left out, and wrong types are empty. */
function readPolicy(json: string): Policy {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return EMPTY;
  }
  const object = (part: unknown) => (typeof part === "object" && part !== null ? (part as Record<string, unknown>) : {});
  const given = object(value);
  const text = (part: unknown) => (typeof part === "string" ? part.slice(0, 100_000) : "");
  const texts = (part: unknown, allowed: string[]) =>
    Object.fromEntries(Object.entries(object(part)).filter((entry): entry is [string, string] => allowed.includes(entry[1] as string)).slice(0, 50));
  const crawlers = Array.isArray(given["crawlers"]) ? given["crawlers"].slice(0, MAX_ENTRIES) : [];
  return {
    purposes: texts(given["purposes"], ["allow", "block"]),
    use: texts(given["use"], ["yes", "no"]),
    disallow: text(given["disallow"]),
    allow: text(given["allow"]),
    delay: text(given["delay"]),
    sitemaps: text(given["sitemaps"]),
    comment: text(given["comment"]),
    tagPaths: text(given["tagPaths"]),
    tagRules: text(given["tagRules"]),
    crawlers: crawlers.map((entry: unknown) => {
      const part = object(entry);
      return { crawlers: text(part["crawlers"]), access: text(part["access"]), disallow: text(part["disallow"]), allow: text(part["allow"]), delay: text(part["delay"]) };
    }),
  };
}
