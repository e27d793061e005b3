"""Loopback servers that take messages as the vendors of group chats say that they do.

Each is a real HTTP server with its vendor's limits, signature, rate and words of refusal. It keeps
what it took in ``taken`` and what it refused in ``refused``, and it reads what it took the way the
vendor's client would: which addresses can be followed, who is mentioned.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "key-of-the-robot-0123456789"
SECRET = "SECsecret-of-the-robot"  # noqa: S105 - of a robot that does not exist
BARE_ADDRESS = re.compile(r"https?://[^\s)>|]+|(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?:/\S*)?")


class SteppedClock:
    """Time that passes only when it is slept, or moved."""

    def __init__(self, now: float = 1_767_600_000.0) -> None:
        self.time = now
        self.slept: list[float] = []

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Passes at once."""
        self.slept.append(seconds)
        self.time += seconds


@dataclass
class Answer:
    """What a server says."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int = 200, **fields: Any) -> Answer:
        """As JSON."""
        return cls(json.dumps(fields, ensure_ascii=False).encode(), status)


@dataclass(frozen=True)
class Shown:
    """What a person sees of one message: its text, what can be followed, who is called."""

    text: str
    addresses: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()


class Vendor:
    """The server of one vendor, on a port of its own, until it is closed."""

    path = "/"

    def __init__(self, clock: SteppedClock, *, skew_s: float = 0.0, secret: str = "") -> None:
        self.clock = clock
        self.skew_s = skew_s
        self.secret = secret
        self.taken: list[Shown] = []
        self.bodies: list[bytes] = []
        self.refused: list[Answer] = []
        self.script: list[Answer | None] = []
        self._times: list[float] = []
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                answer = vendor.answer(self.path, dict(self.headers), raw)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the robot."""
        return f"http://127.0.0.1:{self._server.server_port}{self.path}"

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def now(self) -> float:
        """The vendor's own clock."""
        return self.clock.now() + self.skew_s

    def answer(self, path: str, headers: dict[str, str], raw: bytes) -> Answer:
        """The next scripted answer, else (or where that is None) what the vendor's rules say."""
        self.bodies.append(raw)
        answer = self.script.pop(0) if self.script else None
        if answer is not None:
            self.refused.append(answer)
            return answer
        assert headers.get("Content-Type", "").startswith("application/json"), headers
        found = self.judged(path, raw)
        if isinstance(found, Answer):
            self.refused.append(found)
            return found
        self.taken.append(found)
        return self.success()

    def judged(self, path: str, raw: bytes) -> Shown | Answer:
        """What a client shows, or why it is refused."""
        raise NotImplementedError

    def success(self) -> Answer:
        """What is said of a message that was taken."""
        raise NotImplementedError

    def busy(self) -> Answer:
        """What is said when there were too many."""
        raise NotImplementedError

    def fault(self) -> Answer:
        """A refusal that no waiting mends, told with HTTP 200 where the vendor does so."""
        raise NotImplementedError

    def too_many(self, count: int, seconds: float) -> bool:
        """Whether a message now would be one more than ``count`` in ``seconds``."""
        return sum(1 for time in self._times if self.now() - time < seconds) >= count

    def counted(self) -> None:
        """A message was let through."""
        self._times.append(self.now())


def markdown_shown(text: str) -> Shown:
    """Markdown as WeCom and DingTalk show it: links, images, bare addresses, mentions."""
    links = re.findall(r"!?\[[^\]]*\]\(([^)]*)\)", text)
    rest = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    rest = re.sub(r'<font color="(?:info|comment|warning)">(.*?)</font>', r"\1", rest)
    mentions = re.findall(r"<@[^>]*>|@(?:all|所有人)|@\d{11}", rest)
    assert "<" not in rest.replace("<@", ""), rest
    return Shown(rest, (*links, *BARE_ADDRESS.findall(rest)), tuple(mentions))


class WeComServer(Vendor):
    """4,096 bytes of Markdown, 20 a minute, errcode in HTTP 200."""

    path = f"/cgi-bin/webhook/send?key={KEY}"
    limit = 4096

    def judged(self, path: str, raw: bytes) -> Shown | Answer:
        """The rules of the documentation, in its order."""
        if parse_qs(urlsplit(path).query).get("key") != [KEY]:
            return Answer.of(errcode=93000, errmsg=f"invalid webhook url, hint: [1], key {path}")
        body = json.loads(raw)
        if set(body) != {"msgtype", "markdown"} or set(body["markdown"]) != {"content"}:
            return Answer.of(errcode=40008, errmsg="invalid message type")
        content = body["markdown"]["content"]
        if not content or len(content.encode()) > self.limit:
            told = f"markdown.content exceed max length {self.limit}. invalid Request Parameter"
            return Answer.of(errcode=40058, errmsg=told)
        if self.too_many(20, 60):
            return self.busy()
        self.counted()
        return markdown_shown(content)

    def success(self) -> Answer:
        """As in the documentation."""
        return Answer.of(errcode=0, errmsg="ok")

    def busy(self) -> Answer:
        """Frequency."""
        return Answer.of(errcode=45009, errmsg="api freq out of limit, hint: [1772]")

    def fault(self) -> Answer:
        """The robot is gone."""
        return Answer.of(errcode=93000, errmsg=f"invalid webhook url, key={KEY}")


