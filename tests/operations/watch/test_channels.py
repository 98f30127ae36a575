"""The channels, with real receivers: what they send, and what counts as accepted."""

from __future__ import annotations

import email
import email.policy
import json
import os
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from robotrules.operations.watch.channels import DELIVERED
from robotrules.operations.watch.channels.command import CommandChannel
from robotrules.operations.watch.channels.feed import FeedChannel, check_replaceable, make_feed
from robotrules.operations.watch.channels.mail import MailChannel, MailServer
from robotrules.operations.watch.channels.stream import StreamChannel
from robotrules.operations.watch.channels.webhook import (
    WebhookChannel,
    parse_secret,
    sign,
    webhook_body,
)
from robotrules.operations.watch.events import EventKind, WatchEvent, make_event
from tests.client.fault_servers import (
    client_tls,
    closed_port,
    drips_headers,
    message,
    resets_at_once,
    says,
    serve,
    server_tls,
)
from tests.operations.watch.receivers import Hook, mail_server, webhook_endpoint

KEY = b"0123456789abcdef0123456789abcdef"


def event(
    number: int = 1, sentence: str = "GPTBot may fetch less.", level: str = "warning"
) -> WatchEvent:
    """Return an event."""
    return make_event(
        EventKind.RULES_CHANGED,
        level,
        sentence,
        at=1_777_000_000.0 + number,
        origin="https://example.com",
        target="https://example.com/robots.txt",
        revision=number,
        details={"changes": [{"crawlers": ["GPTBot"], "example": "/x", "becomes": "disallowed"}]},
    )


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A webhook endpoint."""
    with webhook_endpoint() as running:
        yield running


class TestWebhook:
    """One signed request for each event."""

    def test_a_request(self, hook: Hook) -> None:
        """Id, timestamp and signature are those of Standard Webhooks; the body has the event."""
        channel = WebhookChannel(hook.url, key=KEY, clock=lambda: 1_777_000_009.5)
        assert channel.deliver([event()]) == DELIVERED
        [(fields, body)] = hook.requests
        assert fields["webhook-id"] == fields["idempotency-key"] == event().id
        assert fields["webhook-timestamp"] == "1777000009"
        assert fields["webhook-signature"] == sign(KEY, event().id, 1_777_000_009, body)
        found = json.loads(body)
        assert found["data"] == event().as_dict()
        assert found["type"] == "robotrules.rules-changed"
        assert found["text"] == "https://example.com/robots.txt: GPTBot may fetch less."
        assert fields["content-type"] == "application/json"

    def test_the_text_is_no_markup(self) -> None:
        """A site cannot call everyone in a chat, or show a link as another; `data` is unchanged."""
        quoted = "/<!channel>&@here[x](http://evil.example)![y][z]`c`*b*_i_~s~/a_b*"
        bad = event(sentence=f"Everyone else may fetch {quoted}.")
        bad = bad._replace(target="https://example.com/*[a](b)@here<!here>?a=b&c_d=%20")
        found = json.loads(webhook_body(bad))
        assert found["data"] == json.loads(json.dumps(bad.as_dict()))
        text = found["text"]
        assert text.startswith(
            "https://example.com/%2A%5Ba%5D%28b%29%40here%3C!here%3E?a=b&amp;c_d=%20: Everyone "
        )
        for mark in ("<", ">", "](", "][", "@h", "`"):
            assert mark not in text
        assert "&lt;!channel&gt;&amp;@\u200bhere" in text
        assert "\u200a*\u200ab\u200a*\u200a" in text
        assert "a_b\u200a*\u200a." in text

    def test_the_signature_of_the_specification(self) -> None:
        """The example of standardwebhooks.com, with its secret and its result."""
        key = parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        body = b'{"test": 2432232314}'
        found = sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body)
        assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    def test_without_a_secret_there_is_no_signature(self, hook: Hook) -> None:
        """And everything else is as usual."""
        assert WebhookChannel(hook.url).deliver([event()]) == DELIVERED
        assert "webhook-signature" not in hook.requests[0][0]

    @pytest.mark.parametrize(
        ("status", "retry_after", "only_these"),
        [(503, 120.0, False), (429, 120.0, False), (500, 120.0, False), (422, 120.0, True)],
    )
    def test_what_is_not_accepted(
        self, hook: Hook, status: int, retry_after: float, only_these: bool
    ) -> None:
        """A Retry-After is passed on; some statuses concern one event."""
        hook.status, hook.fields = status, {"Retry-After": "120"}
        found = WebhookChannel(hook.url).deliver([event()])
        assert found == (f"status {status}", retry_after, only_these)

    @pytest.mark.parametrize(
        "url", ["http://a..b/hook", f"https://{'a' * 64}.example/", "http://.example/"]
    )
    def test_a_host_that_no_name_can_be(self, url: str) -> None:
        """Is refused at once, as other invalid URLs are."""
        with pytest.raises(ValueError, match="the host of the webhook is not a name"):
            WebhookChannel(url)

    def test_redirects_are_not_followed(self, hook: Hook) -> None:
        """The target may be another's."""
        hook.status, hook.fields = 302, {"Location": hook.url}
        found = WebhookChannel(hook.url).deliver([event()])
        assert found.error == "status 302; redirects are not followed"
        assert hook.refused == 1

    def test_servers_that_lie(self) -> None:
        """A reset, a closed port, and one that answers a byte at a time: errors, in time."""
        with closed_port() as url:
            assert WebhookChannel(url).deliver([event()]).error.startswith("no response: ")
        with serve(resets_at_once) as site:
            assert WebhookChannel(site.url).deliver([event()]).error.startswith("no response: ")
        with serve(says(b"nonsense\r\n\r\n")) as site:
            assert WebhookChannel(site.url).deliver([event()]).error.startswith("no response: ")
        began = time.monotonic()
        with serve(drips_headers) as site:
            assert WebhookChannel(site.url, timeout=0.3).deliver([event()]).error
        assert time.monotonic() - began < 5

    def test_tls_is_verified(self) -> None:
        """A certificate of an unknown authority is refused."""
        with serve(says(message()), tls=server_tls("localhost")) as site:
            channel = WebhookChannel(site.url)
            assert "certificate" in channel.deliver([event()]).error.lower()

    def test_names_have_no_secret(self) -> None:
        """The path of a webhook is often its password."""
        channel = WebhookChannel("https://hooks.example.com/services/SECRET?x=SECRET")
        assert channel.name == "webhook hooks.example.com"
        assert "SECRET" not in channel.key + channel.name
        assert WebhookChannel("http://localhost:81/").name == "webhook localhost:81"

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://example.com/",
            "https://",
            "https://u:p@example.com/",
            "https://example.com:99999/",
            "https://exa mple.com/\r\nX: y",
            "example.com/hook",
        ],
    )
    def test_invalid_urls(self, url: str) -> None:
        """The error says what to pass."""
        with pytest.raises(ValueError, match="webhook"):
            WebhookChannel(url)

    @pytest.mark.parametrize("secret", ["", "short", "whsec_***", "whsec_c2hvcnQ="])
    def test_invalid_secrets(self, secret: str) -> None:
        """Too short ones, too."""
        with pytest.raises(ValueError, match="webhook secret"):
            parse_secret(secret)
        assert parse_secret("a secret of more than 24 characters")


