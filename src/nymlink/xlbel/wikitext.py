"""Convert wikitext to plain text with links, and find the sentences around the links.

Only running text is kept. Templates, tables, references, files, formulas and headings are left out. The time grows
linearly with the length of the text. A full parser is a fifth as fast (``benchmarks/formats/xlbel.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from nymlink.xlbel.dump import Site

LONGEST: Final = 400
"""Largest number of characters of a sentence. A longer sentence is cut to the text around the mention. This often
happens in scripts that do not mark the end of a sentence, such as Thai.
"""

_CLOSING: Final = "\"'”’»」』】》）)\\]"
_END: Final = re.compile(
    # Chinese, Japanese, Urdu and Hindi put no space after a sentence, or need none.
    rf"[。！？｡。؟۔।॥]+[{_CLOSING}]*\s*"
    # A full stop after one or two letters belongs to an abbreviation or an initial.
    rf"|(?:(?<=\w\w\w)\.|(?<=[{_CLOSING}%])\.|(?<![!?…])[!?…]++)[{_CLOSING}]*+\s+"
)
_PAUSE: Final = re.compile(r"[\s、，；,;]+")


class Sentences:
    """The sentences of a line of plain text."""

    def __init__(self, text: str) -> None:
        self._text = text
        ends = [match.span() for match in _END.finditer(text) if not text[match.end() : match.end() + 1].islower()]
        self._marks = [mark for mark, _ in ends]
        self._nexts = [next_ for _, next_ in ends]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Find the bounds of the sentence of a mention.

        Args:
            start: offset of the first character of the mention.
            end: offset one past its last character.

        Returns:
            Offsets of the sentence, without white space around it; the mention is within.
        """
        before, after = bisect_right(self._nexts, start), bisect_left(self._marks, end)
        left = self._nexts[before - 1] if before else 0
        right = self._nexts[after] if after < len(self._marks) else len(self._text)
        if right - left > LONGEST:
            left, right = _window(self._text, left, right, start, end)
        while left < start and self._text[left].isspace():
            left += 1
        while right > end and self._text[right - 1].isspace():
            right -= 1
        return left, right


def _window(text: str, left: int, right: int, start: int, end: int) -> tuple[int, int]:
    """Narrow a sentence to the text around the mention, between pauses if there are any."""
    margin = max(LONGEST - (end - start), 0) // 2
    if start - left > margin:
        pause = _PAUSE.search(text, start - margin, start)
        left = pause.end() if pause else start - margin
    if right - end > margin:
        pauses = list(_PAUSE.finditer(text, end, end + margin))
        right = pauses[-1].start() if pauses else end + margin
    return left, right


MEDIA: Final = frozenset({"file", "image", "category"})
"""Namespaces whose links are pictures or categories, by the names that every Wikipedia knows."""

_TARGET: Final = re.compile(r"\[\[([^\[\]|\n]{1,300})")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_VERBATIM: Final = frozenset(
    "ce chem code gallery graph hiero imagemap indicator mapframe maplink math nowiki poem pre score source "
    "syntaxhighlight templatedata timeline".split()
)
"""Elements with verbatim content, or without running text."""
_BLOCK: Final = re.compile(
    r"\{\{|\}\}|^[ \t:]*\{\||^[ \t]*\|\}(?!\})|^==.*==[ \t]*$"
    rf"|<(/?)({'|'.join(['ref', *sorted(_VERBATIM)])})\b([^<>]*)>",
    re.M | re.I,
)
_HEADING: Final = "heading"
_CLOSES: Final = {"}}": "{{", "|}": "{|"}

_BRACKETS: Final = re.compile(r"\[\[|\]\]")
_LINK: Final = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_INTERLANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*:\S")

