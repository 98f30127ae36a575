"""
Server rules: real servers recognize the crawlers that `find_in_header` recognizes.

Each server that is installed checks the written configuration, is started on the loopback and gets
requests with real and made headers; a server that is not installed is skipped.
"""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from robotrules.operations.server_rules import SERVERS, header_pattern, server_rules
from robotrules.registries.crawlers import KNOWN_CRAWLERS

KNOWN = list(KNOWN_CRAWLERS)
SENDING = [crawler for crawler in KNOWN if not crawler.is_control]
# Forms of headers; the first ones are those of crawlers, the others of something else.
FORMS = (
    "{}/1.0",
    "{}",
    "{} (+https://example.com/bot)",
    "Mozilla/5.0 (compatible; {}/1.0; +https://example.com/bot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; {}/1.2; +https://example.com)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0 "
    "Safari/537.36 (compatible; {}/2.0)",
    "Mozilla/5.0 (Macintosh) AppleWebKit/600.2.5 (KHTML, like Gecko) Version/8.0.2 "
    "Safari/600.2.5 ({}/0.1; +https://example.com)",
    "ExampleBot/1.0 (like {})",
    "Mozilla/5.0 (compatible; ExampleBot/1.0; like {}/1.0)",
    "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/{})",
    "{}-Extra/1.0",
    "X{}/1.0",
)
# As operators document them.
REAL = {
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "Googlebot",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like "
    "Gecko) Chrome/1.2.3.4 Mobile Safari/537.36 (compatible; Googlebot/2.1; "
    "+http://www.google.com/bot.html)": "Googlebot",
    "Googlebot-Image/1.0": "Googlebot-Image",
    "SAMSUNG-SGH-E250/1.0 Profile/MIDP-2.0 Configuration/CLDC-1.1 UP.Browser/6.2.3.3.c.1.101 "
    "(GUI) MMP/2.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "Googlebot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
    "+https://openai.com/gptbot)": "GPTBot",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)": "Applebot",
    "TelegramBot (like TwitterBot)": "TelegramBot",
    "CCBot/2.0 (https://commoncrawl.org/faq/)": "CCBot",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)": (
        "facebookexternalhit"
    ),
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0": "",
    "curl/8.9.1": "",
    "": "",
    "Mozilla/5.0 (" + "; " * 2_000 + ")": "",
}


def headers() -> Iterator[tuple[str, str]]:
    """Yield headers, each with the crawler that `find_in_header` says it is, or nothing."""
    made = [form.format(crawler.product_token) for crawler in KNOWN for form in FORMS]
    for header in [*REAL, *made]:
        found = KNOWN_CRAWLERS.find_in_header(header)
        yield header, found.product_token if found else ""


def rules(server: str) -> str:
    """Return the rules for all crawlers."""
    return server_rules(server, KNOWN, "robotrules crawlers", KNOWN_CRAWLERS.checked)


def test_real_headers_are_what_operators_document() -> None:
    """The oracle of the other tests, on headers that were written by hand."""
    found = dict(headers())
    assert {header: found[header] for header in REAL} == REAL


def test_patterns_agree_with_find_in_header() -> None:
    """For every crawler and every form of header, exactly one name or none is found."""
    patterns = {
        crawler.product_token: re.compile(header_pattern([crawler.product_token]), re.IGNORECASE)
        for crawler in SENDING
    }
    for header, expected in headers():
        names = [name for name, pattern in patterns.items() if pattern.search(header)]
        assert names == [expected] * bool(expected), header


def test_patterns_take_linear_time() -> None:
    """A header of 200,000 characters is compared in less than a second."""
    pattern = re.compile(header_pattern([c.product_token for c in SENDING], capture=True), re.I)
    for part in ("; ", "(", "Googlebo; ", "0 ", "mozilla/"):
        started = time.monotonic()
        assert not pattern.search(f"mozilla/{part * (200_000 // len(part))}")
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("server", SERVERS)
def test_comments_say_what_it_is_not(server: str) -> None:
    """Each snippet says that headers can be forged, what was left out, and how to use it."""
    text = rules(server)
    comment = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    for words in ("can be forged", "is not security", "Applebot-Extended, Google-Extended", "403"):
        assert words in comment
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert not any("Google-Extended" in line for line in lines)
    assert KNOWN_CRAWLERS.checked in comment


