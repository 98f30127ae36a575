/** The HTTP API of the service: requests with the token, errors in words, one retry if it is busy. */

import { announce, byId, debounce, fill, h } from "./dom";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly slug: string,
    detail: string,
  ) {
    super(detail);
  }
}

const TOKEN = "robotrules-token";
let token = read();
/** Whether a token was entered that the service has not accepted or refused yet. */
let entered = false;
const waitingForToken = new Set<() => void>();

function read(): string {
  try {
    return sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    return "";
  }
}

/** Set up the form that is shown when the service asks for a token. */
export function initTokenForm(): void {
  const field = byId<HTMLInputElement>("token");
  byId<HTMLFormElement>("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    token = field.value.trim();
    try {
      sessionStorage.setItem(TOKEN, token);
    } catch {
      // Without storage, the token is kept until the page is reloaded.
    }
    entered = true;
    const again = [...waitingForToken];
    waitingForToken.clear();
    for (const run of again) run();
  });
}

function askForToken(): void {
  const bar = byId("token-bar");
  const reason = token ? "That token was not accepted. Try again." : "This service asks for a token.";
  fill(byId("token-reason"), reason);
  if (!bar.hidden && !entered) return;
  bar.hidden = false;
  announce(reason);
  if (entered) byId<HTMLInputElement>("token").select();
  entered = false;
}

function tokenAccepted(): void {
  const bar = byId("token-bar");
  entered = false;
  if (bar.hidden) return;
  // What is hidden cannot keep the focus.
  if (bar.contains(document.activeElement)) document.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
  bar.hidden = true;
  announce("The token was accepted.");
}

/** Run a function again when a token is entered. */
export function whenTokenIsEntered(run: () => void): void {
  waitingForToken.add(run);
}

async function toError(response: Response): Promise<ApiError> {
  let slug = "";
  let detail = `The service answered ${response.status}.`;
  try {
    const problem: unknown = await response.json();
    if (typeof problem === "object" && problem !== null) {
      const { type, title, detail: words } = problem as Record<string, unknown>;
      if (typeof type === "string") slug = type.split("#").pop() ?? "";
      const parts = [title, words].filter((part): part is string => typeof part === "string");
      if (parts.length) detail = parts.join(": ");
    }
  } catch {
    // Not JSON: a proxy answered; the status has to do.
  }
  return new ApiError(response.status, slug, detail);
}

function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

async function request(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
  // Relative, so that the page works behind a proxy that adds a prefix.
  const url = new URL(path, document.baseURI);
  const headers: Record<string, string> = { Accept: "application/json, application/x-ndjson" };
  if (init.body) headers["Content-Type"] = "application/json";
  for (let attempt = 0; ; attempt++) {
    const used = token;
    if (used) headers["Authorization"] = `Bearer ${used}`;
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers, credentials: "omit", signal: signal ?? null });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "offline", "The service does not answer. Is it still running?");
    }
    if (response.ok) {
      if (used && used === token) tokenAccepted();
      return response;
    }
    const error = await toError(response);
    // What needed too much time would need it again.
    if (error.status === 503 && error.slug !== "took-too-long" && attempt === 0) {
      const wait = Number(response.headers.get("Retry-After") ?? "1");
      await pause(Math.min(Number.isFinite(wait) ? Math.max(wait, 0.2) : 1, 5), signal);
      continue;
    }
    // Another token was entered while this one was refused.
    if (error.status === 401 && used !== token) continue;
    if (error.status === 401) askForToken();
    throw error;
  }
}

/** POST a verb and return its JSON. */
export async function post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { method: "POST", body: JSON.stringify(body) }, signal);
  return (await response.json()) as T;
}

/** POST a verb and return its lines of JSON. */
export async function postLines<T>(path: string, body: object, signal?: AbortSignal): Promise<T[]> {
  const response = await request(path, { method: "POST", body: JSON.stringify(body) }, signal);
  const text = await response.text();
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as T);
}

export async function get<T>(path: string, query: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  const search = new URLSearchParams(query).toString();
  const response = await request(search ? `${path}?${search}` : path, { method: "GET" }, signal);
  return (await response.json()) as T;
}

/** Keeps at most one task running; a new one ends the one before it. */
export class Latest {
  #controller: AbortController | undefined;

  /** Run a task; errors other than its own end go to *fail*. */
  async run(task: (signal: AbortSignal) => Promise<void>, fail: (error: Error) => void): Promise<void> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      await task(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) fail(error as Error);
    }
  }

  stop(): void {
    this.#controller?.abort();
  }
}

/**
 * Runs a task again for as long as something changed while it ran. There is never more than one
 * request, however fast someone types, and the last state is always asked about.
 */
export class Coalesced {
  #running = false;
  #again = false;

  constructor(
    private readonly task: () => Promise<void>,
    private readonly fail: (error: Error) => void,
  ) {}

  async request(): Promise<void> {
    this.#again = true;
    if (this.#running) return;
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      try {
        await this.task();
      } catch (error) {
        this.fail(error as Error);
      }
    }
    this.#running = false;
  }
}

/** What an error says to a person. */
export function errorWords(error: Error): string {
  const { message } = error;
  // The API explains the grammar, or names a function of Python.
  if (!/not a product token|invalid product token|product_token\(\)/.test(message)) return message;
  const [, name] = /use '([\w-]+)'$/.exec(message) ?? [];
  return `Crawler: enter only the name, such as ${name ?? "Googlebot"}.`;
}

let lastError: HTMLElement | undefined;
const announceError = debounce(1000, () => {
  if (lastError?.isConnected) announce(lastError.textContent ?? "");
});

/**
 * Show why there is no answer to what is typed, above the last one, which is dimmed. It is announced
 * when typing pauses. After a token was missing, *again* runs when there is one.
 */
export function showError(place: HTMLElement, error: Error, again?: () => void): void {
  const missing = error instanceof ApiError && error.status === 401;
  if (missing && again) whenTokenIsEntered(again);
  // About a token the bar at the top speaks up; not every part of the page.
  const message = missing ? "Enter the token at the top of the page first." : errorWords(error);
  const before = place.querySelector(":scope > .no-answer");
  if (before?.textContent === message) return;
  before?.remove();
  const shown = h("p", { class: missing ? "no-answer hint" : "no-answer error" }, message);
  place.prepend(shown);
  if (missing) return;
  lastError = shown;
  announceError();
}

/** Show at once why an action, such as opening a file, failed. */
export function showFailure(place: HTMLElement, error: Error, again?: () => void): void {
  if (error instanceof ApiError && error.status === 401) showError(place, error, again);
  else fill(place, h("p", { class: "error", role: "alert" }, errorWords(error)));
}
