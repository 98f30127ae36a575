// A polite crawler: node crawler.mjs http://127.0.0.1:8080 https://example.com/
const [sidecar, ...queue] = process.argv.slice(2);
const seen = new Set(queue);

// Returns the answer of the sidecar; without one, nothing is allowed.
async function ask(path, question) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(question);
  try {
    return await (await fetch(sidecar + path, { method: "POST", headers, body })).json();
  } catch {
    return { allowed: false, reason: "no answer" };
  }
}

async function crawl(url) {
  const slot = await ask("/v1/slot", { url, as: "ExampleBot" });
  if (slot.allowed !== true) return console.log(`skipped ${url} ${slot.reason}`);
  await new Promise((resolve) => setTimeout(resolve, Math.ceil(slot.wait * 1000) + 2));
  // It follows no redirects: the rules for their targets may be different.
  const headers = { "User-Agent": "ExampleBot/1.0 (+https://example.com/bot)" };
  const response = await fetch(url, { headers, redirect: "manual" });
  const page = await response.text();
  const retry_after = response.headers.get("Retry-After");
  await ask("/v1/responses", { url, status: response.status, retry_after });
  console.log(`${response.status} ${url}`);
  const links = [...page.matchAll(/href="([^"#]+)/g)].map((match) => match[1]);
  for (const link of [...links, response.headers.get("Location") ?? url]) {
    const next = URL.canParse(link, url) ? new URL(link, url).href : url;
    if (seen.has(next)) continue;
    seen.add(next);
    const check = await ask("/v1/check", { url: next, as: "ExampleBot" });
    if (check.allowed === true) queue.push(next);
  }
}

while (queue.length) await crawl(queue.shift()).catch(console.error);