def test_misuse() -> None:
    """An unknown server is refused with the known ones; controls alone would match anything."""
    with pytest.raises(ValueError, match="use nginx, apache, caddy, haproxy"):
        server_rules("iis", KNOWN, "", "")
    controls = [crawler for crawler in KNOWN if crawler.is_control]
    with pytest.raises(ValueError, match="pass at least one that does"):
        server_rules("caddy", controls, "", "")


# --- Real servers ---------------------------------------------------------------------------------

# Each has a site that labels, and on the second port one that refuses, by the lines of the comment
# and with several handlers beside them. RECIPES are these lines, without spaces around them.
RECIPES = {
    "nginx": ["if ($robotrules_refuse) { return 403; }"],
    "apache": [
        "RewriteEngine On",
        "RewriteCond %{ENV:REDIRECT_STATUS} ^$",
        "RewriteCond %{ENV:robotrules_refuse} .",
        "RewriteRule ^ - [F]",
    ],
    "caddy": ["handle @robotrules {", "respond 403", "}", "handle {"],
    "haproxy": ["http-request deny deny_status 403 if robotrules_crawler !{ path /robots.txt }"],
}
# What the sites that refuse answer with 200 for everyone else.
PAGES = ("/", "/img/a.gif", "/x.php", "/exact", "/proxied/a", "/moved", "/open/a", "/robots.txt/a")
NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{ }}
http {{
  access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  large_client_header_buffers 4 16k;
  include {folder}/rules;
  server {{
    listen 127.0.0.1:{port};
    add_header X-Crawler $robotrules_crawler always;
    location / {{ return 200 "ok"; }}
  }}
  server {{
    listen 127.0.0.1:{second};
    if ($robotrules_refuse) {{ return 403; }}
    root {folder}/site;
    location / {{ try_files /index.html =404; }}
    location = /exact {{ return 200 "ok"; }}
    location ^~ /img/ {{ return 200 "ok"; }}
    location ~ \\.php$ {{ return 200 "ok"; }}
    location /proxied/ {{ proxy_pass http://127.0.0.1:{port}; }}
    location = /robots.txt {{ proxy_pass http://127.0.0.1:{port}; }}
    rewrite ^/moved$ /exact last;
  }}
}}
"""
APACHE = """
ServerRoot {folder}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
Listen 127.0.0.1:{second}
PidFile {folder}/pid
ErrorLog {folder}/log
DefaultRuntimeDir {folder}
Mutex posixsem
User www-data
Group www-data
{modules}
KeepAlive On
MaxKeepAliveRequests 0
LimitRequestFieldSize 16000
DocumentRoot {folder}/site
Include {folder}/rules
<VirtualHost 127.0.0.1:{port}>
  FallbackResource /index.html
  Header always set X-Crawler "%{{robotrules_crawler}}e" env=robotrules_crawler
</VirtualHost>
<VirtualHost 127.0.0.1:{second}>
  RewriteEngine On
  RewriteCond %{{ENV:REDIRECT_STATUS}} ^$
  RewriteCond %{{ENV:robotrules_refuse}} .
  RewriteRule ^ - [F]
  RewriteRule ^/moved$ /index.html [L]
  Alias /img {folder}/site
  <Directory {folder}/site>
    RewriteEngine On
    RewriteCond %{{REQUEST_FILENAME}} !-f
    RewriteRule ^ /index.html [L]
  </Directory>
  <Location "/open">
    Require all granted
  </Location>
  <Files "secret.html">
    Require all denied
  </Files>
</VirtualHost>
"""
CADDY = """
{{
  admin off
  auto_https off
}}
http://127.0.0.1:{port} {{
  import {folder}/rules
  header @robotrules X-Crawler {{re.robotrules.1}}
  respond ok
}}
http://127.0.0.1:{second} {{
  import {folder}/rules
  handle @robotrules {{
    respond 403
  }}
  handle {{
    rewrite /moved /exact
    handle /img/* {{
      respond ok
    }}
    reverse_proxy /proxied/* 127.0.0.1:{port}
    redir /away /exact
    respond ok
  }}
}}
"""
HAPROXY = """
global
  tune.bufsize 32768
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend site
  bind 127.0.0.1:{port}
{rules}
  http-request return status 200 hdr X-Crawler %[var(txn.robotrules_crawler)]
frontend refusing
  bind 127.0.0.1:{second}
{rules}
  http-request deny deny_status 403 if robotrules_crawler !{{ path /robots.txt }}
  http-request return status 200 if {{ path_beg /img/ }}
  use_backend other if {{ path_beg /proxied/ }}
  http-request return status 200
backend other
  http-request return status 200
"""
MODULES = "mpm_event authz_core authz_host env setenvif headers dir alias rewrite"


class Server:
    """How a server checks a configuration and runs it."""

    def __init__(self, program: str, text: str, check: list[str], run: list[str]) -> None:
        self.program, self.text, self.check, self.run = program, text, check, run


FILE = "{folder}/conf"
PROGRAMS = {
    "nginx": Server("nginx", NGINX, ["-t", "-c", FILE], ["-c", FILE]),
    "apache": Server("apache2", APACHE, ["-t", "-f", FILE], ["-DFOREGROUND", "-f", FILE]),
    "caddy": Server(
        "caddy",
        CADDY,
        ["validate", "--adapter", "caddyfile", "--config", FILE],
        ["run", "--adapter", "caddyfile", "--config", FILE],
    ),
    "haproxy": Server("haproxy", HAPROXY, ["-c", "-f", FILE], ["-f", FILE]),
}


@contextmanager
def running(name: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Check a server's configuration, start it, and yield its ports."""
    server = PROGRAMS[name]
    program = shutil.which(server.program) or shutil.which(f"/usr/sbin/{server.program}")
    if program is None:
        pytest.skip(f"{server.program} is not installed")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        port, second = listener.getsockname()[1], other.getsockname()[1]
    (folder / "rules").write_text(rules(name))
    (folder / "site").mkdir()
    for page in ("index.html", "secret.html"):
        (folder / "site" / page).write_text("ok")
    modules = "\n".join(
        f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so"
        for module in MODULES.split()
        if Path(f"/usr/lib/apache2/modules/mod_{module}.so").exists()
    )
    ports = {"port": port, "second": second}
    names = {"folder": folder, "modules": modules, "rules": rules(name), **ports}
    configuration = server.text.format(**names)
    (folder / "conf").write_text(configuration)
    comment = [line.strip("# ") for line in rules(name).splitlines() if line.startswith("#")]
    written = [line.strip() for line in configuration.splitlines()]
    for line in RECIPES[name]:
        assert line in comment
        assert line in written
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin:/usr/sbin"}

    def command(arguments: list[str]) -> list[str]:
        """Return a command of the server."""
        return [program, *(argument.format(folder=folder) for argument in arguments)]

    checked = subprocess.run(
        command(server.check), capture_output=True, text=True, env=environment, timeout=60
    )
    assert checked.returncode == 0, checked.stderr + checked.stdout
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command(server.run), stdout=output, stderr=output, env=environment
        )
        try:
            wait_for(port, process, folder / "output")
            yield port, second
        finally:
            process.terminate()
            process.wait(30)


def wait_for(port: int, process: subprocess.Popen[bytes], output: Path) -> None:
    """Wait until a server accepts connections."""
    for _ in range(300):
        assert process.poll() is None, output.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(output.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_real_server_labels_and_refuses(name: str) -> None:
    """
    The server accepts the configuration, and labels each header as `find_in_header` does.

    With the lines of the comment it refuses the same headers for every page, whatever handles it,
    answers /robots.txt for everyone, and opens nothing that was closed.
    """
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        folder.chmod(0o755)  # a server that root starts reads its files as another user
        with running(name, folder) as ports:
            connections = [http.client.HTTPConnection("127.0.0.1", p, timeout=30) for p in ports]

            def get(path: str, header: str, at: int = 1) -> tuple[int, str]:
                """Return status and label of a request."""
                connections[at].request("GET", path, headers={"User-Agent": header})
                response = connections[at].getresponse()
                response.read()
                return response.status, response.headers.get("X-Crawler", "")

            for header, expected in headers():
                status, label = get("/", header, 0)
                assert (status, label.lower()) == (200, expected.lower()), header
            for crawler in SENDING:
                header = f"{crawler.product_token}/1.0"
                assert get("/", header)[0] == 403
                assert get("/robots.txt", header)[0] == 200
            browser = "Mozilla/5.0 (X11; rv:1) Gecko/1 Firefox/1"
            for page in (*PAGES, "/robots.txt?x", "/x?/robots.txt", "/x:/robots.txt"):
                is_robots = page.startswith("/robots.txt?")
                assert get(page, "GPTBot/1.2")[0] == (200 if is_robots else 403), page
                assert get(page, browser)[0] == 200, page
            if name == "apache":
                assert get("/secret.html", browser)[0] == 403
            for connection in connections:
                connection.close()
