/** Response headers as a person pastes them: of `curl -i`, or of the developer tools of a browser. */

import { lines } from "./command";

export interface PastedHeaders {
  status: number | null;
  /** "Name: value", without the status line. */
  fields: string[];
}

// What the developer tools list beside the headers.
const FACTS = /^(request url|request method|status code|remote address|referrer policy)\s*:?\s*(.*)$/i;
const SECTIONS = /^(general|(request|response) headers)(\s*\(.*\))?$/i;
const BARE_NAME = /^(:?[\w!#$%&'*+.^`|~-]+):$/;
const TAG_FIELD = /^(x-)?robots-tag:$/i;

/** Read pasted headers; of several responses, as after redirects, the last one counts. */
export function readHeaders(text: string): PastedHeaders {
  const all = lines(text);
  const isFromTools = all.some((line) => FACTS.test(line) || SECTIONS.test(line)) || BARE_NAME.test(all[0] ?? "");
  // Newer ones copy names without a colon.
  const isWithoutColons = all.some((line) => /^(request url|request method|status code)$/i.test(line));
  let status: number | null = null;
  let fields: string[] = [];
  for (let at = 0; at < all.length; at++) {
    const line = all[at] ?? "";
    const next = all[at + 1];
    const statusLine = /^HTTP\/[\d.]+ +(\d{3})\b/i.exec(line);
    if (statusLine) {
      status = Number(statusLine[1]);
      fields = [];
      continue;
    }
    const fact = FACTS.exec(line);
    if (fact) {
      const value = fact[2] || (next !== undefined && !isName(next) ? (at++, next) : "");
      if (/^status/i.test(line)) status = Number(/\d{3}/.exec(value)?.[0]) || status;
      continue;
    }
    if (/^request headers/i.test(line) && SECTIONS.test(line)) break;
    if (SECTIONS.test(line)) continue;
    if (isWithoutColons && next !== undefined && /^:?[\w-]+$/.test(line)) {
      fields.push(`${line}: ${next}`);
      at++;
      continue;
    }
    // A value that itself has a colon, such as "googlebot: noindex", is one where values follow their names.
    const isNameAlone = BARE_NAME.test(line) && next !== undefined && !isName(next);
    if (isNameAlone && (isFromTools || TAG_FIELD.test(line) || !/^[\w-]+:\s/.test(next))) {
      fields.push(`${line} ${next}`);
      at++;
    } else {
      fields.push(line);
    }
  }
  return { status, fields: fields.filter((field) => !field.startsWith(":")) };
}

function isName(line: string): boolean {
  return BARE_NAME.test(line) || /^(request url|request method|status code|remote address|referrer policy):?$/i.test(line);
}

/** Whether a status says that the page is not there for now. */
export function isServerError(status: number | null): boolean {
  return status !== null && (status === 429 || status >= 500);
}

/** What a status means for search results, whatever the page says; empty for a page that is shown. */
export function statusWords(status: number | null): string {
  if (status === null) return "";
  if ([301, 302, 303, 307, 308].includes(status)) {
    return `Status ${status}: search engines do not show such a page, whatever its tags say. Check the page that it redirects to.`;
  }
  if (isServerError(status)) {
    return `Status ${status}: search engines do not read the tags of such a page, and stop showing it if the error lasts.`;
  }
  return status >= 400 ? `Status ${status}: search engines do not show such a page, whatever its tags say.` : "";
}