class DingTalkServer(Vendor):
    """20,000 bytes of body, 20 a minute or 10 minutes of silence, a signature in the address."""

    path = f"/robot/send?access_token={KEY}"
    limit = 20_000

    def __init__(self, clock: SteppedClock, *, skew_s: float = 0.0, secret: str = SECRET) -> None:
        super().__init__(clock, skew_s=skew_s, secret=secret)
        self._blocked_until = 0.0

    def judged(self, path: str, raw: bytes) -> Shown | Answer:  # noqa: PLR0911 - one a rule
        """The rules of the documentation."""
        query = parse_qs(urlsplit(path).query)
        if query.get("access_token") != [KEY]:
            return Answer.of(errcode=300001, errmsg="token is not exist")
        fault = self._sign_fault(query) if self.secret else ""
        if fault:
            return Answer.of(errcode=310000, errmsg=f"description:{fault};solution:…;link:…")
        if len(raw) > self.limit:
            return Answer.of(errcode=460101, errmsg="message too long, exceed 20000 bytes")
        body = json.loads(raw)
        if body.get("msgtype") != "markdown" or not {*body} <= {"msgtype", "markdown", "at"}:
            return Answer.of(errcode=400105, errmsg="unsupported message type")
        shown = body["markdown"]
        if not shown["title"] or not shown["text"]:
            return Answer.of(errcode=40035, errmsg="缺少参数 json")
        if "Ragnostic" not in shown["text"]:
            return Answer.of(errcode=310000, errmsg="keywords not in content")
        if self.now() < self._blocked_until or self.too_many(20, 60):
            self._blocked_until = max(self._blocked_until, self.now() + 600)
            return self.busy()
        self.counted()
        found = markdown_shown(f"{shown['title']}\n{shown['text']}")
        at = body.get("at", {})
        called = [*at.get("atMobiles", []), *at.get("atUserIds", [])] + ["all"] * at["isAtAll"]
        named = [one for one in found.mentions if one.startswith("<") or one.strip("@") in called]
        return Shown(found.text, found.addresses, (*called, *named))

    def _sign_fault(self, query: dict[str, list[str]]) -> str:
        stamp, sign = query.get("timestamp", [""])[0], query.get("sign", [""])[0]
        if not re.fullmatch(r"\d{13}", stamp) or abs(self.now() - int(stamp) / 1000) > 3600:
            return "invalid timestamp"
        wanted = hmac.digest(self.secret.encode(), f"{stamp}\n{self.secret}".encode(), "sha256")
        return "" if sign == base64.b64encode(wanted).decode() else "机器人发送签名不匹配"

    def success(self) -> Answer:
        """As in the documentation."""
        return Answer.of(errcode=0, errmsg="ok")

    def busy(self) -> Answer:
        """Frequency."""
        return Answer.of(errcode=130101, errmsg="send too fast, exceed 20 times per minute")

    def fault(self) -> Answer:
        """The robot is gone."""
        return Answer.of(errcode=300001, errmsg=f"token is not exist {KEY} {SECRET}")


