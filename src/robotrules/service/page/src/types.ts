/** The JSON of the service, as far as the page reads it. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Fix {
  title: string;
  /** Whether the fix is proved to change no verdict; null where that was not tried. */
  safe: boolean | null;
  edits: { range: Range; newText: string }[];
}

export interface Note {
  range: Range;
  code: string;
  slug: string;
  level: "error" | "warning" | "info";
  message: string;
  url: string | null;
  line: number | null;
  unnecessary: boolean;
  fixes: Fix[];
}

export interface Notes {
  notes: Note[];
  more: number;
  checks: Record<string, { slug: string; summary: string }>;
}

export interface Tokens {
  tokens: number[];
  legend: { tokenTypes: string[] };
}

export interface FixedFile {
  body: string;
  changed: boolean;
  edits: { range: Range; newText: string }[];
  applied: { code: string; slug: string; line: number; title: string }[];
  more: boolean;
}

export interface Hover {
  markdown: string | null;
  range: Range | null;
}

export interface CompletionItem {
  label: string;
  detail?: string | null;
  documentation?: string | null;
  deprecated: boolean;
  range: Range;
  newText: string;
}

export interface Verdict {
  url: string;
  allowed: boolean;
  reason: string;
  line: number | null;
  pattern: string | null;
  profile: string;
}

export interface MatchedRule {
  outcome: string;
  group: number;
  key: string;
  pattern: string;
  octets: number;
  line: number;
}

export interface Explanation {
  url: string;
  path: string;
  profile: string;
  product_token: string;
  allowed: boolean;
  reason: string;
  matched_by: string;
  groups: { user_agents: string[]; purposes: string[]; first_line: number; last_line: number; rule_count: number }[];
  winner: MatchedRule | null;
  losers: MatchedRule[];
  notes: { code: string; level: string; message: string; line: number | null }[];
  known: KnownCrawler | null;
}

export interface KnownCrawler {
  product_token: string;
  operator: string;
  purposes?: string[];
  documentation: string;
  status?: string;
  remarks?: string;
  obeys?: string;
}
