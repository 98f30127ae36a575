/**
 * The state in the fragment of the URL: `#view` or `#view/DATA`, where DATA is JSON, compressed with
 * deflate and written in base64url. Nothing is sent to a server. A fragment comes from anybody, so
 * its size is limited before and after decompression, and every value is checked.
 */

export const VIEWS = ["edit", "compare", "who", "page", "write", "live"] as const;
export type View = (typeof VIEWS)[number];

/** The fields of a view by name. */
export type Fields = Record<string, string | boolean>;

const MAX_FRAGMENT = 2_000_000;
const MAX_TEXT = 4_000_000;

export interface Link {
  view: View;
  fields: Fields | null;
  /** Why the data of the fragment could not be used. */
  error: string;
}

export async function writeFragment(view: View, fields: Fields): Promise<string> {
  const kept = Object.entries(fields).filter(([, value]) => value !== "" && value !== false);
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  return `#${view}/${toBase64(packed)}`;
}

export async function readFragment(fragment: string): Promise<Link> {
  const [, name = "", data = ""] = /^#?([a-z]*)(?:\/(.*))?$/s.exec(fragment) ?? [];
  const view = VIEWS.find((known) => known === name) ?? "edit";
  if (!data) return { view, fields: null, error: "" };
  try {
    if (data.length > MAX_FRAGMENT) throw new Error("it is too long");
    return { view, fields: toFields(JSON.parse(await inflate(fromBase64(data)))), error: "" };
  } catch (error) {
    const reason = error instanceof SyntaxError || error instanceof TypeError ? "it is damaged" : (error as Error).message;
    return { view, fields: null, error: `The link could not be read: ${reason}.` };
  }
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MAX_TEXT) {
      // Otherwise a few bytes could fill the memory.
      void reader.cancel();
      throw new Error("it is too large");
    }
  }
}

export function toFields(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("not an object");
  }
  const fields: Fields = Object.create(null) as Fields;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "string" || typeof field === "boolean") fields[key] = field;
  }
  return fields;
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw new TypeError("not base64url");
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
