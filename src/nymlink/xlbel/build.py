"""Build a cross-lingual benchmark from the hyperlinks of a Wikipedia, as Liu et al. (ACL 2021) built XL-BEL."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import xxhash

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.output_checks import require_file
from nymlink.xlbel.dump import DumpReader, Page, Site, normalise_title, read_site
from nymlink.xlbel.state import BuildState, FormSample, PageConcepts, read_page_concepts
from nymlink.xlbel.wikitext import Line, Sentences, link_targets, parse_lines

STATE_ENDING: Final = ".state"
"""Ending of the file of the state, after the name of the output."""

LONGEST_MENTION: Final = 100
"""Number of characters of the longest mention. A longer one is a sentence."""

_SECONDS: Final = 2.0
"""Seconds between two writes of the state."""

_TAIL: Final = 1 << 16
"""Number of bytes before a place in a dump that are compared before reading continues there."""


@dataclass(frozen=True, slots=True)
class BuildCounts:
    """Counts of a build.

    Attributes:
        pages: articles, without redirects.
        parsed: articles with a link to a page that has a concept.
        mentions: links in sentences to pages that have a concept.
        unlike_titles: mentions that differ from the title of their page.
        examples: lines written.
        complete: whether the dump was read to its end.
    """

    pages: int = 0
    parsed: int = 0
    mentions: int = 0
    unlike_titles: int = 0
    examples: int = 0
    complete: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def build_benchmark(
    dump: str | Path,
    concepts: str | Path,
    output: str | Path,
    *,
    items: str | Path | None = None,
    language: str | None = None,
    sample: int = 1000,
    seed: int = 0,
    problems: Problems | None = None,
) -> BuildCounts:
    """Build a benchmark from links of a Wikipedia dump to pages with known concepts.

    A line of the output is ``concept||mention||sentence`` with the mention in ``<tgt>`` tags, as in XL-BEL. Every
    surface form occurs once, and none is the title of its page. The dump is read twice: first for redirects, then
    for links. Only the table, the redirects to its pages, and the sample are held in memory. A file beside the
    output holds the state, so that a stopped build can continue. It is deleted at the end.

    Args:
        dump: a dump of the pages of a Wikipedia (``pages-articles-multistream.xml.bz2``; gzip or plain, too).
        concepts: a table of two columns, page title → concept id, or Wikidata id → concept id.
        output: the file to write.
        items: a table of two columns, page title → Wikidata id, if ``concepts`` has Wikidata ids.
        language: code of the Wikipedia's language; ``None`` for the language that the dump states.
        sample: number of sampled surface forms.
        seed: seed of the sample. The sample does not depend on interruptions of the build.
        problems: collects problems of the input. A truncated dump is such a problem: the part before the damage is
            used. If the dump is whole at the next call, that call continues from there.

    Raises:
        InputError: the dump or a table cannot be used, or no link leads to a page of the table.
        StoreError: the state beside the output belongs to a build with other settings.
        OutputError: the output cannot be written.
    """
    dump, concepts, output = Path(dump), Path(concepts), Path(output)
    items = None if items is None else Path(items)
    problems = Problems() if problems is None else problems
    state_path = output.with_name(output.name + STATE_ENDING)
    for path in (output, state_path):
        require_file(path, inputs=(dump, concepts, items))
    site = read_site(dump)
    code = normalise_language(language or site.language)
    if code is None:
        stated = f"{language!r} is no language code" if language else "the dump does not state its language"
        raise InputError(f"{stated}: give the code, for example --language fi", path=dump)
    site = replace(site, language=code)
    pages = read_page_concepts(concepts, items=items, language=code, problems=problems)
    settings = {
        "language": code,
        "sample": sample,
        "seed": seed,
        "table of concepts": sha256(concepts),
        "table of Wikidata ids": None if items is None else sha256(items),
    }
    state = BuildState(state_path, settings)
    try:
        builder = _Builder(dump, site, pages, state, FormSample(sample, seed), problems)
        damage = builder.read_redirects()
        # Links read without some redirects are read again.
        damage = builder.read_links(keep=damage is None) or damage
        if damage is not None:
            problems.reject(
                dump,
                None,
                damage.message,
                outcome="the part before it was used; run this again with the whole dump to continue from there",
            )
        return _write(builder, output, state, concepts, complete=damage is None)
    finally:
        state.close()


def _write(builder: _Builder, output: Path, state: BuildState, concepts: Path, *, complete: bool) -> BuildCounts:
    examples = builder.sample.examples()
    if not examples:
        if complete:
            state.remove()
        raise InputError(
            "no link of the dump leads to a page of this table under another name than its title: does the table "
            "have the titles of this Wikipedia?",
            path=concepts,
        )
    with atomic_file(output) as partial:
        partial.write_text("".join(f"{example}\n" for _, example in examples), encoding="utf-8", newline="\n")
    if complete:
        state.remove()
    return replace(builder.counts, examples=len(examples), complete=complete)


class _Builder:
    """Reads a dump from the place that a state records, to its end or to its damage."""

    def __init__(
        self,
        dump: Path,
        site: Site,
        pages: PageConcepts,
        state: BuildState,
        sample: FormSample,
        problems: Problems,
    ) -> None:
        self.sample = sample
        self.counts = BuildCounts()
        self._dump = dump
        self._site = site
        self._pages = pages
        self._state = state
        self._problems = problems
        self._redirects: dict[str, str] = {}

    def read_redirects(self) -> InputError | None:
        """Read the redirects to pages with concepts; return the damage of the dump, if any."""
        new: list[tuple[str, str]] = []
        place = _Place(self._dump, self._state, "redirects")
        reader = DumpReader(self._dump, place.start)
        damage = None
        try:
            for page in () if place.is_done else reader:
                if place.is_due(reader.place):
                    self._state.put(place.reached(reader.place), redirects=new)
                    new.clear()
                if page.redirect is not None and page.namespace == 0:
                    target = self._title(page.redirect)
                    if target in self._pages:
                        new.append((self._title(page.title), target))
        except InputError as error:
            damage = error
        self._state.put(place.reached(reader.place, done=damage is None), redirects=new)
        self._redirects = self._state.redirects()
        return damage

    def read_links(self, *, keep: bool) -> InputError | None:
        """Read the links to pages with concepts; return the damage of the dump, if any.

        Args:
            keep: whether the next build may continue from the end of this one.
        """
        place = _Place(self._dump, self._state, "links")
        for form, example in self._state.examples():
            self.sample.offer(form, example)
        self.counts = BuildCounts(**self._state.get("counts", {}))
        # Pages of a partly read stream are counted when it is read again.
        at_place = self.counts
        reader = DumpReader(self._dump, place.start, problems=self._problems)
        latest = place.start
        try:
            for page in () if place.is_done else reader:
                if reader.place != latest:
                    latest, at_place = reader.place, self.counts
                if keep and place.is_due(latest):
                    self._put(place.reached(latest), at_place)
                if page.namespace == 0 and page.redirect is None:
                    self._read_page(page)
        except InputError as error:
            if keep:
                self._put(place.reached(latest), at_place)
            return error
        if keep:
            self._put(place.reached(latest, done=True), self.counts)
        return None

    def _put(self, values: Mapping[str, Any], counts: BuildCounts) -> None:
        self._state.put({**values, "counts": counts.to_dict()}, examples=self.sample.examples())

    def _title(self, target: str) -> str:
        return normalise_title(target, self._site.language)

    def _page_of(self, target: str) -> str | None:
        """Return the title of the page with concepts that is the target of a link, if any."""
        title = self._title(target)
        title = title if title in self._pages else self._redirects.get(title, "")
        return title or None

    def _read_page(self, page: Page) -> None:
        text = page.text
        leads = {target: title for target in link_targets(text) if (title := self._page_of(target)) is not None}
        mentions = unlike = 0
        for line in parse_lines(text, self._site, leads) if leads else ():
            for title, mention, sentence in _mentions(line, leads):
                mentions += 1
                if self._title(mention).casefold() != title.casefold():
                    unlike += 1
                    ids = "|".join(self._pages[title])
                    self.sample.offer(mention.casefold(), f"{ids}||{mention}||{sentence}")
        counts = self.counts
        self.counts = replace(
            counts,
            pages=counts.pages + 1,
            parsed=counts.parsed + bool(leads),
            mentions=counts.mentions + mentions,
            unlike_titles=counts.unlike_titles + unlike,
        )


def _mentions(line: Line, leads: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield page title, mention and tagged sentence of each link of a line to a page with concepts."""
    sentences: Sentences | None = None
    for link in line.links:
        title = leads.get(link.target)
        mention = line.text[link.start : link.end]
        if title is None or "|" in mention or len(mention) > LONGEST_MENTION or not any(map(str.isalpha, mention)):
            continue
        sentences = sentences or Sentences(line.text)
        left, right = sentences.around(link.start, link.end)
        before, after = line.text[left : link.start], line.text[link.end : right]
        if "<tgt>" not in before + after and "</tgt>" not in before + after:
            yield title, mention, f"{before}<tgt>{mention}</tgt>{after}"


