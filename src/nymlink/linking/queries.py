"""Turn mentions into queries: names, other forms, paraphrases and guesses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Final, NamedTuple

from nymlink.corpus.documents import Document, Mention
from nymlink.index.entries.entries import Entries
from nymlink.index.entries.words import Words
from nymlink.linking.cells import DENIED, split_mention
from nymlink.linking.certain import says_nothing
from nymlink.rank.retrieval import Question
from nymlink.text.chemical_symbols import names_of_symbol
from nymlink.text.contradictions import contradiction
from nymlink.text.drugs import Drug, english_names, read_drugs
from nymlink.text.drugs import readings as drug_readings
from nymlink.text.languages import LanguageRules, Reading, recognise_language, rules_of
from nymlink.text.normalise import normalise
from nymlink.text.prepare import Composites, expand_document, language_of_mention
from nymlink.text.spelling import correct, may_be_misspelt, sounds_alike
from nymlink.text.writing import (
    compact,
    compact_roman,
    compact_variants,
    spell_greek,
    spell_signs,
    writing_likeness,
)

_OUTSIDE: Final = "the id of an excluded concept"

_MOST_WORDS: Final = 16
"""Largest number of words of a text in which words are guessed; a longer text has enough correct words."""

_SHORTEST_ALONE: Final = 5
_SHORTEST_BESIDE: Final = 4
"""Letters of the shortest misspelt word whose mention is a name without the slip: if it is the whole mention, and
if there are other words."""

_ABBREVIATED: Final = 4
"""Letters of the longest form of a drug that may be an abbreviation of something else ("MR")."""

_MOST_SLIPS: Final = 2
"""Largest number of misspelt words of a mention that is a name without its slips."""

_MOST_WAYS: Final = 64
"""Largest number of texts that a mention with misspelt words may stand for."""


def guess(
    text: str,
    words: Words,
    rules: LanguageRules,
    *,
    language: str | None,
    symbols: Collection[str] = (),
) -> str:
    """Replace unknown words by the index word one edit away.

    A word is known if the index or the language has it in some form. Without a word list for the language nothing
    is guessed, because "artritis" is correct in Spanish. Words of opposite meaning are never guessed, and neither
    are names of chemicals, drugs, genes or other products, because such names are often one edit apart.

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
        words: words of the index.
        rules: rules of the text's language.
        language: code of the language; ``None`` if unknown.
        symbols: words of symbols, which are kept because symbols are often one edit apart.
    """
    pieces = text.split(" ")
    if len(pieces) > _MOST_WORDS:
        return text
    return " ".join([word if word in symbols else _guess(word, words, rules, language) for word in pieces])


def _guess(word: str, words: Words, rules: LanguageRules, language: str | None) -> str:
    if not may_be_misspelt(word) or _has(words, word, rules):
        return word
    if rules.is_known(word):
        return word
    right = words.correction(word) or sounds_alike(word, words.__contains__)
    return word if right is None or not _may_mean(word, right, rules, language) else right


def _has(words: Words, word: str, rules: LanguageRules) -> bool:
    """Whether the index has a word in some form."""
    return any(form in words for form in (word, *rules.forms(word)))


def _may_mean(word: str, right: str, rules: LanguageRules, language: str | None) -> bool:
    return not rules.is_product(right) and contradiction(word, right, language=language) is None


def guess_names(
    text: str,
    words: Words,
    rules: LanguageRules,
    *,
    language: str,
    symbols: Collection[str] = (),
) -> Iterator[str]:
    """Yield the texts that differ by a slip in each word that the index lacks; only a name is worth a guess.

    Unlike in :func:`guess`, words may be short, several words may be as near, and beside other words they may be
    common ("heart attck", "hart attack"), because the whole text must become a name.

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
        words: words of the index.
        rules: rules of the text's language.
        language: code of the language.
        symbols: words of symbols, which are kept because symbols are often one edit apart.
    """
    pieces = text.split(" ")
    if len(pieces) > _MOST_WORDS:
        return
    lacking = [word for word in pieces if not _has(words, word, rules)]
    if not 0 < len(lacking) <= _MOST_SLIPS:
        return
    is_alone = len(pieces) == 1
    shortest = _SHORTEST_ALONE if is_alone else _SHORTEST_BESIDE
    for word in lacking:
        if word in symbols or not may_be_misspelt(word, shortest):
            return
        if rules.is_known(word) and (is_alone or not rules.is_common(word)):
            return
    meant = {
        word: [each for each in words.slips(word) if _may_mean(word, each, rules, language)] for word in lacking
    }
    ways = [meant.get(word, [word]) for word in pieces]
    if prod(map(len, ways)) <= _MOST_WAYS:
        yield from map(" ".join, product(*ways))


LONGEST_ACRONYM: Final = 6
"""Number of letters of the longest mention that is taken for an acronym."""


class MentionQuery(NamedTuple):
    """The query for a mention, or for a part of one.

    Attributes:
        text: text to search for.
        prepared: the prepared mention with its spelling corrected, before it was replaced by another form or a
            paraphrase.
        written: the prepared mention with its spelling corrected, before a rule took a name for it.
        rules: rules of its language.
        language: code of its language; ``None`` if unknown.
        fallback: the query without guesses, if words of ``text`` are guessed.
        acronym: whether the mention is in capitals and the document does not define it.
        surface: the mention as written, without the left-out parts; ``None`` if unknown.
        left_out: parts of the mention that were left out ("human", "V600E").
        head: whether a left-out part applies to genes and proteins only ("gene").
        concept: row of the concept whose id the mention is.
        drug: what it says of a drug beside the name ("500 mg"); ``None`` if it is no drug.
        is_denied: whether it is a part that a cell denies ("no fever").
        nothing: reason why the mention names nothing ("a date"), see
            :func:`~nymlink.linking.certain.says_nothing`.
    """

    text: str
    prepared: str
    written: str
    rules: LanguageRules
    language: str | None
    fallback: str | None = None
    acronym: bool = False
    surface: str | None = None
    left_out: tuple[str, ...] = ()
    head: bool = False
    concept: int | None = None
    drug: Drug | None = None
    is_denied: bool = False
    nothing: str | None = None

    @property
    def question(self) -> Question:
        """The question that a ranker answers for this query."""
        return Question(
            self.text,
            self.surface,
            rewritten=self.text != self.prepared,
            guessed=self.fallback is not None,
            acronym=self.acronym,
            concept=self.concept,
        )

    @property
    def replaces_known(self) -> bool:
        """Whether a guess replaced a word of the language ("hart attack")."""
        words = set() if self.fallback is None else {*self.fallback.split(" ")} - {*self.text.split(" ")}
        rules = rules_of("en") if self.language is None else self.rules
        return any(map(rules.is_known, words))

    @property
    def unguessed(self) -> Question | None:
        """The question with the misspelt words as they are. ``None`` if no word was guessed."""
        return None if self.fallback is None else Question(self.fallback, self.surface, acronym=self.acronym)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions for this query: the query itself and, if words are guessed, the query without guesses."""
        unguessed = self.unguessed
        return (self.question,) if unguessed is None else (self.question, unguessed)


