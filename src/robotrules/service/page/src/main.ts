/** The page: its views as tabs, the state in the fragment of the URL, the theme, and sharing. */

import { initTokenForm } from "./api";
import { CompareView } from "./compare_view";
import { loadCrawlers } from "./crawlers";
import { byId, copyButton, count, debounce, fill, h, isLoopback } from "./dom";
import { EditView } from "./edit_view";
import { EXAMPLE_URLS } from "./example";
import { LiveView } from "./live_view";
import { PageView } from "./page_view";
import { VIEWS, readFragment, writeFragment, type Fields, type View } from "./share";
import { keepState, readState, type State } from "./tab_state";
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
// Chromium opens addresses of up to 2 MB; other programs less.
const MAX_LINK = 1_000_000;
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
  () => void clearExample(),
);
/** Open the file of another view in the editor; what belongs to the example goes, except in that view. */
const openInEditor = (from: View) => (text: string) => {
  let restore = () => {};
  edit.replace(text, () => restore());
  restore = clearExample(from);
  activate("edit", true);
  // Ctrl+Z works in the editor; on a phone the focus would open the keyboard.
  if (matchMedia("(pointer: coarse)").matches) byId("tab-edit").focus();
  else edit.editor.view.focus();
};
const who = new WhoView(edit, () => saveSoon(), (line) => {
  activate("edit", true);
  edit.editor.reveal(line, true);
});
const page = new PageView(edit, () => saveSoon());
const compare = new CompareView(edit, () => saveSoon());
const write = new WriteView(openInEditor("write"), () => saveSoon());
const parts: Record<View, ViewPart> = {
  edit,
  compare,
  who,
  page,
  write,
  live: new LiveView(openInEditor("live"), () => saveSoon()),
};

/** Empty what is still the example: it says nothing about another file. Return how to bring it back. */
function clearExample(from?: View): () => void {
  const restores: (() => void)[] = [];
  const { urlField } = edit.ask;
  if (urlField.area.value === EXAMPLE_URLS) {
    urlField.replace("", "The URLs of the example were removed.");
    restores.push(() => urlField.replace(EXAMPLE_URLS));
  }
  for (const [name, part] of [["compare", compare], ["page", page], ["write", write]] as const) {
    if (name === from || !part.isExample) continue;
    part.clear();
    restores.push(() => part.load(null, true));
  }
  return () => restores.forEach((restore) => restore());
}

/** The state of a view; views that read the file of the editor share it. */
function stateOf(view: View): Fields {
  const own = parts[view].fields();
  return view === "who" || view === "page" ? { robots: edit.editor.text, ...own } : own;
}

/** Entries of the history that this page made have a number: the one of the link that was opened last. */
let link = openedLink() ?? 0;

function openedLink(): number | undefined {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && "robotrules" in state ? Number(state.robotrules) : undefined;
}

/** What was there when another link was opened in this tab, for Back. */
const replaced = new Map<number, State>();

function wholeState(): State {
  return Object.fromEntries(VIEWS.map((view) => [view, parts[view].fields()])) as State;
}

/** Keep all views in this tab, and the current one in the address. */
function saveTab(): void {
  keepState(wholeState());
}

async function saveAddress(): Promise<void> {
  const view = current;
  const fragment = await writeFragment(view, stateOf(view));
  if (view !== current) return;
  const address = fragment.length > MAX_ADDRESS ? `#${view}` : fragment;
  if (location.hash !== address || openedLink() !== link) window.history.replaceState({ robotrules: link }, "", address);
}

let unsaved = false;
const saveSoonTimer = debounce(400, () => save());

function save(): void {
  unsaved = false;
  saveTab();
  void saveAddress();
}

function saveSoon(): void {
  if (!ready) return;
  unsaved = true;
  saveSoonTimer();
}

/** Show a view; where a person chose it, Back returns to the one before. */
function activate(view: View, chosen = false): void {
  if (chosen && view !== current) {
    if (unsaved) saveTab();
    window.history.pushState({ robotrules: link }, "", `#${view}`);
  }
  current = view;
  for (const name of VIEWS) {
    const tab = byId(`tab-${name}`);
    const isCurrent = name === view;
    tab.setAttribute("aria-selected", String(isCurrent));
    tab.tabIndex = isCurrent ? 0 : -1;
    byId(`view-${name}`).hidden = !isCurrent;
  }
  document.title = `${TITLES[view]} – robotrules`;
  parts[view].show();
  saveSoon();
}

