"""Keys, tokens and passwords in text: by their known shape, or by the name that stands before."""

from __future__ import annotations

import re

MARK = "‹secret›"

_START = r"(?<![A-Za-z0-9_])"
_SHAPES = re.compile(
    rf"""
    {_START}(?:
      sk-(?=[\w-]{{0,200}}\d)[A-Za-z0-9_-]{{8,}}                 # model providers
    | gh[pousr]_[A-Za-z0-9]{{16,}} | github_pat_\w{{20,}} | glpat-[\w-]{{16,}}
    | (?:AKIA|ASIA)[A-Z0-9]{{12,}} | LTAI[A-Za-z0-9]{{12,}} | AKID[A-Za-z0-9]{{13,}}
    | AIza[\w-]{{30,}} | hf_[A-Za-z0-9]{{20,}} | xox[abeprs]-[\w-]{{10,}}
    | eyJ[\w-]{{5,}}\.[\w-]{{5,}}(?:\.[\w-]*)?                   # JSON web token
    )
    | -----BEGIN[ ][A-Z ]{{0,30}}PRIVATE[ ]KEY-----[^-]{{0,20000}}
      (?:-----END[ ][A-Z ]{{0,40}}-----)?
    """,
    re.ASCII | re.VERBOSE,
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s?#\"'<>]{1,300}:[^/@\s?#\"'<>]{1,300}(?=@)")
_BEARER = re.compile(r"(?i)(?<![a-z0-9])(bearer|basic)(\s{1,3})([A-Za-z0-9._~+/=-]{8,})")
_IN_URL = re.compile(
    r"(?i)([?&;](?:amp;)?(?:[\w-]{0,30}[_-])?(?:key|apikey|accesskey\w{0,6}|token|secret|sig|"
    r"signature|passw(?:or)?d|pwd|auth|credential)=)([^\s&#\"'<>\\‹]{3,})",
    re.ASCII,
)
_NAME = r"""
    (?<![a-z0-9])
    ((?:[a-z0-9]{1,20}[_-]){0,3}
     (?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|secret|token|passw(?:or)?d
       |passphrase|pwd|credentials?|signature|(?:proxy-)?authori[sz]ation|key)
     |密码|口令|密钥|令牌|验证码)
    (\\?["']?\s{0,3}(?:=>|[=:：＝是为])\s{0,3})
"""
_QUOTED = re.compile(rf"(?ix){_NAME}(\\?[\"'])([^\"'\\\r\n‹]{{3,1000}})(?=\\?[\"'])")
_BARE = re.compile(
    rf"(?ix){_NAME}((?:bearer|basic|digest|token)[ ]{{1,3}})?([!\#$%*+\-./0-9:;=?@a-z^_`~]{{3,}})"
)
_COOKIE = re.compile(
    r"(?i)(cookie\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?)([\w.-]{1,200}=[^;\s\"'\\]{0,4000}"
    r"(?:;\s?[\w.-]{1,200}(?:=[^;\s\"'\\]{0,4000})?){0,100})",
    re.ASCII,
)
_STRONG = re.compile(
    r"(?i)(?:api|access|secret|private|auth|refresh|client|session)[_-]?(?:key|token)"
    r"|secret|pass|pwd|credential|authori|密|口令"
)
_AMOUNT = re.compile(r"[\d~.-]+\s{0,2}(?:位|个|字符|天|次|分钟|小时)")
HINTS = (
    r"sk-[\w-]{8}|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA[A-Z0-9]{12}|LTAI|AKID|AIza|hf_|xox[a-z]-"
    r"|eyJ[\w-]+\.|-----BEGIN|://[^/@\s]+:[^/@\s]+@|(?i:(?:bearer|basic)\s+[\w.~+/=-]{8})"
    r"|(?i:(?:key\w*|token|secret|sig|signature|pass\w*|pwd|auth\w*|credentials?|cookie)"
    r"|密码|口令|密钥|令牌|验证码)\\?[\"']?\s{0,3}[=:：＝是为]"
)
"""What every secret has about it, for :class:`ragnostic.gateway.suspicion.Suspicion`."""

_KEY_NAME = re.compile(
    r"(?i)authori[sz]ation|cookie|secret|passw|passphrase|credential|private[_-]?key"
    r"|(?:api|access|subscription|app)[_-]?key|(?<![a-z])pwd(?![a-z])|token$|密码|口令|密钥"
)


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret, whatever its value looks like.

    >>> is_secret_name("Authorization"), is_secret_name("max_tokens")
    (True, False)
    """
    return _KEY_NAME.search(name) is not None


def mask_secrets(text: str) -> str:
    """The text with keys, tokens and passwords replaced; the name before one stays.

    >>> mask_secrets("GET /v1/chat?key=sk-test-0000-not-real HTTP/1.1")
    'GET /v1/chat?key=‹secret› HTTP/1.1'
    >>> mask_secrets("password: hunter2, max_tokens: 400")
    'password: ‹secret›, max_tokens: 400'
    """
    text = _IN_URL.sub(rf"\1{MARK}", text)
    text = _USER_INFO.sub(MARK, text)
    text = _SHAPES.sub(MARK, text)
    text = _BEARER.sub(_bearer, text)
    text = _COOKIE.sub(rf"\1{MARK}", text)
    text = _QUOTED.sub(_quoted, text)
    return _BARE.sub(_bare, text)


def _bearer(match: re.Match[str]) -> str:
    """Masked, unless it is a word: "bearer responsibilities"."""
    scheme, gap, token = match.groups()
    if len(token) < 20 and not _has_digit(token):
        return match[0]
    return f"{scheme}{gap}{MARK}"


def _quoted(match: re.Match[str]) -> str:
    name, middle, quote, value = match.groups()
    if _STRONG.search(name) or _is_mixed(value):
        return f"{name}{middle}{quote}{MARK}"
    return match[0]


def _bare(match: re.Match[str]) -> str:
    """Masked, unless the value is a word of a sentence about secrets, or an amount."""
    name, middle, scheme, value = match.groups()
    assigned = "=" in middle or "＝" in middle
    if _STRONG.search(name):
        tells = bool(scheme) or assigned or _is_mixed(value)
    elif name.lower().endswith("key"):
        tells = _is_mixed(value) and len(value) >= 8
    else:
        tells = _is_mixed(value) or (assigned and not value.isdigit())
    if not tells or _AMOUNT.match(match.string, match.start(4)):
        return match[0]
    return f"{name}{middle}{scheme or ''}{MARK}"


def _is_mixed(value: str) -> bool:
    """Whether a value has digits, and is no short number."""
    return _has_digit(value) and (not value.isdigit() or len(value) >= 6)


def _has_digit(text: str) -> bool:
    return any(mark.isdigit() for mark in text)