def queries(
    document: Document,
    entries: Entries,
    *,
    language: str | None = None,
    spelling: Mapping[str, str] | None = None,
    guesses: bool = True,
    composites: Composites = "given",
    as_published: bool = False,
    find_id: Callable[[str], tuple[int | None, str] | None] = lambda _: None,
    is_preferred: Callable[[str], bool] = lambda _: False,
) -> tuple[tuple[MentionQuery, ...], ...]:
    """Prepare the mentions of a document, and rewrite mentions that are no name by the rules of their language.

    :func:`~nymlink.text.prepare.expand_document` expands abbreviations and composites. The query is the first of
    these, for the normalised mention, that is a name of the index:

    0. an id of the vocabulary is its concept; a mark for nothing, an answer, a date, a number are no name at all;
    1. the mention as it stands (a vocabulary may have "tumour", and "AIDS" is no plural);
    2. the name with the same folded form ("cardiaco", "cardíaco"; see
       :func:`~nymlink.text.normalise.fold`);
    3. the name with the same compact form ("ET1", "ET-1"; see
       :func:`~nymlink.text.writing.compact`), or with a variant of it ("TGFalpha", "TGFA");
    4. the mention corrected by the spelling table, its Greek letters spelt out, unless it was prepared before;
    5. another regular form of it ("anaemias", "anemia"), or a paraphrase ("hepatic failure", "liver failure");
    6. the mention without words that are no part of a name ("human TP53", "BRAF V600E"), matched as in 1 to 3;
    7. with ``guesses``: the mention with its unknown words replaced by similar words of the index ("siezures"; see
       :func:`guess` and :func:`guess_names`), or another form or a paraphrase of that.

    If none is a name, the query is the corrected mention, with its guesses. Acronyms that the document does not
    define have no other forms, paraphrases or guesses.

    Args:
        document: a text with mentions, or mentions alone.
        entries: entries of the index.
        language: code of the language of mentions that state none; ``None`` if unknown, see
            :func:`~nymlink.text.languages.recognise_language`.
        spelling: misspelt word → correct word, for every language; ``None`` for the language's own table.
        guesses: whether to guess misspelt words.
        composites: which mentions are split into parts.
        as_published: whether to prepare mentions like the queries of published evaluations; the English spelling
            table is then the only rule.
        find_id: finds the row and the preferred name of the concept whose id a mention is; no row if it is not
            among the concepts to link to.
        is_preferred: whether a prepared text is a preferred name. Such a mention ("Unknown") is linked even if it
            looks like an answer.

    Returns:
        For each mention, in order, its queries: one, or one for each part of a composite mention.
    """
    if composites == "always":
        mentions = tuple(split_mention(mention, entries, language) for mention in document.mentions)
        document = replace(document, mentions=mentions)
    expanded = expand_document(document, language=language, composites=composites, as_published=as_published)

    in_text = bool(document.text)

    def name_among(texts: Iterable[str]) -> str | None:
        return next((text for text in texts if entries.find(text) is not None), None)

    def query_for(surface: str, mention: Mention) -> MentionQuery:
        text = surface if mention.prepared else normalise(surface)
        if mention.parts and text.startswith(DENIED) and not as_published and entries.find(text) is None:
            return query_for(surface[len(DENIED) :], mention)._replace(is_denied=True)
        acronym = _is_acronym(mention.text, text)
        code = recognise_language(text, language_of_mention(mention, language, as_published=as_published))
        rules = rules_of(code)
        query = MentionQuery(
            text,
            text,
            text,
            rules,
            code,
            acronym=acronym,
            surface=None if mention.prepared or as_published else surface,
        )
        if not (as_published or mention.prepared):
            if (found := find_id(surface)) is not None:
                if found[0] is None:
                    return query._replace(text="", prepared="", nothing=_OUTSIDE)
                return query._replace(text=normalise(found[1]), concept=found[0])
            nothing = says_nothing(surface)
            if nothing is not None and not is_preferred(text) and not (in_text and names_of_symbol(surface)):
                return query._replace(text="", prepared="", nothing=nothing)
            drugs = read_drugs(surface)
            if len(drugs) == 1 and drugs[0].is_dosed:
                query = query._replace(drug=drugs[0])
            if (spelt := spell_signs(surface)) != surface and (
                entries.find(text) is None or entries.find(normalise(spelt)) is not None
            ):
                surface, text = spelt, normalise(spelt)
                query = query._replace(text=text, prepared=text, written=text, surface=surface)
        if entries.find(text) is not None:
            return query
        if not as_published and (name := _name_alike(text, entries)) is not None:
            return query._replace(text=name, prepared=name)
        meant = [
            name for names in rules.meanings(surface) if (name := name_among(map(normalise, names))) is not None
        ]
        if meant and not as_published:
            return query._replace(text=meant[0], prepared=meant[0], acronym=False)
        if not as_published and (name := name_among(names_of_symbol(surface))) is not None:
            return query._replace(text=name, prepared=name, acronym=False)
        table = rules.spelling() if spelling is None else spelling
        # Most vocabularies spell Greek letters out.
        corrected = text if mention.prepared else correct(text if as_published else spell_greek(text), table)
        query = query._replace(text=corrected, prepared=corrected, written=corrected)
        if as_published:
            return query
        if not acronym and (name := name_among(_rewritten(rules, corrected, text))) is not None:
            return query._replace(text=name)
        for reading in (*_drug_readings(surface), *rules.readings(surface)):
            if (name := _name_of_reading(reading, entries)) is not None:
                return query._replace(
                    text=name, prepared=name, surface=reading.text, left_out=reading.left_out, head=reading.head
                )
        if query.drug is not None and (name := name_among(english_names(query.drug.substance))) is not None:
            return query._replace(text=name, prepared=name, surface=None, left_out=(surface,))
        return query if acronym or not guesses else _guessed(query, surface, name_among, entries)

    return tuple(
        tuple(query_for(surface, mention) for surface in surfaces)
        for mention, surfaces in zip(document.mentions, expanded, strict=True)
    )


