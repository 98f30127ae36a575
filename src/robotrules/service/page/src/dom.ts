/** Elements without a framework. Text is always set as text, never as HTML. */

export type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | boolean | number | ((event: never) => void) | undefined>;

/** Return an element: properties that start with "on" are listeners, others are attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Properties = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(key.slice(2), value as EventListener);
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(...flat(children));
  return element;
}

/** Replace the children of an element. */
export function fill(parent: Element, ...children: (Child | Child[])[]): void {
  parent.replaceChildren(...flat(children));
}

function flat(children: (Child | Child[])[]): (Node | string)[] {
  return children.flat().filter((child): child is Node | string => Boolean(child));
}

/** Return the element with an id that index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element #${id}`);
  return found as T;
}

/** Run a function when no further call came for some milliseconds. */
export function debounce(milliseconds: number | (() => number), run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, typeof milliseconds === "number" ? milliseconds : milliseconds());
  };
}

const sentences: string[] = [];
let announcing: ReturnType<typeof setTimeout> | undefined;

/** Say a sentence to screen readers, in the dialog if one is open: what is outside of it is inert. */
export function announce(sentence: string): void {
  const live = document.querySelector("dialog[open] [role=status]") ?? byId("announcements");
  // Emptied first: a text that is set again is not a change.
  live.textContent = "";
  if (!sentences.includes(sentence)) sentences.push(sentence);
  clearTimeout(announcing);
  announcing = setTimeout(() => (live.textContent = sentences.splice(0).join(" ")), 100);
}

const numbers = new Intl.NumberFormat("en");

/** "1 URL", "1,234 URLs". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${numbers.format(number)} ${number === 1 ? one : many}`;
}

/** Copy a text, and return whether it was copied; if not, it is selected where it is shown. */
async function copy(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard without https, and the browser can refuse it.
    if (shown instanceof HTMLInputElement || shown instanceof HTMLTextAreaElement) shown.select();
    else getSelection()?.selectAllChildren(shown);
    return false;
  }
}

/** A button that copies what is shown in an element; its own label says whether it did. */
export function copyButton(label: string, name: string, text: () => string, shown: () => HTMLElement): HTMLButtonElement {
  const button = h("button", { type: "button", class: "small", "aria-label": name }, label);
  button.addEventListener("click", () => {
    void copy(text(), shown()).then((copied) => {
      announce(copied ? "Copied." : "The browser does not let this page copy. The text is selected: copy it with the keyboard.");
      button.textContent = copied ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => (button.textContent = label), copied ? 1500 : 6000);
    });
  });
  return button;
}

/** Save a text as a file. */
export function download(name: string, text: string, type = "text/plain;charset=utf-8"): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Whether a host is this computer itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)\.?$/i.test(host);
}

/** A table that scrolls by itself on a narrow screen, and by keyboard. */
export function scrolling(label: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, table);
}

/** Turn text files that are dropped on an element, or chosen with a field, into a call. */
export function acceptFiles(
  zone: HTMLElement,
  field: HTMLInputElement | null,
  take: (file: File) => void,
): void {
  field?.addEventListener("change", () => {
    const file = field.files?.[0];
    if (file) take(file);
    field.value = "";
  });
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  zone.addEventListener(
    "dragover",
    (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      zone.classList.add("dropping");
    },
    true,
  );
  zone.addEventListener("dragleave", () => zone.classList.remove("dropping"));
  zone.addEventListener(
    "drop",
    (event) => {
      zone.classList.remove("dropping");
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      event.stopPropagation();
      take(file);
    },
    true,
  );
}
