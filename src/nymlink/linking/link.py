"""Links: mentions with their candidates, context and review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from nymlink.core.terminal import escape_controls
from nymlink.corpus.documents import Mention
from nymlink.text.drugs import Drug
from nymlink.vocabulary.concepts import Name

Relation = Literal["exact", "broader", "narrower", "related", "part", "close"]
"""Relation of a concept to a term: exactly its meaning, broader, narrower, related, the meaning of a part of it,
or close in meaning."""

Verdict = Literal["concept", "nil", "flag", "guess"]
"""Decision about a mention: it means the candidates; it means no concept; or somebody must look at it again. A
guess is no decision: the candidates are those of the linker."""

REVIEW: Final = ("decision", "relation", "reviewer", "decided_at", "comment")
"""Columns for the decision, in tables of links."""


@dataclass(frozen=True, slots=True)
class Review:
    """Decision of a person about a link.

    Attributes:
        verdict: the decision. For ``"concept"``, the mention means all candidates of the link.
        reviewer: who decided.
        at: when, in milliseconds since 1970 in UTC.
        comment: remark of the reviewer.
        relations: relation of each candidate to the mention.
        assigned: person that the term is assigned to; empty for nobody.
    """

    verdict: Verdict
    reviewer: str
    at: int
    comment: str = ""
    relations: tuple[Relation, ...] = ()
    assigned: str = ""

    @property
    def decided_at(self) -> str:
        """Time of the decision in ISO 8601, to the millisecond; empty for a guess."""
        if self.verdict == "guess":
            return ""
        time = datetime.fromtimestamp(self.at / 1000, UTC)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def cells(self, place: int) -> dict[str, Any]:
        """Write the columns :data:`REVIEW` of the row of a candidate.

        Args:
            place: place of the candidate; a place after the last for a row without a candidate.
        """
        relation = self.relations[place] if place < len(self.relations) else None
        values = (self.verdict, relation, self.reviewer or None, self.decided_at or None, self.comment or None)
        return dict(zip(REVIEW, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.verdict,
            "relations": list(self.relations),
            "reviewer": self.reviewer,
            "decided_at": self.decided_at,
            "comment": self.comment,
        }


GUESS: Final = Review("guess", "", 0)
"""The review of a link that nobody has decided, to mark it among decided ones."""


class Scores(dict[str, float]):
    """Scores by the name of their search; they cannot be changed."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[Scores], tuple[dict[str, float]]]:
        return Scores, (dict(self),)

    def _refuse(self, *_: object, **__: object) -> Any:
        raise TypeError("the scores of a candidate cannot be changed: make a new dictionary of them")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention may mean, and why.

    Attributes:
        concept_id: the concept.
        concept_name: its preferred name.
        matched: name of the concept that matched; if several match, the most reliable kind.
        score: raw similarity, larger is better, 1 for the best possible. Not a probability.
        parts: the score of each search (exact, sparse, dense), before weighting, and ``ranked``, the probability
            by the ranker. If the name equals the query, also ``writing``: similarity of the spelling of name and
            mention, 1 for verbatim.
        contradiction: how the mention contradicts the concept ("'no' is not in the name"), or ``None``.
        relation: relation to the mention, if the mention is a concept (:func:`nymlink.match`); else ``None``.
        confidence: probability of this relation; ``None`` if ``relation`` is.

    Example:
        >>> from nymlink import Linker
        >>> best = Linker.build("diseases.obo", encoder=None).link("hart attack").best
        >>> best.concept_id, best.concept_name, best.matched.text
        ('MONDO:0005068', 'myocardial infarction', 'heart attack')
        >>> sorted(best.parts)
        ['exact', 'ranked', 'sparse']
    """

    concept_id: str
    concept_name: str
    matched: Name
    score: float
    parts: Mapping[str, float]
    contradiction: str | None = None
    relation: Relation | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", Scores(self.parts))

    def __str__(self) -> str:
        """Write the concept, the name that matched and the score on one line."""
        matched = "" if self.matched.text == self.concept_name else f" ({_one_line(self.matched.text)})"
        return f"{_one_line(f'{self.concept_id} {self.concept_name}')}{matched}, score {self.score:.3f}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "concept_id": self.concept_id,
            "concept_name": self.concept_name,
            "matched": self.matched.to_dict(),
            "score": self.score,
            "parts": dict(self.parts),
            "contradiction": self.contradiction,
            **({} if self.relation is None else {"relation": self.relation, "confidence": self.confidence}),
        }


@dataclass(frozen=True, slots=True)
class Context:
    """Statements of the sentence about a mention: for each flag the words that set it, or ``None``.

    Attributes:
        negated: the finding is absent ("no evidence of").
        family: a relative has it ("his mother had").
        hypothetical: it may occur, or is being looked for ("if", "risk of").
        historical: it occurred earlier ("history of").
    """

    negated: str | None = None
    family: str | None = None
    hypothetical: str | None = None
    historical: str | None = None

    @property
    def triggers(self) -> dict[str, str]:
        """The flags that are set, each with the words that set it."""
        flags = {flag: getattr(self, flag) for flag in FLAGS}
        return {flag: words for flag, words in flags.items() if words is not None}

    @property
    def flags(self) -> dict[str, bool]:
        """Each flag, and whether it is set."""
        triggers = self.triggers
        return {flag: flag in triggers for flag in FLAGS}

    def to_dict(self) -> dict[str, Any]:
        return {**self.flags, "triggers": self.triggers}


FLAGS: Final = ("negated", "family", "hypothetical", "historical")
"""The flags of a context."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The vocabulary that a mention is guessed to belong to, in an index of several.

    Attributes:
        name: prefix of its ids.
        confidence: probability that the concept of the mention is in it; ``None`` if the index is not calibrated.
        nearest: number of concepts of this vocabulary among the nearest ones.
        of: number of the nearest concepts, 10 at most; if the mention equals a name, of the concepts that have it.
    """

    name: str
    confidence: float | None
    nearest: int
    of: int

    def __str__(self) -> str:
        said = "" if self.confidence is None else f", confidence {self.confidence:.3f}"
        return f"domain {self.name}{said}: {self.nearest} of {self.of} nearest concepts"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


DOMAIN: Final = ("domain", "domain_confidence")
"""Columns for the domain, in tables of links to several vocabularies."""


@dataclass(frozen=True, slots=True)
class Link:
    """A mention with the concepts it may mean.

    Attributes:
        mention: the mention that was linked.
        query: the text that was searched for: the prepared mention or, if that is no name, a name that is another
            form or a paraphrase of it. For a composite mention, its parts joined by `` | ``.
        candidates: distinct concepts, best first; empty if nothing is similar to the mention, or it is blank.
        parts: for a composite mention, a link for each of its parts; the mention means the first candidates of all
            parts together, without those it denies (``part.context.negated``). A denied finding alone ("no fever")
            is one part. Empty for any other mention.
        document_id: id of the mention's document, if it has one.
        confidence: probability that the first candidate is correct, 0 to 1; for a composite mention, that those of
            all parts are: the product of their confidences. ``None`` if the index is not calibrated, or if a
            re-ranker or a judge put another candidate first.
        nil: whether the mention is taken to mean none of the concepts: there is no candidate, or the confidence is
            below the threshold. For a composite mention, whether this holds for a part or for the whole.
        guessed: whether a word of the query is a guess for a misspelt word.
        meanings: number of concepts of the index that an abbreviation may stand for, if the document does not
            define it; 0 for any other mention.
        ordinary: whether the mention is an ordinary word that matched a part of a name, or an abbreviation with
            the same spelling.
        left_out: parts of the mention that are no part of a name and were left out ("human", "V600E").
        tied: number of concepts that have the query as a name and are spelt equally like the mention; at most 10
            are counted.
        settled: whether the document decided which of the tied concepts is first: its other names, or its words.
        nothing: reason why the mention names nothing: "a date", "a number", "no answer"; ``None`` if it may name
            something.
        context: statements of the sentence about a mention that was found in a text, or of a cell about a part
            that it denies.
        review: decision of a person; ``None`` if nobody has decided.
        drug: strength, unit, form, route and salt that the mention states of a drug; ``None`` for others.
        judged: what a judge decided, or why it did not (:class:`nymlink.linking.judge.Judge`); ``None`` if it was
            not asked.
        foreign: language of the mention in words, if neither the names of the index nor its encoder know this
            language; else ``None``.
        rival: name and id of a concept with a higher score than the first one, if the ranker is unsure of the
            first, too; else ``None``.
        former: id of the retired concept that the mention means and the first candidate replaces; else ``None``.
        domain: the vocabulary that the mention is guessed to belong to; ``None`` if the index has a single one, or
            nothing was found, or a re-ranker, a judge or a person put another candidate first.

    Example:
        >>> from nymlink import Linker
        >>> link = Linker.build("diseases.obo", encoder=None).link("hart attack")
        >>> link.mention.text, link.best.concept_name, link.nil, link.guessed
        ('hart attack', 'myocardial infarction', False, True)
    """

    mention: Mention
    query: str
    candidates: tuple[Candidate, ...] = ()
    parts: tuple[Link, ...] = ()
    document_id: str | None = None
    confidence: float | None = None
    nil: bool = False
    guessed: bool = False
    meanings: int = 0
    ordinary: bool = False
    left_out: tuple[str, ...] = ()
    tied: int = 0
    settled: bool = False
    nothing: str | None = None
    context: Context | None = None
    review: Review | None = None
    drug: Drug | None = None
    judged: str | None = None
    domain: Domain | None = None
    former: str | None = None
    foreign: str | None = None
    rival: str | None = None

    def __str__(self) -> str:
        """Write the mention, its meaning, the confidence and the notes on one line."""
        meaning = "; ".join(str(part.candidates[0]) for part in self.singles if part.candidates)
        if self.confidence is not None and meaning:
            meaning += f", confidence {self.confidence:.3f}"
        if self.nil:
            meaning = f"NIL (nearest: {meaning})" if meaning else "NIL"
        notes = f" [{_one_line('; '.join(self.notes))}]" if self.notes else ""
        return f"{_one_line(self.mention.text)} → {meaning}{notes}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons to look at the link again, in words; "composite" comes first for a composite mention."""
        if self.parts:
            doubts = dict.fromkeys(note for part in self.parts for note in part.notes)
            composite = f"composite: {len(self.parts)} parts" if len(self.parts) > 1 else ""
            return (*filter(None, (composite,)), *doubts)
        first = self.candidates[0] if self.candidates else None
        notes = (
            f"guessed: {self.query}" if self.guessed else "",
            f"contradicts: {first.contradiction}" if first is not None and first.contradiction is not None else "",
            f"abbreviation of {self.meanings} concepts" if self.meanings > 1 else "",
            "an ordinary word" if self.ordinary else "",
            f"{self.foreign}, which neither the names nor the encoder know" if self.foreign is not None else "",
            f"a name of {self.tied} concepts" if self.tied > 1 >= self.meanings else "",
            "settled by the document" if self.settled else "",
            f"{self.rival} scores higher" if self.rival is not None else "",
            f"in place of {self.former}, which is obsolete or not standard" if self.former is not None else "",
            self.nothing or "",
            str(self.drug or "") or (f"without {', '.join(map(repr, self.left_out))}" if self.left_out else ""),
            self.judged or "",
            *(
                ()
                if self.context is None
                else (f"{flag}: {words}" for flag, words in self.context.triggers.items())
            ),
        )
        return tuple(filter(None, notes))

    @property
    def singles(self) -> tuple[Link, ...]:
        """The links of the parts of a composite mention; for any other mention, the link itself."""
        return self.parts or (self,)

    @property
    def best(self) -> Candidate | None:
        """The concept that the mention means; ``None`` if the link is NIL, and for a composite mention.

        A composite mention ("breast and ovarian cancer") means several concepts: its :attr:`notes` begin with
        "composite", and each of its :attr:`parts` has a best. ``[part.best for part in link.singles]`` works for
        any link. A NIL link keeps its rejected candidate in :attr:`candidates`.
        """
        return None if self.nil or self.parts or not self.candidates else self.candidates[0]

    def reordered(self, candidates: tuple[Candidate, ...]) -> Link:
        """Return the link with candidates in another order, or others.

        If another one is first, the link has no confidence, domain and rival: they are of the former first.
        """
        link = replace(self, candidates=candidates)
        first, former = ([each.concept_id for each in some[:1]] for some in (candidates, self.candidates))
        return link if first == former else replace(link, confidence=None, domain=None, rival=None)

    @property
    def is_reviewed(self) -> bool:
        """Whether a person has decided about the link."""
        return self.review is not None and self.review.verdict != "guess"

    @property
    def is_denied(self) -> bool:
        """Whether the text or the cell says that the finding is absent."""
        return self.context is not None and self.context.negated is not None

    def to_dict(self) -> dict[str, Any]:
        """Write the link as JSON values, like a line of `nymlink link --format jsonl`.

        Returns:
            ``document_id``, ``start``, ``end``, ``spans`` and ``mention_id`` (each if the mention has it), then
            ``mention``, ``query``, ``confidence``, ``nil``, ``guessed``, ``notes``, ``candidates`` and ``parts``.
            A NIL link keeps its rejected candidates. Parts are links in the same form.

            For a mention that was found in a text, and for a denied part, also ``text`` (the same as ``mention``),
            ``concept_id`` (null for NIL), the flags of its context, and ``triggers``, the words that set the
            flags. For a drug also ``drug`` (:class:`nymlink.text.drugs.Drug`), after a decision of a person also
            ``review``. If the index has several vocabularies, also ``domain`` (:class:`Domain`).
        """
        place = {
            "document_id": self.document_id,
            "start": self.mention.start,
            "end": self.mention.end,
            "spans": [list(span) for span in self.mention.spans] or None,
            "mention_id": self.mention.id,
        }
        meant = [part.best.concept_id for part in self.singles if part.best is not None]
        found = {} if self.context is None else {"text": self.mention.text, "concept_id": "|".join(meant) or None}
        return {
            **{name: value for name, value in place.items() if value is not None},
            **found,
            "mention": self.mention.text,
            "query": self.query,
            "confidence": self.confidence,
            **({} if self.context is None else self.context.to_dict()),
            "nil": self.nil,
            "guessed": self.guessed,
            "notes": list(self.notes),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "parts": [part.to_dict() for part in self.parts],
            **({} if self.domain is None else {"domain": self.domain.to_dict()}),
            **({} if self.drug is None else {"drug": self.drug.to_dict()}),
            **({} if self.review is None else {"review": self.review.to_dict()}),
        }


def _one_line(text: str) -> str:
    return escape_controls(" ".join(text.split()))