class FeishuServer(Vendor):
    """20 KB of body, 5 a second and 100 a minute, a signature in the body; cards of plain text."""

    path = f"/open-apis/bot/v2/hook/{KEY}"
    limit = 20 * 1024

    def __init__(self, clock: SteppedClock, *, skew_s: float = 0.0, secret: str = SECRET) -> None:
        super().__init__(clock, skew_s=skew_s, secret=secret)

    def judged(self, path: str, raw: bytes) -> Shown | Answer:  # noqa: PLR0911 - one a rule
        """The rules of the documentation."""
        if path != self.path:
            return Answer.of(code=19001, msg="param invalid: incoming webhook access token invalid")
        if len(raw) > self.limit:
            return Answer.of(status=400, code=9499, msg="Bad Request", data={})
        body = json.loads(raw)
        if self.secret and not self._is_signed(body):
            told = "sign match fail or timestamp is not within one hour from current time"
            return Answer.of(code=19021, data={}, msg=told)
        signed = {"timestamp", "sign"} if self.secret else set()
        if {*body} != {"msg_type", "card"} | signed or body["msg_type"] != "interactive":
            return Answer.of(status=400, code=9499, msg="Bad Request", data={})
        if "Ragnostic" not in raw.decode():
            return Answer.of(code=19024, msg="Key Words Not Found", data={})
        if self.too_many(5, 1):
            return Answer.of(status=400, code=9499, msg="too many request", data={})
        if self.too_many(100, 60):
            return self.busy()
        self.counted()
        return self._shown(body["card"])

    def _is_signed(self, body: dict[str, Any]) -> bool:
        stamp = body.get("timestamp", "")
        if not re.fullmatch(r"\d{10}", stamp) or abs(self.now() - int(stamp)) > 3600:
            return False
        wanted = hmac.new(f"{stamp}\n{self.secret}".encode(), b"", hashlib.sha256).digest()
        return body.get("sign") == base64.b64encode(wanted).decode()

    def _shown(self, card: dict[str, Any]) -> Shown:
        assert set(card) == {"config", "header", "elements"}
        assert card["header"]["template"] in {"red", "orange", "yellow", "green", "grey"}
        texts, addresses = [self._plain(card["header"]["title"])], []
        for element in card["elements"]:
            if element["tag"] == "div":
                texts.append(self._plain(element["text"]))
            elif element["tag"] == "action":
                for button in element["actions"]:
                    assert button["tag"] == "button"
                    texts.append(self._plain(button["text"]))
                    addresses.append(button["url"])
            else:
                assert element == {"tag": "hr"}
        text = "\n".join(texts)
        return Shown(text, (*addresses, *BARE_ADDRESS.findall(text)))

    @staticmethod
    def _plain(text: dict[str, str]) -> str:
        assert set(text) == {"tag", "content"}, text
        assert text["tag"] == "plain_text"
        assert text["content"]
        return text["content"]

    def success(self) -> Answer:
        """As in the documentation."""
        return Answer.of(code=0, msg="success", data={}, StatusCode=0, StatusMessage="success")

    def busy(self) -> Answer:
        """Frequency, or a busy system."""
        return Answer.of(code=11232, msg="frequency limited psm[lark.oapi]appID[1500]", data={})

    def fault(self) -> Answer:
        """The robot is gone."""
        return Answer.of(code=19001, msg=f"incoming webhook access token invalid {KEY} {SECRET}")


class SlackServer(Vendor):
    """50 blocks, 3,000 characters of text, 150 of header; one a second; refusals by status."""

    path = f"/services/T000/B000/{KEY}"

    def judged(self, path: str, raw: bytes) -> Shown | Answer:
        """The rules of the documentation."""
        if path != self.path:
            return Answer(b"no_service", 404)
        try:
            body = json.loads(raw)
        except ValueError:
            return Answer(b"invalid_payload", 400)
        if not {*body} <= {"text", "blocks", "unfurl_links", "unfurl_media"}:
            return Answer(b"invalid_payload", 400)
        blocks = body["blocks"]
        if not 1 <= len(blocks) <= 50 or not all(map(self._is_right, blocks)):
            return Answer(b"invalid_blocks", 400)
        if self.too_many(1, 1):
            return self.busy()
        self.counted()
        return self._shown(body)

    @staticmethod
    def _is_right(block: dict[str, Any]) -> bool:
        if block["type"] == "divider":
            return block == {"type": "divider"}
        text = block["text"]
        most = {"header": 150, "section": 3000}.get(block["type"], 0)
        allowed = {"plain_text": {"type", "text", "emoji"}, "mrkdwn": {"type", "text", "verbatim"}}
        if block["type"] == "header" and text["type"] != "plain_text":
            return False
        units = len(text["text"].encode("utf-16-le")) // 2
        return {*text} <= allowed[text["type"]] and 1 <= units <= most

    @staticmethod
    def _shown(body: dict[str, Any]) -> Shown:
        texts = [body["text"], *(one["text"]["text"] for one in body["blocks"] if "text" in one)]
        parsed = [
            body["text"],
            *(
                one["text"]["text"]
                for one in body["blocks"]
                if one.get("text", {}).get("type") == "mrkdwn"
            ),
        ]
        angled = [inside for text in texts for inside in re.findall(r"<([^>]*)>", text)]
        mentions = [inside for inside in angled if inside[:1] in "!@#"]
        mentions += re.findall(r"@(?:here|channel|everyone)", body["text"])
        links = [inside.partition("|")[0] for inside in angled if inside[:1] not in "!@#"]
        assert not re.search(r"[*_~`]", re.sub(r"<[^>]*>", "", "".join(parsed))), parsed
        rest = re.sub(r"<[^>|]*\|?([^>]*)>", r"\1", "\n".join(texts))
        for entity, mark in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            rest = rest.replace(entity, mark)
        links = [link.replace("&amp;", "&") for link in links]
        return Shown(rest, (*links, *BARE_ADDRESS.findall(rest)), tuple(mentions))

    def success(self) -> Answer:
        """Two letters."""
        return Answer(b"ok")

    def busy(self) -> Answer:
        """With the seconds to wait."""
        return Answer(b"rate_limited", 429, {"Retry-After": "30"})

    def fault(self) -> Answer:
        """The webhook is gone."""
        return Answer(f"no_service {KEY}".encode(), 404)