class _Place:
    """Latest place in a dump, for one pass."""

    def __init__(self, dump: Path, state: BuildState, name: str) -> None:
        self._dump, self._name = dump, name
        stored = state.get(name, {"place": 0, "tail": _tail(dump, 0), "done": False})
        self.start: int = stored["place"]
        self.is_done: bool = stored["done"]
        if _tail(dump, self.start) != stored["tail"]:
            raise InputError(
                "this is another dump than the one that the build began with: delete the state beside the output "
                "to begin again",
                path=dump,
            )
        self._stored = self.start
        self._time = time.monotonic()

    def is_due(self, place: int) -> bool:
        """Whether to store the state: reading could continue from a later place, and some seconds have passed."""
        return place != self._stored and time.monotonic() - self._time >= _SECONDS

    def reached(self, place: int, *, done: bool = False) -> dict[str, Any]:
        """Record a reached place; return it as values of the state."""
        self._stored, self._time = place, time.monotonic()
        return {self._name: {"place": place, "tail": _tail(self._dump, place), "done": done}}


def _tail(dump: Path, place: int) -> str:
    """Compute a digest of the bytes before a place in a dump."""
    with open(dump, "rb") as file:
        file.seek(max(place - _TAIL, 0))
        return xxhash.xxh3_64_hexdigest(file.read(min(place, _TAIL)))
