/** The well-known crawlers, for suggestions and for choosing them by purpose. */

import { get, whenTokenIsEntered, ApiError } from "./api";
import { byId, fill, h } from "./dom";
import type { KnownCrawler } from "./types";

let known: KnownCrawler[] = [];
const waiting: (() => void)[] = [];

export function knownCrawlers(): KnownCrawler[] {
  return known;
}

/** Run a function when the list is there. */
export function whenCrawlersAreKnown(run: () => void): void {
  if (known.length) run();
  else waiting.push(run);
}

export async function loadCrawlers(): Promise<void> {
  try {
    const answer = await get<{ crawlers: KnownCrawler[] }>("v1/crawlers");
    known = answer.crawlers;
  } catch (error) {
    // Only suggestions are missing; another request says what is wrong.
    if (error instanceof ApiError && error.status === 401) whenTokenIsEntered(() => void loadCrawlers());
    return;
  }
  fill(
    byId("crawlers"),
    known.map((crawler) => h("option", { value: crawler.product_token }, crawler.operator)),
  );
  for (const run of waiting.splice(0)) run();
}

export function findCrawler(name: string): KnownCrawler | undefined {
  const wanted = name.trim().toLowerCase();
  return known.find((crawler) => crawler.product_token.toLowerCase() === wanted);
}

const PURPOSES: Record<string, string> = {
  search: "Search",
  "ai-search": "AI search",
  "user-triggered": "A user's request",
  "ai-training": "AI training",
  research: "Research",
  archive: "Archives",
  preview: "Previews",
  feed: "Feeds",
  shopping: "Shopping",
  seo: "SEO",
  ads: "Ads",
  monitoring: "Monitoring",
  data: "Data collection",
  "in-house": "In-house",
};

export function purposeTitle(purpose: string): string {
  return PURPOSES[purpose] ?? purpose;
}

/** The purposes that some crawler has, in a fixed order. */
export function usedPurposes(): string[] {
  const used = new Set(known.flatMap((crawler) => crawler.purposes ?? []));
  return [...Object.keys(PURPOSES).filter((purpose) => used.delete(purpose)), ...used];
}