class TestCommand:
    """A program that is run for each event."""

    def test_it_gets_json(self, tmp_path: Path) -> None:
        """On stdin, one line, without a shell."""
        heard = tmp_path / "heard; rm -rf x"
        code = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
        channel = CommandChannel([sys.executable, "-c", code, str(heard)])
        assert channel.deliver([event(1), event(2)]) == DELIVERED
        assert heard.read_bytes() == event(1).as_json_line() + event(2).as_json_line()

    def test_failures(self, tmp_path: Path) -> None:
        """A code, a signal, a missing program; the first line of its messages is shown."""
        code = "import sys; print('no \\x1b[2J', 'x' * 10**6, file=sys.stderr); sys.exit(3)"
        found = CommandChannel([sys.executable, "-c", code]).deliver([event()])
        assert found.error.startswith("exit code 3: no \\x1b[2J xxx")
        assert len(found.error) < 300
        found = CommandChannel(["sh", "-c", "kill -9 $$"]).deliver([event()])
        assert found.error == "signal 9"
        found = CommandChannel([str(tmp_path / "none")]).deliver([event()])
        assert found.error == "it cannot be started: No such file or directory"
        with pytest.raises(ValueError, match="empty"):
            CommandChannel([])

    def test_it_gets_no_secrets(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those of other channels are not in its environment; the rest is."""
        monkeypatch.setenv("SECRET", "s3cret")
        monkeypatch.setenv("OTHER", "kept")
        heard = tmp_path / "heard"
        command = ["sh", "-c", f'echo "$SECRET,$OTHER" > {heard}']
        assert CommandChannel(command, hidden=["SECRET"]).deliver([event()]) == DELIVERED
        assert heard.read_text() == ",kept\n"

    def test_its_time_ends(self) -> None:
        """The program and its children are ended."""
        began = time.monotonic()
        found = CommandChannel(["sh", "-c", "sleep 30 & sleep 30"], timeout=0.3).deliver([event()])
        assert found.error == "it did not end within 0.3 s, and was stopped"
        assert time.monotonic() - began < 10


class TestMail:
    """Messages by SMTP."""

    def test_a_message(self) -> None:
        """Several events in one, with a subject, and a stable Message-ID."""
        with mail_server() as box:
            server = MailServer("127.0.0.1", box.port, "none")
            channel = MailChannel(["ops@example.com"], "watch@example.com", server)
            for _ in range(2):
                assert channel.deliver([event(1), event(2, "All is lost.", "error")]) == DELIVERED
        first, second = (
            email.message_from_bytes(one, policy=email.policy.default) for one in box.messages
        )
        assert first["Message-ID"] == second["Message-ID"]
        assert first["Subject"] == "2 changes at example.com: All is lost."
        assert (first["To"], first["From"]) == ("ops@example.com", "watch@example.com")
        assert first["Auto-Submitted"] == "auto-generated"
        text = first.get_content()
        assert "GPTBot may fetch less." in text
        assert "GPTBot: /x is disallowed now" in text
        assert channel.name == "mail to ops@example.com"

    def test_nothing_of_a_server_becomes_a_field(self) -> None:
        """A sentence with line ends would be refused or escaped; it cannot add a recipient."""
        bad = event(1, "x\r\nBcc: evil@example.net\r\n\r\n.\r\nMAIL FROM:<x>\x00" + "é" * 500)
        with mail_server() as box:
            server = MailServer("127.0.0.1", box.port, "none")
            channel = MailChannel(["ops@example.com"], "watch@example.com", server)
            assert channel.deliver([bad]) == DELIVERED
        found = email.message_from_bytes(box.messages[0], policy=email.policy.default)
        assert found["Bcc"] is None
        assert len(box.messages) == 1
        assert [one for one in box.commands if one.upper().startswith("RCPT")] == [
            "rcpt TO:<ops@example.com>"
        ]

    def test_starttls_and_a_password(self) -> None:
        """The password is sent after encryption."""
        with mail_server(server_tls("localhost")) as box:
            server = MailServer("localhost", box.port, "starttls", "user", "password")
            channel = MailChannel(
                ["ops@example.com"], "watch@example.com", server, context=client_tls()
            )
            assert channel.deliver([event()]) == DELIVERED
            order = [one.split(" ")[0].upper() for one in box.commands]
            assert order.index("STARTTLS") < order.index("AUTH")
            # Without the authority the certificate is refused, and nothing is sent.
            box.commands.clear()
            found = MailChannel(["ops@example.com"], "watch@example.com", server).deliver([event()])
            assert "certificate" in found.error.lower()
            assert not any(one.upper().startswith("AUTH") for one in box.commands)

    def test_a_server_without_encryption_gets_no_password(self) -> None:
        """Not even if it is asked for by mistake."""
        with mail_server() as box:
            server = MailServer("localhost", box.port, "starttls", "user", "password")
            found = MailChannel(["ops@example.com"], "watch@example.com", server).deliver([event()])
            assert found.error
            assert not any(one.upper().startswith("AUTH") for one in box.commands)
        with pytest.raises(ValueError, match="encryption"):
            MailChannel(
                ["a@example.com"], "b@example.com", MailServer("mail.example", None, "none", "u")
            )

    @pytest.mark.parametrize(
        ("word", "reply", "error"),
        [
            ("RCPT", "550 no such user", "all recipients were refused: 550 no such user"),
            ("DATA", "451 try later", "451 try later"),
            ("MAIL", "452 full \x1b", "452 full \\x1b"),
        ],
    )
    def test_replies_that_refuse(self, word: str, reply: str, error: str) -> None:
        """They are errors with the words of the server, printable."""
        with mail_server() as box:
            box.refuses[word] = reply
            server = MailServer("127.0.0.1", box.port, "none")
            found = MailChannel(["ops@example.com"], "watch@example.com", server).deliver([event()])
        assert found.error == error
        assert found.error.isprintable()

    def test_no_server(self) -> None:
        """A closed port."""
        with closed_port() as url:
            port = int(url.rpartition(":")[2])
            for security in ("none", "tls"):
                server = MailServer("127.0.0.1", port, security)
                found = MailChannel(["ops@example.com"], "w@example.com", server).deliver([event()])
                assert found.error == "no mail server: Connection refused"

    @pytest.mark.parametrize(
        "address", ["", "ops", "a@b\r\nBcc: c@d", "a b@example.com", "@x", "a@"]
    )
    def test_addresses(self, address: str) -> None:
        """What is not one is refused before anything is sent."""
        with pytest.raises(ValueError, match=r"mail address|domain"):
            MailChannel([address], "watch@example.com")
        with pytest.raises(ValueError, match="recipient"):
            MailChannel([], "watch@example.com")
        with pytest.raises(ValueError, match="unknown"):
            MailChannel(["a@example.com"], "b@example.com", MailServer(security="ssl"))


class TestFeed:
    """An Atom file."""

    def test_a_feed(self, tmp_path: Path) -> None:
        """What RFC 4287 §4.1 requires; ids are URNs, and the same after another delivery."""
        path = tmp_path / "feed.atom"
        history = [event(2, "a < b & \x1b]]>\ufffe \ud800"), event(1)]
        name = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
        channel = FeedChannel(str(path), feed_id=name, history=lambda most: history[:most])
        channel.create(1.0)
        assert b"1970-01-01T00:00:01Z" in path.read_bytes()
        assert channel.deliver(history) == DELIVERED
        first = path.read_bytes()
        assert channel.deliver(history) == DELIVERED
        assert path.read_bytes() == first
        atom = "{http://www.w3.org/2005/Atom}"
        feed = ElementTree.fromstring(first)
        assert feed.tag == f"{atom}feed"
        assert feed.findtext(f"{atom}id") == f"urn:uuid:{name}"
        assert feed.findtext(f"{atom}updated") == "2026-04-24T03:06:42Z"
        assert feed.findtext(f"{atom}author/{atom}name")
        entries = feed.findall(f"{atom}entry")
        assert [one.findtext(f"{atom}id") for one in entries] == [one.uuid.urn for one in history]
        for one in entries:
            for needed in ("id", "title", "updated", "content"):
                assert one.findtext(f"{atom}{needed}")
            assert one.find(f"{atom}link").attrib["rel"] == "alternate"  # type: ignore[union-attr]

    def test_a_level_and_a_limit(self) -> None:
        """Only what is important enough, and the last ones."""
        assert make_feed("x", "t", [event(n) for n in range(5)]).count(b"<entry>") == 5

    def test_it_cannot_be_written(self, tmp_path: Path) -> None:
        """That is a failure, and tried again."""
        path = tmp_path / "none" / "feed.atom"
        channel = FeedChannel(str(path), feed_id="x", history=lambda _: [event()])
        channel.create(1.0)
        assert channel.deliver([event()]).error == "cannot be written: No such file or directory"


class TestReplacedFiles:
    """A feed replaces a feed, and nothing else."""

    def test_what_is_replaced(self, tmp_path: Path) -> None:
        """No file, an empty one, and a feed of any watch."""
        path = tmp_path / "feed.atom"
        assert check_replaceable(str(path)) == ""
        path.touch()
        assert check_replaceable(str(path)) == ""
        title = "\U0001f600" * 200
        path.write_bytes(make_feed("5f0a", title, [event()] * 50))
        assert check_replaceable(str(path)) == ""

    def test_what_is_not(self, tmp_path: Path) -> None:
        """Text, another program's feed, a pipe, a link that leads nowhere."""
        path = tmp_path / "file"
        feed = make_feed("5f0a", "title", [event()])
        for octets in (b"text", feed.replace(b"robotrules watch", b"blog"), b"\0" * 10_000):
            path.write_bytes(octets)
            channel = FeedChannel(str(path), feed_id="5f0a", history=lambda most: [event()])
            channel.create(1.0)
            assert "other content than a feed" in channel.deliver([event()]).error
            assert path.read_bytes() == octets
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "link").symlink_to("nowhere")
        for name in ("pipe", "link"):
            assert check_replaceable(str(tmp_path / name)) == "is not a regular file"


