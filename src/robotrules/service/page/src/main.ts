/** The page: its views as tabs, the state in the fragment of the URL, the theme, and sharing. */

import { initTokenForm } from "./api";
import { CompareView } from "./compare_view";
import { loadCrawlers } from "./crawlers";
import { byId, copyButton, count, debounce, fill, h } from "./dom";
import { EditView } from "./edit_view";
import { LiveView } from "./live_view";
import { PageView } from "./page_view";
import { VIEWS, readFragment, writeFragment, type View } from "./share";
import type { ViewPart } from "./views";
import { WhoView } from "./who_view";
import { WriteView } from "./write_view";

const TITLES: Record<View, string> = {
  edit: "Edit and ask",
  compare: "Compare",
  who: "Who may fetch what",
  page: "Guidance for a page",
  write: "Write",
  live: "Live",
};
// Longer states are only in the link of Share: a long address slows the browser down at each key.
const MAX_ADDRESS = 8_000;
const LONG_LINK = 8_000;
const THEME = "robotrules-theme";

let current: View = "edit";
let ready = false;

const edit = new EditView(
  () => saveSoon(),
  () => {
    who.fileChanged();
    page.fileChanged();
    saveSoon();
  },
);
const openInEditor = (text: string) => {
  edit.open(text);
  activate("edit");
  byId("tab-edit").focus();
};
const who = new WhoView(edit, () => saveSoon(), (line) => {
  activate("edit");
  edit.editor.reveal(line, true);
});
const page = new PageView(edit, () => saveSoon());
const parts: Record<View, ViewPart> = {
  edit,
  compare: new CompareView(edit, () => saveSoon()),
  who,
  page,
  write: new WriteView(openInEditor, () => saveSoon()),
  live: new LiveView(openInEditor, () => saveSoon()),
};

/** The state of a view; views that read the file of the editor share it. */
function stateOf(view: View) {
  const own = parts[view].fields();
  return view === "who" || view === "page" ? { robots: edit.editor.text, ...own } : own;
}

async function saveAddress(): Promise<void> {
  const view = current;
  const fragment = await writeFragment(view, stateOf(view));
  if (view !== current) return;
  const address = fragment.length > MAX_ADDRESS ? `#${view}` : fragment;
  if (location.hash !== address) window.history.replaceState(null, "", address);
}

const saveSoonTimer = debounce(400, () => void saveAddress());

function saveSoon(): void {
  if (ready) saveSoonTimer();
}

function activate(view: View): void {
  current = view;
  for (const name of VIEWS) {
    const tab = byId(`tab-${name}`);
    const chosen = name === view;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(`view-${name}`).hidden = !chosen;
  }
  document.title = `${TITLES[view]} – robotrules`;
  parts[view].show();
  saveSoon();
}

/** Tabs as in the ARIA Authoring Practices: arrows move and activate, Tab leaves. */
function initTabs(): void {
  const tabs = VIEWS.map((name) => byId(`tab-${name}`));
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => activate(VIEWS[index] ?? "edit"));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = (to + tabs.length) % tabs.length;
      tabs[next]?.focus();
      activate(VIEWS[next] ?? "edit");
    });
  });
}

async function loadFragment(first: boolean): Promise<void> {
  const { view, fields, error } = await readFragment(location.hash);
  const place = byId("link-error");
  place.textContent = error;
  place.hidden = !error;
  if (fields) {
    if (view === "who" || view === "page") {
      if (typeof fields["robots"] === "string") edit.load({ ...edit.fields(), robots: fields["robots"] });
      else if (first) edit.load(null);
    } else if (first && view !== "edit") edit.load(null);
    parts[view].load(fields);
  } else if (first) edit.load(null);
  if (first) {
    for (const name of VIEWS) if (name !== "edit" && !(fields && name === view)) parts[name].load(null);
  }
  activate(view);
}

function initTheme(): void {
  const field = byId<HTMLSelectElement>("theme");
  const apply = (theme: string) => {
    if (theme) document.documentElement.dataset["theme"] = theme;
    else delete document.documentElement.dataset["theme"];
  };
  try {
    const kept = localStorage.getItem(THEME) ?? "";
    field.value = ["light", "dark"].includes(kept) ? kept : "";
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  apply(field.value);
  field.addEventListener("change", () => {
    apply(field.value);
    try {
      localStorage.setItem(THEME, field.value);
    } catch {
      // As above.
    }
  });
}

function initShare(): void {
  const dialog = byId<HTMLDialogElement>("share-dialog");
  const link = byId<HTMLInputElement>("share-link");
  const lines = byId<HTMLTextAreaElement>("share-command");
  byId("share-copy").append(copyButton("Copy the link", () => link.value));
  byId("command-copy").append(copyButton("Copy the command", () => lines.value));
  byId("share-close").addEventListener("click", () => dialog.close());
  byId("share").addEventListener("click", () => {
    void writeFragment(current, stateOf(current)).then((fragment) => {
      link.value = new URL(fragment, document.baseURI).href;
      byId("share-hint").textContent =
        "The link contains the text itself, compressed, behind the # that browsers do not send: nothing is stored on a server." +
        (link.value.length > LONG_LINK ? ` It has ${count(link.value.length, "character")}, which some programs cut: send the file instead.` : "");
      lines.value = parts[current].command();
      lines.rows = Math.min(Math.max(lines.value.split("\n").length, 2), 10);
      fill(byId("share-downloads"), h("div", { class: "bar" }, parts[current].downloads().map(([label, save]) => h("button", { type: "button", class: "small", onclick: save }, label))));
      dialog.showModal();
    });
  });
}

initTheme();
initTokenForm();
initTabs();
initShare();
void loadCrawlers();
void loadFragment(true).then(() => {
  ready = true;
});
window.addEventListener("hashchange", () => void loadFragment(false));
