"""Change the bytes of a file at random, as broken tools, broken disks and tired people do."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

_MOST: Final = 6
"""Changes of one input."""
_LARGEST: Final = 1 << 18
"""Bytes of an input: what is longer is cut, so that thousands are read in a second."""
_DEEP: Final = 3000

TOKENS: Final = (
    *(b"\0", b"\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"),
    *(
        b"\r",
        b"\n",
        b"\r\n\r\n",
        b"\x0b",
        b"\x0c",
        b"\x1a",
        b"\x1b[2J",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xe2\x80\xae",
    ),
    *(
        b'"',
        b'""',
        b"'",
        b'\\"',
        b"\\",
        b"\\u",
        b"\\ud800",
        b"`",
        b"|",
        b"||",
        b"\t",
        b"\t\t\t",
        b",",
        b";",
        b":",
        b"=",
    ),
    *(
        b"<",
        b">",
        b"</",
        b"/>",
        b"<!--",
        b"<![CDATA[",
        b"]]>",
        b"&",
        b"&#0;",
        b"&#x110000;",
        b"&lol;",
        b"<?x",
        b"<a b=",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b"null",
        b"true",
        b"{}",
        b"[]",
        b'""',
        b"NaN",
        b"Infinity",
        b"-Infinity",
    ),
    *(b"0", b"-1", b"1e999", b"2147483648", b"-9223372036854775809", b"99999999999999999999", b"0x10", b"1_0"),
    *(
        b"9" * 5000,
        "٣".encode(),
        "½".encode(),
        b"0.1.2",
        b"#",
        b"!",
        b"%s%n",
        b"../../x",
        b"http://",
        b"_:b0",
        b"@en",
    ),
    *(b"[" * _DEEP, b"{" * _DEEP, b'{"a":' * _DEEP, b"<a>" * _DEEP, b"(" * _DEEP, b'"' * _DEEP, b"\t" * _DEEP),
    *(b"||" * _DEEP, b"\\" * _DEEP, b" " * _DEEP, b"\n" * _DEEP, b"<" * _DEEP, b"&amp;" * _DEEP, b"a" * 70000),
)
"""Bytes that readers stumble over."""

_NUMBERS: Final = (b"0", b"-1", b"1e999", b"999999999999999999999", b"1.5", b"NaN", b"", b"x", b"9" * 400)
_CODECS: Final = ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp1251", "shift_jis", "utf-7", "utf-8-sig")


def mutated(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Change a file by one to six changes.

    Args:
        data: the bytes of the file.
        random: draws the changes.
        others: other files, parts of which are put into it.
    """
    if data.startswith(b"PK\x03\x04") and random.random() < 0.7:
        return _member_mutated(data, random, others)
    for _ in range(random.randint(1, _MOST)):
        data = random.choice(_CHANGES)(data, random, others)[:_LARGEST]
    return data


def _member_mutated(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Change a file within an archive, which stays whole."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    at, out = random.randrange(len(members)), io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for place, (info, content) in enumerate(members):
            if place == at:
                for _ in range(random.randint(1, 3)):
                    content = random.choice(_CHANGES)(content, random, others)[:_LARGEST]
            archive.writestr(info.filename, content)
    return out.getvalue()


def _range(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + int(random.paretovariate(0.7)))


def _flip(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _noise(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, stop = _range(data, random)
    return data[:start] + random.randbytes(min(stop - start, 200)) + data[stop:]


def _insert(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(TOKENS) + data[at:]


def _overwrite(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, stop = _range(data, random)
    return data[:start] + random.choice(TOKENS) + data[stop:]


def _delete(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, stop = _range(data, random)
    return data[:start] + data[stop:]


def _repeat(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, stop = _range(data, random)
    return data[:stop] + data[start:stop] * random.choice((1, 2, 50)) + data[stop:]


def _truncate(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _behead(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return data[random.randrange(len(data) + 1) :]


def _splice(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    start, stop = sorted(random.randrange(len(other) + 1) for _ in range(2))
    at, end = _range(data, random)
    return data[:at] + other[start:stop] + data[end:]


def _number(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    found = [match.span() for match in re.finditer(rb"\d+", data)]
    if not found:
        return data
    start, stop = random.choice(found)
    return data[:start] + random.choice(_NUMBERS) + data[stop:]


def _by_parts(separators: bytes) -> Callable[[bytes, Random, Sequence[bytes]], bytes]:
    """Make a change that moves, repeats, drops or joins parts of a text."""

    def change(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
        present = [bytes([each]) for each in separators if each in data]
        if not present:
            return data
        separator = random.choice(present)
        parts = data.split(separator)
        one, other = random.randrange(len(parts)), random.randrange(len(parts))
        what = random.randrange(6)
        if what == 0:
            parts[one], parts[other] = parts[other], parts[one]
        elif what == 1:
            parts.insert(other, parts[one])
        elif what == 2:
            del parts[one]
        elif what == 3:
            parts[one] = b""
        elif what == 4:
            parts[one:one] = [parts[one]] * random.choice((2, 300))
        else:
            return separator.join(parts[:one]) + separator.join(parts[one:])
        return separator.join(parts)

    return change


def _recode(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return data.decode("utf-8", "replace").encode(random.choice(_CODECS), "replace")


def _swap_case(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, stop = _range(data, random)
    return data[:start] + data[start:stop].swapcase() + data[stop:]


def _pack(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return packed if random.random() < 0.5 else packed[: random.randrange(len(packed))]


_LINES: Final = _by_parts(b"\n")
_FIELDS: Final = _by_parts(b'\t,;|"<>{}[]:= ()')

_CHANGES: Final = (
    *(_flip, _noise, _insert, _overwrite, _delete, _repeat, _truncate, _behead, _splice, _number),
    *(_LINES, _FIELDS, _insert, _overwrite, _number, _LINES, _FIELDS, _LINES, _FIELDS, _recode, _swap_case, _pack),
)
"""Those that are there twice are done more often: they make files that are nearly right."""
