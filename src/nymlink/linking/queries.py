"""Turn the mentions of a document into the queries that an index is searched for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from nymlink.corpus.model import Document, Mention
from nymlink.index.entries.entries import Entries
from nymlink.linking.guesses import guess
from nymlink.text.languages import LanguageRules, recognise_language, rules_of
from nymlink.text.normalisation.normalise import normalise
from nymlink.text.prepare import Composites, language_of, prepare_document
from nymlink.text.spelling import correct

LONGEST_ACRONYM: Final = 6
"""Letters of the longest mention that is taken for an acronym."""

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


class MentionQuery(NamedTuple):
    """The query for a mention, or for a part of one.

    Attributes:
        text: what the index is searched for.
        prepared: the prepared mention, its spelling corrected, before it was put into another form or other words.
        rules: those of its language.
        language: code of that language; ``None`` where it is unknown.
        fallback: the query without guesses, where words of ``text`` are guessed.
        acronym: whether this is a mention in capitals that no definition wrote out.
    """

    text: str
    prepared: str
    rules: LanguageRules
    language: str | None
    fallback: str | None = None
    acronym: bool = False


def queries(
    document: Document,
    entries: Entries,
    *,
    language: str | None = None,
    spelling: Mapping[str, str] | None = None,
    guesses: bool = True,
    composites: Composites = "given",
    as_published: bool = False,
) -> tuple[tuple[MentionQuery, ...], ...]:
    """Prepare the mentions of a document, and rewrite those that are no name by the rules of their language.

    :func:`~nymlink.text.prepare.prepare_document` prepares them. For each prepared mention the first of these that
    is a name of the index becomes the query:

    1. the mention as it stands (a vocabulary may have "tumour", and "AIDS" is no plural);
    2. the name with the same folded form ("cardiaco", "cardíaco"; see
       :func:`~nymlink.text.normalisation.folding.fold`);
    3. the mention corrected by the spelling table, unless it was prepared before;
    4. another regular form of it ("anaemias", "anemia"), or a paraphrase ("hepatic failure", "liver failure");
    5. with ``guesses``: the mention with its unknown words replaced by similar words of the index ("siezures"; see
       :func:`~nymlink.linking.guesses.guess`), its other forms and paraphrases.

    Where none is a name, the query is the corrected mention, with its guesses. Acronyms that no definition wrote
    out are corrected by the table only.

    Args:
        document: a text with mentions, or mentions alone.
        entries: those of the index.
        language: code of the language of mentions that state none; ``None`` where it is unknown, see
            :func:`~nymlink.text.languages.recognise_language`.
        spelling: misspelt word → right word, for every language; ``None`` for the language's own table.
        guesses: whether misspelt words are guessed.
        composites: which mentions are split into parts.
        as_published: prepare mentions as the published queries were; the English spelling table is then the only
            rule.

    Returns:
        For each mention, in order, its queries: one, or one for each part of a composite mention.
    """
    prepared = prepare_document(
        document, language=language, spelling=_NO_SPELLING, composites=composites, as_published=as_published
    )

    def name_among(texts: Iterable[str]) -> str | None:
        return next((text for text in texts if entries.find(text) is not None), None)

    def query_for(text: str, mention: Mention) -> MentionQuery:
        acronym = _is_acronym(mention.text, text)
        code = recognise_language(text, language_of(mention, language, as_published=as_published))
        rules = rules_of(code)
        if entries.find(text) is not None:
            return MentionQuery(text, text, rules, code, acronym=acronym)
        if not as_published and (row := entries.find_folded(text)) is not None:
            return MentionQuery(entries.text(row), text, rules, code, acronym=acronym)
        table = rules.spelling() if spelling is None else spelling
        corrected = text if mention.prepared else correct(text, table)
        if as_published or acronym:
            return MentionQuery(corrected, corrected, rules, code, acronym=acronym)
        name = name_among(_rewritten(rules, corrected, text))
        if name is not None or not guesses:
            return MentionQuery(name or corrected, corrected, rules, code)
        guessed = guess(corrected, entries.words, rules, language=code)
        if guessed == corrected:
            return MentionQuery(corrected, corrected, rules, code)
        name = name_among(_rewritten(rules, guessed))
        return MentionQuery(name or guessed, corrected, rules, code, fallback=corrected)

    return tuple(
        tuple(query_for(text, mention) for text in parts)
        for mention, parts in zip(document.mentions, prepared, strict=True)
    )


def _rewritten(rules: LanguageRules, *texts: str) -> Iterator[str]:
    """Yield the first text, then other forms of all texts, then paraphrases of the first."""
    yield texts[0]
    for text in dict.fromkeys(texts):
        yield from rules.forms(text)
    yield from rules.paraphrases(texts[0])


def _is_acronym(text: str, prepared: str) -> bool:
    """Whether a mention is in capitals, and prepared as it stands: one that is written out has words."""
    return text.isupper() and len(text) <= LONGEST_ACRONYM and normalise(text) == prepared
