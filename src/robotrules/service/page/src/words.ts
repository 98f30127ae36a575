/** Words for verdicts, reasons and outcomes, and the elements that show them. */

import { h } from "./dom";

const REASONS: Record<string, string> = {
  "no-match": "no rule matches",
  "no-rules": "the group has no rule that can match",
  "no-group": "no group applies to this crawler",
  "implicitly-allowed": "the robots.txt itself is always allowed",
  "empty-rule": "an empty rule",
  unavailable: "there is no robots.txt",
  unreachable: "the robots.txt cannot be fetched",
  restricted: "the robots.txt needs a login",
  "no-origin": "not an http or https URL with a host",
};

const OUTCOMES: Record<string, string> = {
  "fewer-octets": "shorter match",
  "allow-wins-tie": "same length, and Allow wins a tie",
  "later-line": "same rule on a later line",
  "not-consulted": "not consulted",
};

export function outcomeWords(outcome: string): string {
  return OUTCOMES[outcome] ?? outcome;
}

const KEYS: Record<string, string> = { allow: "Allow", disallow: "Disallow" };

export function recordName(key: string): string {
  return KEYS[key] ?? key;
}

/** Why a verdict is what it is. */
export function reasonWords(verdict: { reason: string; line?: number | null; pattern?: string | null }): string {
  if (verdict.line && verdict.pattern !== null && verdict.pattern !== undefined) {
    const key = verdict.reason === "allow-rule" ? "Allow" : "Disallow";
    return `line ${verdict.line}: ${key}: ${shorten(verdict.pattern, 120)}`;
  }
  return REASONS[verdict.reason] ?? verdict.reason;
}

export function verdictWord(allowed: boolean): string {
  return allowed ? "Allowed" : "Blocked";
}

/** "✓ Allowed" or "✕ Blocked": the word says it, the sign and the colour repeat it. */
export function verdictMark(allowed: boolean): HTMLElement {
  return h(
    "span",
    { class: `verdict ${allowed ? "allowed" : "blocked"}` },
    h("span", { "aria-hidden": "true" }, allowed ? "✓" : "✕"),
    verdictWord(allowed),
  );
}

/** Yes, no, or unknown. */
export function answerMark(value: boolean | null): HTMLElement {
  const [name, sign, word] = value === null ? ["unknown", "?", "Unknown"] : value ? ["allowed", "✓", "Yes"] : ["blocked", "✕", "No"];
  return h("span", { class: `verdict ${name}` }, h("span", { "aria-hidden": "true" }, sign), word ?? "");
}

/** Show characters that change the direction of a text, such as ⟨U+202E⟩: they could disguise a URL. */
export function visible(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** The message of a note; what it says about the Python API is left out. */
export function noteWords(message: string): string {
  return visible(message.replace(/: robotrules\.product_token\(\)[^.]*\./, ". Enter only the name, such as Googlebot."));
}

export function shorten(text: string, length: number): string {
  return visible(text.length > length ? `${text.slice(0, length)}…` : text);
}

export const PROFILE_NAMES: Record<string, string> = {
  default: "Default",
  strict: "Strict (RFC 9309)",
  google: "Google",
};

const PROFILE_HINTS: Record<string, string> = {
  default: "Default: as most crawlers read it",
  strict: "Strict: only what RFC 9309 says",
  google: "Google's parser: as Google's open-source parser reads it; choose it when you ask about Googlebot",
};

/** What a profile is, for the line below its field. */
export function profileHint(profile: string): string {
  return PROFILE_HINTS[profile] ?? "";
}

/** A duration in words. */
export function durationWords(seconds: number): string {
  const units: [number, string][] = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ];
  for (const [size, name] of units) {
    const number = Math.floor(seconds / size);
    if (number >= 1) return `${number} ${name}${number === 1 ? "" : "s"}`;
  }
  const number = Math.round(seconds);
  return `${number} second${number === 1 ? "" : "s"}`;
}
