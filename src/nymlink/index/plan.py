"""Settings of an index: its searches, their encoder, their fusion, and the languages of the searched names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nymlink.core.errors import InputError
from nymlink.core.json_files import member
from nymlink.encode.model.folder import NO_ENCODER, installed_calibration, installed_ranker
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS, check_kind
from nymlink.index.dense.query_encoder import EncoderRecord, QueryEncoder
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import DENSE, EXACT_MATCH, Fusion
from nymlink.index.sparse.features import DEFAULT_PRESET, SparseSettings, preset
from nymlink.index.stores.servers import check_store
from nymlink.index.stores.vector_store import StoreAddress
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Checked settings of an index, with the loaded encoder and the weights of the fusion.

    Attributes:
        sparse: one of :data:`~nymlink.index.sparse.features.PRESETS`.
        encoder: encoder of the dense search; ``None`` for no dense search.
        dense: kind of the dense search: ``"exact"``, or one of :data:`~nymlink.index.dense.approximate.KINDS`.
        store: address of the server that searches the vectors; ``None`` if the index itself searches.
        fusion: the method that joins the searches, and their weights.
        languages: languages of the searched names; ``None`` for all.
    """

    sparse: str
    encoder: QueryEncoder | None
    dense: str
    store: StoreAddress | None
    fusion: Fusion
    languages: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        *,
        sparse: str,
        encoder: Encoder | str | Path | None,
        dense: str,
        store: str | Path | None,
        fusion: str,
        languages: Collection[str] | None,
    ) -> Plan:
        """Check the settings of :meth:`nymlink.index.index.Index.build`, and load the encoder.

        Raises:
            UnknownNameError: there is no such preset, kind or fusion.
            MissingExtraError: the dense search needs a package that is not installed.
            InputError: the encoder cannot be loaded, or is needed but not given; or the address is not that of a
                store.
            StoreError: the store is not there, or cannot hold vectors.
        """
        if encoder is None and dense != EXACT_NEIGHBOURS:
            raise InputError(f"{dense} is a kind of dense search, and that needs an encoder")
        if encoder is None and store is not None:
            raise InputError("a store is for the vectors of dense search, and that needs an encoder")
        address = None if store is None else StoreAddress.of(str(store))
        if address is None:
            check_kind(dense)
        else:
            check_store(address, dense)
        joined = Fusion.of(_search_names(sparse, dense=encoder is not None), fusion)
        return cls(
            sparse=sparse,
            encoder=None if encoder is None else _loaded(encoder),
            dense=dense,
            store=address,
            fusion=joined,
            languages=None if languages is None else tuple(sorted(set(languages))),
        )

    @property
    def searches(self) -> list[str]:
        """Names of the searches that have files. Exact search has none."""
        return _search_names(self.sparse, dense=self.encoder is not None)[1:]

    @property
    def sparse_settings(self) -> Mapping[str, SparseSettings]:
        """Settings of each sparse search."""
        return preset(self.sparse)

    def entries(self, vocabulary: Vocabulary, *, progress: bool) -> Entries:
        """Make the entries of a vocabulary from its names in the searched languages.

        Raises:
            InputError: there are no names, or too few for the kind of dense search.
        """
        entries = Entries.of(
            vocabulary,
            languages=self.languages,
            # With the settings of published systems, each name is searched in its own order of words.
            any_order=self.sparse == DEFAULT_PRESET,
            progress=progress,
        )
        if not len(entries):
            known = ", ".join(vocabulary.counts("lang")) or "none"
            wanted = "" if self.languages is None else f" in {', '.join(self.languages)}; its languages: {known}"
            raise InputError(f"the vocabulary has no names to search{wanted}")
        if self.store is None:
            check_kind(self.dense, count=len(entries))
        return entries

    @property
    def calibration(self) -> Mapping[str, Any] | None:
        """Calibration installed for the encoder, or for none; ``None`` without default searches and weights."""
        return installed_calibration(*self._learned_with) if self._is_default else None

    @property
    def ranker(self) -> Mapping[str, Any] | None:
        """Ranker installed for the encoder, or for none; ``None`` without default searches and weights."""
        return installed_ranker(*self._learned_with) if self._is_default else None

    @property
    def _learned_with(self) -> tuple[str | None, str]:
        """Name and fingerprint of the encoder that an installed ranker or calibration must be for."""
        if self.encoder is None:
            return NO_ENCODER, NO_ENCODER
        return self.encoder.record.name, self.encoder.record.fingerprint

    @property
    def _is_default(self) -> bool:
        """Whether the searches and their weights are the defaults."""
        return self.sparse == DEFAULT_PRESET and self.fusion == Fusion.of(self.fusion.weights)

    def to_dict(self) -> dict[str, Any]:
        dense = {} if self.encoder is None else {"dense": self.dense}
        store = {} if self.store is None else {"store": {"url": self.store.public}}
        languages = {} if self.languages is None else {"languages": list(self.languages)}
        return {
            "sparse": self.sparse,
            "encoder": None if self.encoder is None else self.encoder.record.to_dict(),
            **dense,
            **store,
            **languages,
            "fusion": self.fusion.to_dict(),
        }

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], encoder: Encoder | str | Path | None = None, *, index: Path | None = None
    ) -> Plan:
        """Read the result of :meth:`to_dict`.

        Args:
            value: the saved plan.
            encoder: the encoder, or its present place; ``None`` for the recorded place.
            index: the directory of the index, for messages.

        Raises:
            InputError: an encoder is given, but the index has no dense search.
            StoreError: a given loaded encoder is not the recorded one.
            ValueError: the value is damaged.
            UnknownNameError: there is no such preset.
        """
        sparse, recorded = member(value, "sparse", str), value.get("encoder")
        names = _search_names(sparse, dense=recorded is not None)
        if recorded is None and encoder is not None:
            raise InputError("the index has no dense search: it needs no encoder", path=index)
        record = None if recorded is None else EncoderRecord.from_dict(recorded)
        has_store = record is not None and "store" in value
        return cls(
            sparse=sparse,
            encoder=None if record is None else QueryEncoder(record, encoder, index=index),
            dense=EXACT_NEIGHBOURS if record is None else member(value, "dense", str),
            store=StoreAddress.recorded(member(member(value, "store", dict), "url", str)) if has_store else None,
            fusion=Fusion.from_dict(member(value, "fusion", dict), names),
            languages=tuple(member(value, "languages", list)) if "languages" in value else None,
        )


def _search_names(sparse: str, *, dense: bool) -> list[str]:
    """List the searches of an index, in the order in which their scores are added."""
    return [EXACT_MATCH, *preset(sparse), *([DENSE] if dense else [])]


def _loaded(encoder: Encoder | str | Path) -> QueryEncoder:
    """Record an encoder. If it is given by name or folder, load it first."""
    if not isinstance(encoder, str | Path):
        return QueryEncoder(EncoderRecord.of(encoder), encoder)
    from nymlink.encode.encoder import Encoder

    loaded = Encoder.load(encoder)
    return QueryEncoder(EncoderRecord.of(loaded), loaded)
