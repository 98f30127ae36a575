/** Command lines that give the answer that the page shows. */

/** Quote an argument for a POSIX shell. */
export function quote(argument: string): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  // A line end inside single quotes stays a line end; control characters cannot be copied safely.
  const clean = argument.replace(/[\0-\x08\x0b-\x1f\x7f]/g, "");
  return `'${clean.replaceAll("'", `'\\''`)}'`;
}

/** A command of robotrules; a positional argument that starts with '-' is kept one by `--`. */
export function command(verb: string, options: [string, string][], positional: string[]): string {
  const words = ["robotrules", verb, ...options.flatMap(([name, value]) => (value ? [name, quote(value)] : [name]))];
  if (positional.some((argument) => argument.startsWith("-"))) words.push("--");
  return [...words, ...positional.map(quote)].join(" ");
}

/** Split a field of names, such as purposes or product tokens. */
export function names(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Split a field of lines. */
export function lines(text: string): string[] {
  return text.split(/\r\n?|\n/).map((line) => line.trim()).filter(Boolean);
}