def _drug_readings(surface: str) -> Iterable[Reading]:
    """Read a drug with a dose, a form that is no abbreviation, or the name of a product: not "severe MR"."""
    for drug in read_drugs(surface)[:1]:
        if (
            drug.is_dosed
            or len(drug.form or "") > _ABBREVIATED
            or any(map(rules_of("en").is_product, normalise(drug.name).split(" ")))
        ):
            yield from drug_readings(surface)


def _guessed(
    query: MentionQuery, surface: str, name_among: Callable[[Iterable[str]], str | None], entries: Entries
) -> MentionQuery:
    """Guess misspelt words of a query that is no name. If its language is unknown, the guess must be a name."""
    text, code, words, symbols = query.text, query.language, entries.words, _symbols(surface)
    rules = rules_of("en") if code is None else query.rules
    guessed = text
    # A short word may show another language than English, where an unknown word is right. Names are worth a guess.
    if code is not None or all(map(may_be_misspelt, text.split(" "))):
        guessed = guess(text, words, rules, language=code or "en", symbols=symbols)
    name = None if guessed == text else name_among(_rewritten(rules, guessed))
    if name is None:
        texts = guess_names(text, words, rules, language=code or "en", symbols=symbols)
        names = {name for each in texts if (name := name_among(_rewritten(rules, each))) is not None}
        name = names.pop() if len(names) == 1 else None
    if name is None and (code is None or guessed == text):
        return query
    return query._replace(text=name or guessed, fallback=text, surface=None)


