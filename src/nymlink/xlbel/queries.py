"""Find the query files of a benchmark by language, and make their gold ids those of a dictionary."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.evaluation.gold import GoldResolver
from nymlink.vocabulary.vocabulary import Vocabulary

_CODE: Final = re.compile(r"([a-z]{2,3})[_.-]")


def find_queries(paths: Iterable[Path], languages: Collection[str] = ()) -> dict[str, Path]:
    """Find the file of each language: the name of a file begins with the code of its language (``es_test.txt``).

    Args:
        paths: files, or folders of such files.
        languages: these languages only, in this order. A single file under another name is of the only one.

    Raises:
        InputError: a file's language is not known, two files are of one language, or a language has none.
    """
    files = [file for path in paths for file in (sorted(path.glob("[!.]*")) if path.is_dir() else [path])]
    if not files:
        raise InputError("no file of queries in the folder")
    wanted = [normalise_language(code) or code for code in languages]
    found: dict[str, Path] = {}
    for file in files:
        match = _CODE.match(file.name)
        if match is None and len(files) == len(wanted) == 1:
            return {wanted[0]: file}
        if match is None:
            raise InputError(
                "the language of these queries is not known: let the name of the file begin with its code "
                "(es_test.txt), or give one file alone and --language",
                path=file,
            )
        code = normalise_language(match[1]) or match[1]
        if found.setdefault(code, file) != file:
            raise InputError(f"two files for the language {code}: give one of {found[code]} and this", path=file)
    if missing := [code for code in wanted if code not in found]:
        raise InputError(f"no queries in the language {missing[0]}; there are: {', '.join(sorted(found))}")
    return {code: found[code] for code in wanted} if wanted else dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class ResolvedQueries:
    """The queries of a language, with gold ids of a dictionary.

    Attributes:
        corpus: the queries. Gold ids that the dictionary lacks are as they were.
        gold_concepts: number of distinct gold ids.
        covered_concepts: number of those that the dictionary has.
    """

    corpus: Corpus
    gold_concepts: int
    covered_concepts: int


class GoldIds:
    """Translates gold ids to ids of a dictionary: its own ids, else those of concepts that cross-refer to them.

    Where concepts of several prefixes are meant by an id without prefix (``C0018099``), nothing is.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._resolver = GoldResolver(vocabulary)
        self._referring: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        columns = vocabulary.columns.concepts
        for concept_id, xrefs, obsolete in zip(
            *(columns[field].to_pylist() for field in ("id", "xrefs", "obsolete")), strict=True
        ):
            for xref in () if obsolete else xrefs:
                prefix, _, local = xref.rpartition(":")
                self._referring[local][prefix.casefold()].append(concept_id)

    def translate(self, gold_id: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a gold id means; none where the dictionary has no such concept."""
        if self._resolver.rows([gold_id]):
            return (gold_id,)
        prefix, _, local = gold_id.rpartition(":")
        referring = self._referring.get(local, {})
        if prefix:
            return tuple(referring.get(prefix.casefold(), ()))
        return tuple(next(iter(referring.values()))) if len(referring) == 1 else ()

    def resolve(self, corpus: Corpus, *, lower: bool = False, context: bool = True) -> ResolvedQueries:
        """Translate the gold ids of all mentions, of which any is right.

        Args:
            corpus: the queries.
            lower: whether mentions are put into lower case.
            context: whether their sentences are kept.
        """
        known = {gold: self.translate(gold) for _, mention in corpus.mentions() for gold in mention.concept_ids}

        def resolved(mention: Mention) -> Mention:
            ids = [new for gold in mention.concept_ids for new in known[gold] or (gold,)]
            text = mention.text.lower() if lower else mention.text
            # Given as its own single part: several gold ids are alternatives here, not the parts of a composite.
            kept = replace(mention, text=text, parts=(text,), concept_ids=tuple(dict.fromkeys(ids)))
            return kept if context else replace(kept, start=None, end=None)

        documents = tuple(
            Document(document.id, document.text if context else "", tuple(map(resolved, document.mentions)))
            for document in corpus.documents
        )
        return ResolvedQueries(Corpus(corpus.name, documents), len(known), sum(map(bool, known.values())))
