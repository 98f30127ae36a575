/** What each view offers to the page: its state for the link, and its command lines. */

import type { Fields } from "./share";

export interface ViewPart {
  /** The state of the view, for a link. */
  fields(): Fields;
  /** Take a state; null is the state at the first start. With *undoable*, the text before can be undone to. */
  load(fields: Fields | null, undoable?: boolean): void;
  /** The view became visible. */
  show(): void;
  /** The command lines with the same answer; empty if there is no question yet. */
  command(): string;
  /** What the command lines are, if they do not give the same answer. */
  readonly commandTitle?: string;
  /** Files that the command lines read. */
  downloads(): [string, () => void][];
}

/** Read a text of a state. */
export function textOf(fields: Fields | null, name: string): string {
  const value = fields?.[name];
  return typeof value === "string" ? value : "";
}

/** Choose an option of a field, if it has it. */
export function choose(field: HTMLSelectElement, value: string, otherwise: string): void {
  field.value = [...field.options].some((option) => option.value === value) ? value : otherwise;
}
