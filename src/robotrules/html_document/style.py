"""
The style sheet of reports: light, dark and print, tables with headings that stay visible.

Blue and vermilion are distinguishable with every kind of colour vision; no information is in a
colour alone. Contrast of text is at least 4.5 to 1 in both schemes (WCAG 2.2 §1.4.3).
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ground: #f5f6f8; --ink: #1c2430; --faint: #5b6576; --line: #e4e7ec;
  --yes: #005e9e; --yes-soft: #dcedf9; --no: #ad4100; --no-soft: #fde6d8;
  --some: #6a5400; --some-soft: #f7edc9; --open: #535862; --open-soft: #eaecf0;
  --bar-1: #3b8fd0; --bar-2: #e0863f; --bar-3: #7a9a3a; --bar-4: #9a6fc0; --bar-5: #8a929e;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #151a21; --ground: #0d1117; --ink: #e6eaf0; --faint: #98a2b3; --line: #2a313c;
    --yes: #7cc4f5; --yes-soft: #113449; --no: #ffb38a; --no-soft: #4a2412;
    --some: #ecd67b; --some-soft: #3d3512; --open: #cbd2dc; --open-soft: #2a313c;
    --bar-1: #4b9fe0; --bar-2: #e8975a; --bar-3: #8fb04c; --bar-4: #ac86d0; --bar-5: #98a2b3;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 76rem; margin: 0 auto; padding: 2.5rem 1.5rem 2rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; }
h1 { overflow-wrap: anywhere; }
h2 { margin: 2.4rem 0 .6rem; font-size: 1.25rem; line-height: 1.25; letter-spacing: -.01em; }
h3 { margin: 1.4rem 0 .4rem; font-size: 1.02rem; overflow-wrap: anywhere; }
.subtitle { margin: .3rem 0 0; color: var(--faint); overflow-wrap: anywhere; }
.headline { margin: 1rem 0 0; font-size: 1.15rem; line-height: 1.45; max-width: 52rem; }
.intro { margin: 0 0 .8rem; color: var(--faint); max-width: 52rem; }
small, .faint { color: var(--faint); font-weight: 400; }
small { font-size: .8rem; }
code, .mono { font-family: var(--mono); font-size: .87em; overflow-wrap: anywhere; }
a { color: var(--yes); }
:focus-visible { outline: 2px solid var(--yes); outline-offset: 2px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); }
.tiles { gap: .8rem; }
.tiles { list-style: none; margin: 1.2rem 0 0; padding: 0; }
.tiles li { padding: .7rem .9rem; background: var(--paper); border: 1px solid var(--line); }
.tiles li { border-radius: 12px; }
.tiles b { display: block; font-size: 1.45rem; line-height: 1.25; }
.tiles b { font-variant-numeric: tabular-nums; }
.tiles span { font-size: .83rem; color: var(--faint); }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 14px; }
.card { padding: .9rem 1.1rem; margin: 0 0 1rem; }
/* The box scrolls in both directions, so that column heads stay visible in a long table. */
.scroll { overflow: auto; max-height: 85vh; background: var(--paper); }
.scroll { border: 1px solid var(--line); border-radius: 14px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; }
th, td { padding: .38rem .7rem; text-align: left; vertical-align: top; }
thead th {
  position: sticky; top: 0; z-index: 2; background: var(--paper);
  border-bottom: 1px solid var(--line);
  font-size: .8rem; font-weight: 600; color: var(--faint); vertical-align: bottom;
}
tbody th { font-weight: 600; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.wide { min-width: 16rem; overflow-wrap: anywhere; }
.pill {
  display: inline-block; padding: .02rem .55rem; border-radius: 1rem; font-size: .8rem;
  font-weight: 600; white-space: nowrap; background: var(--open-soft); color: var(--open);
}
.pill.yes, .pill.ok { background: var(--yes-soft); color: var(--yes); }
.pill.no, .pill.error { background: var(--no-soft); color: var(--no); }
.pill.some, .pill.warning { background: var(--some-soft); color: var(--some); }
.chart { display: block; width: 100%; height: auto; }
.chart text { fill: var(--faint); font: 11px system-ui, sans-serif; }
.chart .axis { stroke: var(--line); }
.chart .s1 { fill: var(--bar-1); } .chart .s2 { fill: var(--bar-2); }
.chart .s3 { fill: var(--bar-3); } .chart .s4 { fill: var(--bar-4); }
.chart .s5 { fill: var(--bar-5); }
.keys { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; margin: .5rem 0 0; }
.keys { padding: 0; font-size: .83rem; color: var(--faint); }
.keys i { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; }
.keys i { border-radius: 3px; vertical-align: -.08rem; }
.keys .s1 { background: var(--bar-1); } .keys .s2 { background: var(--bar-2); }
.keys .s3 { background: var(--bar-3); } .keys .s4 { background: var(--bar-4); }
.keys .s5 { background: var(--bar-5); }
.share { display: inline-block; height: .6rem; border-radius: 3px; background: var(--bar-1); }
footer { margin-top: 2.4rem; font-size: .85rem; color: var(--faint); }
footer p { margin: .3rem 0; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
@media (max-width: 46rem) {
  main { padding: 1.4rem .8rem; }
  h1 { font-size: 1.5rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  th, td { padding: .35rem .5rem; }
  .stacked { max-height: none; }
  .stacked thead { display: none; }
  .stacked table, .stacked tbody, .stacked tr { display: block; }
  .stacked th, .stacked td { display: block; text-align: left; white-space: normal; }
  .stacked tbody tr > * { border: 0; padding: .15rem .8rem; min-width: 0; max-width: none; }
  .stacked tbody tr { padding: .5rem 0; }
  .stacked tbody tr + tr { border-top: 1px solid var(--line); }
  .stacked td:empty { display: none; }
  .stacked td[data-label]::before {
    content: attr(data-label); display: block; font-size: .76rem; color: var(--faint);
  }
}
@media print {
  :root {
    --paper: #fff; --ground: #fff; --ink: #000; --faint: #444; --line: #bbb;
    --yes: #005e9e; --yes-soft: #dcedf9; --no: #ad4100; --no-soft: #fde6d8;
    --some: #6a5400; --some-soft: #f7edc9; --open: #535862; --open-soft: #eaecf0;
    --bar-1: #3b8fd0; --bar-2: #e0863f; --bar-3: #7a9a3a; --bar-4: #9a6fc0; --bar-5: #8a929e;
  }
  :root, body { font-size: 11px; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  .card, .tiles li { border-radius: 0; }
  h2, h3, thead { break-after: avoid; }
  tr, .card { break-inside: avoid; }
  thead th { position: static; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
