"""Link former results again, only where another release of the vocabulary affects them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from nymlink.corpus.documents import Mention
from nymlink.linking.link import Link
from nymlink.text.normalise import normalise
from nymlink.vocabulary.changes import Change, compare_releases
from nymlink.vocabulary.vocabulary import Vocabulary

_REPLACED = ("gone", "merged", "split")


@dataclass(frozen=True, slots=True)
class Former:
    """A former link.

    Attributes:
        mention: the mention.
        concept_id: id of its concept; empty for NIL.
        matched_name: the name that matched; empty if unknown.
    """

    mention: str
    concept_id: str
    matched_name: str = ""


@dataclass(frozen=True, slots=True)
class Relinked:
    """A former link after the release.

    Attributes:
        why: how the release affects it; empty if it does not, and it stays as it was.
        concept_id: id of the concept; empty for NIL.
        concept_name: its preferred name.
        confidence: confidence of the new link, if the index is calibrated.
        matched_name: name that matched in the new link; empty for NIL, and if there is no new link.
        score: its score; ``None`` in the same cases.
    """

    why: str
    concept_id: str
    concept_name: str
    confidence: float | None = None
    matched_name: str = ""
    score: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Release:
    """What another release changes for links.

    Args:
        old: the vocabulary of the former links.
        new: the newer release.

    Attributes:
        vocabulary: the newer release.

    Raises:
        InputError: these are no releases of one vocabulary.
    """

    def __init__(self, old: Vocabulary, new: Vocabulary) -> None:
        self.vocabulary = new
        self._changes: dict[str, list[Change]] = defaultdict(list)
        self._named: dict[str, list[str]] = defaultdict(list)
        self._with_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for change in compare_releases(old, new):
            self._changes[change.id].append(change)
            if change.kind in ("added", "names"):
                gained = change.new if change.kind == "names" else [name.text for name in new.names(change.id)]
                for text in dict.fromkeys(map(normalise, gained)):
                    self._named[text].append(change.id)
                    for word in set(text.split()):
                        self._with_word[word].append((text, change.id))

    def why(self, former: Former) -> str:
        """Say how the release affects a link; empty if it does not."""
        text = normalise(former.mention)
        for change in self._changes.get(former.concept_id, ()):
            if change.kind in _REPLACED:
                return (
                    f"{change.kind}: {' '.join((former.concept_id, *(('→', *change.new) if change.new else ())))}"
                )
            if change.kind == "names" and (former.matched_name or former.mention) in change.old:
                return f"name lost: {former.matched_name or former.mention}"
        if (
            former.concept_id
            and former.concept_id not in self.vocabulary
            and not self._changes.get(former.concept_id)
        ):
            return f"unknown: {former.concept_id} is in neither release"
        others = [each for each in self._named.get(text, ()) if each != former.concept_id]
        if others:
            return f"name new: {', '.join(others)}"
        if not former.concept_id and text:
            words = set(text.split())
            near = {id_ for word in words for name, id_ in self._with_word.get(word, ()) if _is_part(words, name)}
            if near:
                return f"name like it new: {', '.join(sorted(near)[:3])}"
        return ""


def _is_part(words: set[str], name: str) -> bool:
    others = set(name.split())
    return words <= others or others <= words


def relink(
    release: Release, link: Callable[[list[Mention]], Iterable[Link]], links: Iterable[Former]
) -> Iterator[Relinked]:
    """Link those of former links again that a release affects; the others keep their concept and its present name.

    Args:
        release: the release.
        link: links mentions to the newer release, for example :meth:`Linker.link`.
        links: the former links.
    """
    listed = list(links)
    reasons = [release.why(former) for former in listed]
    affected = [former.mention for former, why in zip(listed, reasons, strict=True) if why]
    again = iter(link([Mention(text) for text in affected]))
    for former, why in zip(listed, reasons, strict=True):
        if not why:
            row = release.vocabulary.row(former.concept_id)
            yield Relinked("", former.concept_id, "" if row is None else release.vocabulary.preferred_name(row))
            continue
        linked = next(again)
        best = None if linked.nil else linked.best
        if best is None:
            yield Relinked(why, "", "", linked.confidence)
        else:
            yield Relinked(
                why, best.concept_id, best.concept_name, linked.confidence, best.matched.text, best.score
            )
