"""All peers, in the order of the tables: what is installed for each, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.common.inputs import base
from benchmarks.peers.dictionary import BLOCK
from benchmarks.peers.vectors import BASE
from nymlink.encode.model.folder import FOLDER, MINI, NANO

GILDA: Final = "gilda==1.6.1"

BORROWED: Final = "sentence-transformers==6.2.0"
"""What loads the encoder of others; torch and the encoder are lent by this environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A peer.

    Attributes:
        key: file of its figures.
        label: name in tables.
        module: module in ``peers.linkers`` or ``peers.annotators``; ``None`` where it is only tried to install it.
        packages: what is installed for it from PyPI.
        borrows: whether what is installed here can be imported.
        builds: whether it has an index on disk; if not, start-up makes all that it needs.
        encoder: the encoder whose vectors it searches, made once for all peers; ``None`` for none.
        settings: further arguments of its functions.
        grows: whether it is measured with more and more names.
        lends: whether its vectors are those that all search then.
        block: mentions or texts that it is given at once.
        short: name in the picture.
    """

    key: str
    label: str
    module: str | None
    packages: tuple[str, ...] = ()
    borrows: bool = False
    builds: bool = False
    encoder: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    grows: bool = True
    lends: bool = False
    block: int = BLOCK
    short: str = ""


def _dense(key: str, label: str, module: str, short: str, *packages: str, **others: Any) -> Peer:
    """Describe a peer that searches vectors of :data:`~benchmarks.peers.vectors.BASE`."""
    return Peer(
        key=key,
        label=label,
        module=module,
        packages=(BORROWED, *packages),
        borrows=True,
        builds=True,
        encoder=BASE,
        short=short,
        **others,
    )


def weights(encoder: str) -> str:
    """Return the folder of an encoder."""
    return base() if encoder == BASE else str(FOLDER)


LINKERS: Final = (
    Peer(key="exact", label="equal names", module="exact", short="equal names"),
    Peer(
        key="rapidfuzz",
        label="rapidfuzz 3.14.6, `ratio`",
        module="ratio",
        packages=("rapidfuzz==3.14.6", "numpy"),
        short="rapidfuzz",
    ),
    Peer(
        key="simstring",
        label="simstring (quickumls-simstring 1.1.5r1)",
        module="simstring",
        packages=("quickumls-simstring==1.1.5r1",),
        builds=True,
        short="simstring",
    ),
    Peer(key="gilda", label="gilda 1.6.1", module="gilda", packages=(GILDA,), short="gilda"),
    Peer(
        key="text2term",
        label="text2term 4.6.0, TF-IDF",
        module="text2term_mapper",
        packages=("text2term==4.6.0",),
        block=4096,
        short="text2term",
    ),
    Peer(
        key="tfidf",
        label="scikit-learn 1.9.1, TF-IDF",
        module="tfidf",
        packages=("scikit-learn==1.9.1",),
        short="scikit-learn",
    ),
    Peer(
        key="scispacy",
        label="scispaCy 0.6.2",
        module="scispacy_candidates",
        # Its index cannot be built with a later scipy.
        packages=("scispacy==0.6.2", "nmslib-metabrainz==2.1.3", "scipy==1.10.1", "numpy==1.26.4"),
        builds=True,
        short="scispaCy",
    ),
    Peer(key="xmen", label="xMEN, the package", module=None, packages=("xmen",)),
    _dense(
        "xmen_graph",
        f"xMEN's graph, {BASE}",
        "xmen_graph",
        "xMEN's graph",
        "faiss-cpu",
    ),
    _dense(
        "semantic_search",
        f"sentence-transformers 6.2.0, {BASE}",
        "semantic_search",
        "semantic_search",
    ),
    _dense("sapbert_base", f"SapBERT's way, {BASE}", "sapbert_way", "SapBERT's way"),
    Peer(
        key="sapbert_mini",
        label=f"SapBERT's way, {MINI}",
        module="sapbert_way",
        builds=True,
        encoder=MINI,
        grows=False,
    ),
    _dense("biosyn", f"BioSyn's way, {BASE}, weight 1", "biosyn_way", "BioSyn's way", "scikit-learn==1.9.1"),
    Peer(
        key="nymlink_sparse",
        label="nymlink, no encoder",
        module="nymlink_linker",
        builds=True,
        settings={"encoder": None},
        block=1024,
        short="nymlink, no encoder",
    ),
    Peer(
        key="nymlink_nano",
        label=f"nymlink, {NANO}",
        module="nymlink_linker",
        builds=True,
        settings={"encoder": NANO},
        grows=False,
        block=1024,
    ),
    Peer(
        key="nymlink",
        label="**nymlink**",
        module="nymlink_linker",
        builds=True,
        settings={"encoder": MINI},
        block=1024,
        lends=True,
        short="nymlink",
    ),
)

ANNOTATORS: Final = (
    Peer(
        key="aho_corasick",
        label="Aho–Corasick (pyahocorasick 2.3.1)",
        module="aho_corasick",
        packages=("pyahocorasick==2.3.1",),
        short="Aho–Corasick",
    ),
    Peer(key="plain", label="runs of words, longest match", module="plain_matcher", short="runs of words"),
    Peer(
        key="simstring_windows",
        label="simstring over windows of 5 words",
        module="simstring_windows",
        packages=("quickumls-simstring==1.1.5r1",),
        builds=True,
        short="simstring",
    ),
    Peer(
        key="fast_hpocr",
        label="FastHPOCR 0.1.4",
        module="fast_hpocr",
        # pronto, which it imports, is not among its requirements.
        packages=("fasthpocr==0.1.4", "pronto==2.7.4"),
        builds=True,
        grows=False,
    ),
    Peer(
        key="nymlink_annotate",
        label="**`nymlink annotate`**",
        module="nymlink_annotator",
        builds=True,
        settings={"fuzzy": False, "encoder": None},
        short="nymlink annotate",
    ),
    Peer(
        key="nymlink_fuzzy",
        label="`nymlink annotate --fuzzy`",
        module="nymlink_annotator",
        builds=True,
        settings={"fuzzy": True, "encoder": MINI},
        grows=False,
    ),
)