/** Tabs as in the ARIA Authoring Practices: arrows move and activate, Tab leaves. */
function initTabs(): void {
  const tabs = VIEWS.map((name) => byId(`tab-${name}`));
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => activate(VIEWS[index] ?? "edit", true));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = (to + tabs.length) % tabs.length;
      tabs[next]?.focus();
      activate(VIEWS[next] ?? "edit", true);
    });
  });
}

/** Put the fields of a link into its view; texts of the editor before can be undone to. */
function loadLink(view: View, fields: Fields, undoable: boolean): void {
  if (view === "who" || view === "page") {
    if (typeof fields["robots"] === "string") edit.load({ ...edit.fields(), robots: fields["robots"] }, undoable);
  }
  parts[view].load(fields, undoable);
}

async function readAddress() {
  const found = await readFragment(location.hash);
  const place = byId("link-error");
  place.textContent = found.error;
  place.hidden = !found.error;
  return found;
}

async function start(): Promise<void> {
  const { view, fields } = await readAddress();
  const kept = readState();
  for (const name of VIEWS) parts[name].load(kept[name] ?? null);
  // An address that this page wrote has nothing newer than what was kept.
  const isKept = openedLink() !== undefined && kept[view];
  if (fields && !isKept) loadLink(view, fields, Boolean(kept.edit));
  activate(view);
  ready = true;
  saveOpened();
}

/** From now on the state is that of this tab, and not that of the link. */
function saveOpened(): void {
  saveTab();
  window.history.replaceState({ robotrules: link }, "");
  saveSoon();
}

/** Another address in this tab: Back, Forward, or a link. */
async function followAddress(): Promise<void> {
  const opened = openedLink();
  if (opened !== undefined && opened === link) {
    activate(VIEWS.find((view) => location.hash.slice(1).split("/")[0] === view) ?? "edit");
    return;
  }
  const { view, fields } = await readAddress();
  replaced.set(link, wholeState());
  const before = opened === undefined ? undefined : replaced.get(opened);
  link = opened ?? Math.max(link, ...replaced.keys()) + 1;
  if (before) for (const name of VIEWS) parts[name].load(before[name] ?? null, true);
  else if (fields) loadLink(view, fields, true);
  activate(view);
  saveOpened();
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
  byId("share-copy").append(copyButton("Copy the link", "Copy the link", () => link.value, () => link));
  byId("command-copy").append(copyButton("Copy the command", "Copy the command", () => lines.value, () => lines));
  byId("share-close").addEventListener("click", () => dialog.close());
  byId("share").addEventListener("click", () => {
    const view = current;
    const part = parts[view];
    void writeFragment(view, stateOf(view)).then((fragment) => {
      const address = new URL(fragment, document.baseURI).href;
      const isTooLarge = address.length > MAX_LINK;
      link.value = isTooLarge ? "" : address;
      byId("share-link-row").hidden = isTooLarge;
      byId("share-local").hidden = isTooLarge || !isLoopback(location.hostname);
      byId("share-hint").textContent = isTooLarge
        ? "Too large for a link: download the file and send it."
        : "The link contains the text itself, compressed, behind the # that browsers do not send: nothing is stored on a server." +
          (address.length > LONG_LINK ? ` It has ${count(address.length, "character")}, which some programs cut: send the file instead.` : "");
      lines.value = part.command();
      byId("share-command-field").hidden = !lines.value;
      byId("share-command-title").textContent = part.commandTitle ?? "The same answer on the command line";
      lines.rows = Math.min(Math.max(lines.value.split("\n").length, 2), 10);
      fill(byId("share-downloads"), h("div", { class: "bar" }, part.downloads().map(([label, save]) => h("button", { type: "button", class: "small", onclick: save }, label))));
      dialog.showModal();
    });
  });
}

/** What the skip link leads to. */
const ANSWERS: Record<View, string> = {
  edit: "answers",
  compare: "differences",
  who: "matrix",
  page: "guidance",
  write: "written",
  live: "live",
};

function initSkip(): void {
  byId("skip").addEventListener("click", (event) => {
    // The fragment of the address is the state.
    event.preventDefault();
    byId(ANSWERS[current]).focus();
  });
}

initTheme();
initSkip();
initTokenForm();
initTabs();
initShare();
void loadCrawlers();
void start();
window.addEventListener("hashchange", () => void followAddress());
// Also on a phone that closes the tab later.
for (const event of ["pagehide", "visibilitychange"]) {
  window.addEventListener(event, () => {
    if (ready && unsaved) saveTab();
  });
}
