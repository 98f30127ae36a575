/** The fields of every view, kept in this tab: they survive a reload, and end with the tab. */

import { VIEWS, toFields, type Fields, type View } from "./share";

export type State = Partial<Record<View, Fields>>;

const KEY = "robotrules-view-";
// Browsers keep about five million characters for a site.
const MAX_KEPT = 4_500_000;

/** Keep the fields; a view that is too large, or does not fit beside the others, is not kept. */
export function keepState(state: State): void {
  for (const view of VIEWS) {
    const text = JSON.stringify(state[view] ?? {});
    try {
      if (text.length > MAX_KEPT) throw new Error("too large");
      if (sessionStorage.getItem(KEY + view) !== text) sessionStorage.setItem(KEY + view, text);
    } catch {
      forget(view);
    }
  }
}

/** What is older than the page shows must not come back. */
function forget(view: View): void {
  try {
    sessionStorage.removeItem(KEY + view);
  } catch {
    // Without storage, a reload begins anew.
  }
}

export function readState(): State {
  const state: State = {};
  for (const view of VIEWS) {
    try {
      const text = sessionStorage.getItem(KEY + view);
      if (text) state[view] = toFields(JSON.parse(text));
    } catch {
      // As above.
    }
  }
  return state;
}
