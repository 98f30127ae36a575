/** The file that is in the editor at the first start: each part shows something that the page does. */

export const EXAMPLE = `# An example: change a line and watch the answers.
User-agent: *
Disallow: /private/
Allow: /private/press/
Disallow: /*?sessionid=
Disalow: /drafts

# This group replaces the one above for GPTBot: nothing is repeated from there.
User-agent: GPTBot
Disallow: /
Allow: /press/

Sitemap: https://example.com/sitemap.xml
`;

export const EXAMPLE_CRAWLER = "ExampleBot";

export const EXAMPLE_URLS = `https://example.com/
https://example.com/private/letter.html
https://example.com/private/press/2026.html
https://example.com/shop?sessionid=42
https://example.com/drafts/1
`;

export const EXAMPLE_BEFORE = `User-agent: *
Disallow: /private/
Disallow: /search
`;
