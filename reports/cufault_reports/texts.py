# SPDX-License-Identifier: Apache-2.0
"""Makes foreign text fit to print: what a subject wrote may hold escape sequences, broken characters or megabytes."""

from __future__ import annotations

import hashlib
import re

# Everything XML 1.0 forbids; a superset of what a terminal would obey, except for C1 (below).
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")
# Marks that reorder the text around them, so that what is read is not what is there.
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: object, limit: int = 4000) -> str:
    """`text` without what XML forbids or what steers a terminal (shown as \\xNN instead), cut to `limit` characters.

    Tab and newline stay. A cut says how many characters are missing.
    """
    string = str(text)
    missing = len(string) - limit
    string = string[:limit].replace("\r\n", "\n")
    string = re.sub("[\r\x85\u2028\u2029]", lambda found: _escape(found[0]), string)
    string = _FORBIDDEN.sub(lambda found: _escape(found[0]), string)
    string = _REORDERING.sub(lambda found: _escape(found[0]), string)
    return string if missing <= 0 else f"{string} […{missing} more characters]"


def one_line(text: object, limit: int = 400) -> str:
    """Like `clean`, in one line."""
    return re.sub(r"[\t\n ]+", " ", clean(text, limit)).strip()


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def slug(*parts: object) -> str:
    """An identifier for HTML anchors, distinct for distinct parts."""
    return "_".join(_slug_part(str(part)) for part in parts)


def _slug_part(text: str) -> str:
    if len(text) > 80:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    plain = (letter if letter.isascii() and letter.isalnum() else f"-{ord(letter):x}-" for letter in text)
    return "".join(plain)


def duration(nanoseconds: int) -> str:
    """`12 µs`, `3.4 ms`, `5.6 s`, `2 min 05 s`."""
    if nanoseconds < 1_000_000:
        return f"{nanoseconds / 1e3:.0f} µs"
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:.1f} ms"
    if nanoseconds < 120_000_000_000:
        return f"{nanoseconds / 1e9:.1f} s"
    minutes, seconds = divmod(nanoseconds // 1_000_000_000, 60)
    return f"{minutes} min {seconds:02d} s"
