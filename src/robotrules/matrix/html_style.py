"""
The style sheet and the two marks of the matrix page.

Blue and vermilion are distinguishable with every kind of colour vision, and the marks by shape. The
module does not know the content of the page.
"""

from __future__ import annotations

SYMBOLS = """
<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<symbol id="yes" viewBox="0 0 24 24"><rect width="24" height="24" rx="6"/>
<path d="M6.5 12.6l3.7 3.7 7.3-8"/></symbol>
<symbol id="no" viewBox="0 0 24 24"><rect width="24" height="24" rx="6"/>
<path d="M8 8l8 8M16 8l-8 8"/></symbol>
</defs></svg>
"""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ground: #f5f6f8; --ink: #1c2430; --faint: #667085; --line: #e4e7ec;
  --yes: #005e9e; --yes-soft: #dcedf9; --no: #ad4100; --no-soft: #fde6d8;
  --some: #6a5400; --some-soft: #f7edc9; --open: #535862; --open-soft: #eaecf0;
  --some-bar: #d1ab2e;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #151a21; --ground: #0d1117; --ink: #e6eaf0; --faint: #98a2b3; --line: #2a313c;
    --yes: #7cc4f5; --yes-soft: #113449; --no: #ffb38a; --no-soft: #4a2412;
    --some: #ecd67b; --some-soft: #3d3512; --open: #cbd2dc; --open-soft: #2a313c;
    --some-bar: #9c8330;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { width: fit-content; max-width: 100%; margin: 0 auto; padding: 2.5rem 1.5rem 2rem; }
header, footer { width: 0; min-width: 100%; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; }
.headline { margin: 0 0 1.4rem; }
.whose { margin: .3rem 0 .2rem; color: var(--faint); overflow-wrap: anywhere; }
.whose strong { color: var(--ink); }
small { font-size: .8rem; color: var(--faint); font-weight: 400; }
ul { list-style: none; margin: 0; padding: 0; }
.counts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.6rem, 1fr)); }
.counts { gap: .6rem 1rem; }
.counts li { display: grid; grid-template-columns: 1fr auto; gap: .1rem .4rem; }
.counts b { font-size: .8rem; font-weight: 600; white-space: nowrap; }
.counts small { text-align: right; }
.bar { grid-column: 1 / 3; grid-row: 2; display: flex; gap: 2px; height: 8px; }
.bar i { border-radius: 3px; min-width: 5px; }
.bar .everything { background: var(--yes); }
.bar .some { background: var(--some-bar); }
.bar .nothing { background: var(--no); }
.bar .not-decided { background: var(--faint); }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1.3rem; margin: 1.4rem 0 1rem; }
.legend li { display: flex; align-items: center; gap: .45rem; }
.legend { font-size: .85rem; color: var(--faint); }
.scroll {
  overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 14px;
  padding: 0 .4rem .8rem;
}
table { border-collapse: collapse; }
th, td { padding: .22rem .35rem; text-align: center; vertical-align: middle; }
thead th { vertical-align: bottom; font-size: .8rem; font-weight: 600; color: var(--faint); }
thead th { padding-top: 1.2rem; padding-bottom: .7rem; }
.who { text-align: left; padding-left: .9rem; padding-right: 1.4rem; white-space: nowrap; }
th.who { position: sticky; left: 0; background: var(--paper); }
th.who span { font-weight: 600; }
th.who small { margin-left: .55rem; }
th.who .badge { margin-left: .5rem; }
.badge {
  padding: 0 .4rem; border: 1px solid var(--line); border-radius: 1rem;
  font-size: .72rem; font-style: normal; font-weight: 400; color: var(--faint);
}
sup { color: var(--no); line-height: 0; }
.path { height: 9.5rem; width: 3rem; min-width: 3rem; }
.path span {
  writing-mode: vertical-rl; transform: rotate(180deg); max-height: 10.5rem; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; font: 500 .82rem/1.2 var(--mono); color: var(--ink);
}
.path.short span { writing-mode: horizontal-tb; transform: none; font-weight: 700; }
.all { padding-right: 1rem; }
.group { text-align: left; padding-left: 1rem; padding-right: .9rem; white-space: nowrap; }
td.group { font-size: .82rem; color: var(--faint); }
td.group small::before { content: "· line "; }
tbody tr:last-child > * { padding-bottom: .75rem; }
tbody tr:not(.band):hover > * { background: var(--ground); }
.band th { text-align: left; padding: 1.15rem .9rem .35rem; border-top: 1px solid var(--line); }
.band span { font-size: 1.02rem; font-weight: 700; letter-spacing: -.01em; }
.band small { margin-left: .5rem; }
.band span, .band small { position: sticky; left: .9rem; }
.mark { display: inline-block; width: 26px; height: 26px; vertical-align: middle; }
.mark path, .mark use { fill: none; stroke-width: 2.4; stroke-linecap: round; }
.mark { stroke-linejoin: round; }
.mark.yes { color: var(--yes); } .mark.no { color: var(--no); }
.mark.yes use { fill: var(--yes-soft); } .mark.no use { fill: var(--no-soft); }
symbol rect { stroke: none; } symbol path { fill: none; stroke: currentColor; }
.pill {
  display: inline-block; min-width: 6.2rem; padding: .05rem .6rem; border-radius: 1rem;
  font-size: .8rem; font-weight: 600; text-align: center;
}
.pill.everything { background: var(--yes-soft); color: var(--yes); }
.pill.nothing { background: var(--no-soft); color: var(--no); }
.pill.some { background: var(--some-soft); color: var(--some); }
.pill.not-decided { background: var(--open-soft); color: var(--open); }
footer { margin-top: 1.4rem; font-size: .85rem; color: var(--faint); }
footer p { margin: .3rem 0; } footer strong { color: var(--ink); font-weight: 600; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
@media (max-width: 46rem) {
  main { padding: 1.4rem .7rem; }
  h1 { font-size: 1.5rem; }
  .counts { grid-template-columns: 1fr 1fr; }
  th.who { min-width: 9.5rem; max-width: 11rem; padding-right: .5rem; }
  th.who { white-space: normal; overflow-wrap: anywhere; }
  th.who small { display: block; margin-left: 0; }
  th.who .badge { margin-left: 0; }
  .band small { display: none; }
  .path { width: 2.4rem; min-width: 2.4rem; }
}
@media print {
  :root {
    --paper: #fff; --ground: #fff; --ink: #000; --faint: #444; --line: #bbb;
    --yes: #005e9e; --yes-soft: #dcedf9; --no: #ad4100; --no-soft: #fde6d8;
    --some: #6a5400; --some-soft: #f7edc9;
  }
  :root { font-size: 12px; }
  body { font-size: 12px; }
  th.who { position: static; }
  .band { break-after: avoid; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; border: 0; padding: 0; }
  .mark { width: 16px; height: 16px; }
  .path { width: 2rem; min-width: 2rem; }
  tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