_VARIANTS: Final = re.compile(r"-\{(?:[^{}|]*\|)?(?:[^{}:;]*:)?([^{};]*)(?:;[^{}]*)?\}-")
"""Chinese in several scripts; the first script is taken."""
# Possessive: trying parts of an address again would take time quadratic in its length.
_EXTERNAL: Final = re.compile(r"(?<!\[)\[(?:(?:https?|ftp):)?//[^\s\[\]]++ ?([^\[\]]*+)\](?!\])", re.I)
_LINE_BREAK: Final = re.compile(r"<br\b[^<>]*>", re.I)
_MARKUP: Final = re.compile(r"'{2,}|</?[a-z][^<>]*>|__[A-Z]+__", re.I)
_EMPTY_BRACKETS: Final = re.compile(r" ?[(（][\s,;:，、；]*[)）]")
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TextLink:
    """A link in a plain text.

    Attributes:
        start: offset of its first character.
        end: offset one past its last character.
        target: its target as written.
    """

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of plain text (in wikitext mostly a paragraph), with its links in order."""

    text: str
    links: tuple[TextLink, ...]


def link_targets(wikitext: str) -> set[str]:
    """Find possible targets of links, as written, quickly and without parsing the text."""
    return set(_TARGET.findall(wikitext))


def parse_lines(wikitext: str, site: Site, targets: Container[str]) -> Iterator[Line]:
    """Parse the lines of running text that have a link to one of some targets.

    The text of a link includes letters directly after it ("[[tumour]]s"), as in MediaWiki.

    Args:
        wikitext: the text of a page.
        site: its Wikipedia.
        targets: some of the targets found by :func:`link_targets`.
    """
    for line in _running_text(wikitext).split("\n"):
        if line[:1] not in ("=", "|", "!") and any(target in targets for target in _TARGET.findall(line)):
            yield _parse_line(line.lstrip("*#:; \t"), site)


def _running_text(wikitext: str) -> str:
    """Leave out comments, templates, tables, references and verbatim text.

    Markup that is not closed ends at the next heading. A mistake therefore does not remove the rest of the page.
    """
    text = _COMMENT.sub("", wikitext)
    kept: list[str] = []
    open_blocks: list[str] = []
    numbers: Counter[str] = Counter()
    position = 0
    for token in _BLOCK.finditer(text):
        block, opens = _block(token)
        verbatim = bool(open_blocks) and open_blocks[-1] in _VERBATIM
        if block == _HEADING:
            if open_blocks:
                open_blocks.clear()
                numbers.clear()
                position = token.start()
        elif opens and not verbatim:
            if not open_blocks:
                kept.append(text[position : token.start()])
            open_blocks.append(block)
            numbers[block] += 1
        elif not opens and (block == open_blocks[-1] if verbatim else numbers[block]):
            closed = ""
            while closed != block:
                closed = open_blocks.pop()
                numbers[closed] -= 1
            if not open_blocks:
                position = token.end()
        elif not open_blocks:
            # A tag that closes itself, or closes nothing.
            kept.append(text[position : token.start()] if token[2] else text[position : token.end()])
            position = token.end()
    if not open_blocks:
        kept.append(text[position:])
    return "".join(kept)


def _block(token: re.Match[str]) -> tuple[str, bool]:
    """Return the kind of block of a token, and whether it opens one."""
    if token[2]:
        return token[2].lower(), not token[1] and not token[3].endswith("/")
    mark = token[0].strip(" \t:")
    if mark.startswith("="):
        return _HEADING, False
    return _CLOSES.get(mark, mark), mark not in _CLOSES


def _parse_line(line: str, site: Site) -> Line:
    line = _without_media(line, site)
    line = _MARKUP.sub("", _LINE_BREAK.sub(" ", _EXTERNAL.sub(r"\1", _VARIANTS.sub(r"\1", line))))
    line = _EMPTY_BRACKETS.sub("", line)
    pieces: list[str] = []
    links: list[TextLink] = []
    length = 0

    def add(text: str) -> None:
        nonlocal length
        if not length or pieces[-1].endswith(" "):
            text = text.lstrip(" ")
        if text:
            pieces.append(text)
            length += len(text)

    position = 0
    for match in _LINK.finditer(line):
        add(_plain(line[position : match.start()]))
        target, anchor = match[1], match[2]
        shown = _plain(target.strip().removeprefix(":") if anchor is None else anchor)
        position = trail = match.end()
        while not shown.endswith(" ") and line[position : position + 1].islower():
            position += 1
        if shown.startswith(" "):
            add(" ")
        start = length
        add(shown.strip() + line[trail:position])
        if length > start:
            links.append(TextLink(start, length, target))
        if shown.endswith(" "):
            add(" ")
    add(_plain(line[position:]))
    return Line("".join(pieces).rstrip(" "), tuple(links))


def _plain(markup: str) -> str:
    """Resolve entities, drop invisible markup, and fold white space."""
    return _SPACES.sub(" ", unescape(markup).translate(_INVISIBLE))


def _without_media(line: str, site: Site) -> str:
    """Leave out files, with the links in their captions, categories and links to other languages."""
    kept: list[str] = []
    position = depth = begin = 0
    nested = False
    for token in _BRACKETS.finditer(line):
        if token[0] == "[[":
            begin = begin if depth else token.start()
            nested = depth > 0
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0 and (nested or _is_media(line[begin + 2 : token.start()], site)):
                kept.append(line[position:begin])
                position = token.end()
    if depth:
        # A file whose caption goes on in the next line, or brackets that nobody closed.
        kept.append(line[position:begin])
        position = begin + 2 if not _is_media(line[begin + 2 :], site) else len(line)
    return "".join(kept) + line[position:]


def _is_media(inner: str, site: Site) -> bool:
    prefix = inner.partition(":")[0].strip().lower()
    if inner.count("|") > 1 or prefix in MEDIA:
        return True
    return prefix in site.namespaces or ("|" not in inner and _INTERLANGUAGE.match(inner) is not None)