class TestStream:
    """Lines in a file, each once, also after a crash at any moment."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """The file that stdout is."""
        return tmp_path / "out"

    def opened(self, path: Path, mode: str = "ab") -> tuple[IO[bytes], StreamChannel]:
        """Return a stream, and the channel."""
        stream = open(path, mode)  # noqa: SIM115
        return stream, StreamChannel(stream, WatchEvent.as_json_line)  # type: ignore[arg-type]

    @pytest.mark.parametrize("mode", ["ab", "r+b"])
    def test_every_byte_at_which_a_process_may_die(self, path: Path, mode: str) -> None:
        """After any part of the write: the rest is written, and no line twice."""
        events = [event(1), event(2)]
        whole = b"".join(one.as_json_line() for one in events)
        for died in [0, 1, 10, len(events[0].as_json_line()), len(whole) - 1, len(whole)]:
            path.write_bytes(b"before\n")
            stream, channel = self.opened(path, mode)
            stream.seek(0, os.SEEK_END)
            position = channel.position()
            assert position is not None
            stream.write(whole[:died])
            stream.close()
            stream, channel = self.opened(path, mode)
            stream.seek(0, os.SEEK_END)
            channel.resume(position, events)
            stream.close()
            assert path.read_bytes() == b"before\n" + whole, died

    def test_lines_of_others_in_between(self, path: Path) -> None:
        """Another program appended to the file."""
        path.write_bytes(b"")
        stream, channel = self.opened(path)
        position = channel.position()
        assert position is not None
        stream.write(event(1).as_json_line() + b"other\n")
        stream.flush()
        channel.resume(position, [event(1), event(2)])
        stream.close()
        assert path.read_bytes() == event(1).as_json_line() + b"other\n" + event(2).as_json_line()

    def test_another_file(self, path: Path) -> None:
        """The lines are not in it: they are written."""
        stream, channel = self.opened(path)
        position = channel.position()
        assert position is not None
        stream.close()
        other, channel = self.opened(path.with_name("other"))
        channel.resume({**position, "inode": -1}, [event(1)])
        other.close()
        assert path.with_name("other").read_bytes() == event(1).as_json_line()

    def test_a_pipe_has_no_position(self) -> None:
        """Nor does a stream without a file."""
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as stream, os.fdopen(reading, "rb") as reader:
            channel = StreamChannel(stream, WatchEvent.as_text_line)
            assert channel.position() is None
            assert channel.deliver([event()]) == DELIVERED
            assert b"GPTBot may fetch less." in reader.readline()