def _name_alike(text: str, entries: Entries) -> str | None:
    """Find a name with the folded or the compact form of a text, or a variant of it; ``None`` for none."""
    row = entries.find_folded(text)
    if row is not None:
        return entries.text(row)
    form = compact(text)
    if not any(map(str.isalpha, form)):
        return None
    for other in dict.fromkeys((form, compact_roman(text), *compact_variants(form))):
        if rows := entries.compact.find_form(other):
            return max(map(entries.text, rows), key=lambda name: writing_likeness(text, name))
    return None


def _name_of_reading(reading: Reading, entries: Entries) -> str | None:
    """Find the name that remains of a mention after leaving words out; ``None`` if the rest is no name."""
    text = normalise(reading.text)
    return text if entries.find(text) is not None else _name_alike(text, entries)


def _symbols(surface: str) -> frozenset[str]:
    """Collect the normalised words with capitals or digits inside; these are symbols, never misspelt words."""
    words = (word for word in surface.split() if not word.isupper() and not word[1:].islower())
    return frozenset(part for word in words for part in normalise(word).split(" "))


def _rewritten(rules: LanguageRules, *texts: str) -> Iterator[str]:
    """Yield the first text, then other forms of all texts, then paraphrases of the first."""
    yield texts[0]
    for text in dict.fromkeys(texts):
        yield from rules.forms(text)
    yield from rules.paraphrases(texts[0])


def _is_acronym(text: str, prepared: str) -> bool:
    """Whether a mention is in capitals and was not expanded; an expanded acronym has several words."""
    return text.isupper() and len(text) <= LONGEST_ACRONYM and normalise(text) == prepared
