/**
 * A small renderer for the Markdown that hover and completion return: paragraphs, lists, headings,
 * code, emphasis, links. It makes elements and text only, so that hostile text stays text.
 */

import { h } from "./dom";

const MAX_LENGTH = 50_000;
const INLINE = /`+([^`]+)`+|\*\*([^*]+)\*\*|(?<![\w*])[*_]([^*_]+)[*_](?![\w*])|\[([^\]]+)\]\(<?([^)\s>]+)>?\)|<(https?:\/\/[^>\s]+)>|\\([!-/:-@[-`{-~])/;

export function renderMarkdown(source: string): HTMLElement {
  const root = h("div", { class: "markdown" });
  let paragraph: string[] = [];
  let list: HTMLElement | undefined;
  let code: string[] | undefined;
  const end = () => {
    if (paragraph.length) root.append(h("p", {}, ...inline(paragraph.join("\n"))));
    paragraph = [];
  };
  for (const line of source.slice(0, MAX_LENGTH).split("\n")) {
    if (/^\s*```/.test(line)) {
      end();
      if (code) {
        root.append(h("pre", {}, h("code", {}, code.join("\n"))));
        code = undefined;
      } else code = [];
      continue;
    }
    if (code) {
      code.push(line);
      continue;
    }
    const item = /^\s*[-*] (.*)$/.exec(line);
    if (item) {
      end();
      if (!list) root.append((list = h("ul")));
      list.append(h("li", {}, ...inline(item[1] ?? "")));
      continue;
    }
    if (list && /^\s+\S/.test(line)) {
      list.lastElementChild?.append(" ", ...inline(line.trim()));
      continue;
    }
    list = undefined;
    const heading = /^#{1,6} (.*)$/.exec(line);
    if (heading) {
      end();
      root.append(h("p", {}, h("strong", {}, ...inline(heading[1] ?? ""))));
    } else if (/^\s*(-{3,}|\*{3,})\s*$/.test(line)) {
      end();
      root.append(h("hr"));
    } else if (!line.trim()) end();
    else paragraph.push(line);
  }
  if (code) root.append(h("pre", {}, h("code", {}, code.join("\n"))));
  end();
  return root;
}

function inline(source: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let rest = source;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    nodes.push(rest.slice(0, found.index));
    const [all, code, strong, emphasis, label, target, address, escaped] = found;
    if (code !== undefined) nodes.push(h("code", {}, code));
    else if (strong !== undefined) nodes.push(h("strong", {}, ...inline(strong)));
    else if (emphasis !== undefined) nodes.push(h("em", {}, ...inline(emphasis)));
    else if (label !== undefined) nodes.push(link(label, target ?? ""));
    else if (address !== undefined) nodes.push(link(address, address));
    else nodes.push(escaped ?? all);
    rest = rest.slice(found.index + all.length);
  }
  nodes.push(rest);
  return nodes;
}

/** A link, if it leads to a web page; otherwise its text. */
export function link(label: string, target: string): Node {
  const text = label.replace(/\\([!-/:-@[-`{-~])/g, "$1").replaceAll("`", "");
  if (!/^https?:\/\//i.test(target)) return document.createTextNode(text);
  return h("a", { href: target, rel: "noreferrer noopener", target: "_blank" }, text);
}
