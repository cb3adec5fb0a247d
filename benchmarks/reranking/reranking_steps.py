"""Steps of the benchmark of re-ranking, each run in a process of its own: see ``reranking.py``."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nymlink.core.store.atomic import atomic_file

if TYPE_CHECKING:
    from nymlink.corpus.documents import Corpus
    from nymlink.evaluation.outcomes import Rank
    from nymlink.index.hits import Scores
    from nymlink.index.index import Index
    from nymlink.rerank.passages import Passage
    from nymlink.rerank.reranker import Reranker
    from nymlink.train.ranking.fit_reranking import RerankingFit
from nymlink.rerank.scorer import ContextScorer

CANDIDATES: Final = 64


def cut(corpus: str, output: str, *, first: int) -> dict[str, Any]:
    """Write the first documents of a PubTator file to another."""
    documents = re.split(r"\n\s*\n", gzip.decompress(Path(corpus).read_bytes()).decode("utf-8").strip())
    with atomic_file(Path(output)) as partial:
        partial.write_text("\n\n".join(documents[:first]) + "\n", encoding="utf-8")
    return {}


def build(dictionary: str, output: str, cache: str, *, names: str | None, encoder: str | None) -> dict[str, Any]:
    """Build the index: sparse, or of an encoder's vectors alone.

    Args:
        dictionary: the vocabulary.
        output: folder of the index.
        cache: folder of the cache of vectors.
        names: a corpus whose mentions are added as names.
        encoder: encoder of dense search; ``None`` for sparse search.
    """
    from nymlink.corpus.read import read_corpus
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.evaluation.evaluation import augment
    from nymlink.index.fusion import Fusion
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    vocabulary = read_vocabulary(Path(dictionary))
    if names is not None:
        vocabulary = augment(vocabulary, [read_corpus(Path(names))])
    if encoder is None:
        index = Index.build(vocabulary, sparse="le-nguyen", progress=True, encoder=None)
    else:
        loaded, kept = Encoder.load(encoder, backend="torch"), EmbeddingCache(Path(cache))
        index = Index.build(vocabulary, sparse="none", encoder=loaded, cache=kept, progress=True)
        index = index.with_fusion(Fusion.of(["exact", "dense"], weights={"dense": 1.0}))
    index.save(output)
    return {}


def train(
    corpus: str, index: str, encoder: str, output: str, *, loss: str | None, **settings: Any
) -> dict[str, Any]:
    """Train a re-ranker, or resume it, and return the seconds of an epoch; ``None`` where they are unknown.

    Args:
        corpus: the training corpus.
        index: the index of the candidates.
        encoder: start of the training.
        output: folder of the re-ranker.
        loss: loss of the dual encoder; ``None`` for a cross-encoder.
        settings: further settings.
    """
    from nymlink.core.toml_settings import make_settings
    from nymlink.train.engine.checkpoint import checkpoints
    from nymlink.train.mentions.train_rerankers import train_cross_encoder, train_rerank
    from nymlink.train.settings.recipes import read_recipe
    from nymlink.train.settings.reranker_trainings import CrossEncoderSettings, RerankSettings

    common: dict[str, Any] = {"corpora": [corpus], "index": index, "base": encoder, "output": output, **settings}
    before = max(checkpoints(Path(output) / "checkpoints"), default=0)
    start = time.perf_counter()
    made: CrossEncoderSettings | RerankSettings
    if loss is None:
        made = make_settings(CrossEncoderSettings, common)
        result = train_cross_encoder(made, progress=True)
    else:
        recipe = common.pop("recipe", None)
        values = {"candidates": CANDIDATES} if recipe is None else read_recipe(recipe, "rerank")[0]
        made = make_settings(RerankSettings, {**values, **common, "loss": loss})
        result = train_rerank(made, progress=True)
    steps = result["steps"]
    seconds = time.perf_counter() - start
    if made.max_steps is not None or steps == before:
        return {"epoch_seconds": None}
    return {"epoch_seconds": seconds * steps / (steps - before) / made.epochs}


def measure(
    training: str, corpus: str, index: str, reranker: str, *, candidates: int = CANDIDATES
) -> dict[str, Any]:
    """Re-rank every mention with gold ids, and measure the speed.

    ``combined`` is its rank where all other evidence counts too, by what was learned from the half of the
    documents that it is not in.

    Every fifth document is re-ranked again, with its concepts encoded already, which gives the speed, and from it
    the time of encoding concepts.
    """
    from nymlink.corpus.read import read_corpus
    from nymlink.evaluation.reranking import evaluate_reranking
    from nymlink.index.index import Index
    from nymlink.linking.linker import Linker
    from nymlink.rerank.dual_encoder import DualScorer
    from nymlink.rerank.reranker import Reranker

    opened, read = memoised(Index.load(index)), read_corpus(Path(corpus))
    loaded = Reranker.load(reranker, opened.vocabulary)
    own = loaded.scorer
    if isinstance(own, DualScorer):
        # Without the user's cache, since encoding concepts is timed.
        own = DualScorer(own.model, opened.vocabulary)
    scorer = Remembering(own)
    model = Reranker(scorer, opened.vocabulary, candidates=candidates, max_length=loaded.max_length)
    found = evaluate_reranking(opened, model, read, training=[read_corpus(Path(training))], progress=True)
    timed = Remembering(scorer.scorer)
    known = Reranker(timed, opened.vocabulary, candidates=candidates, max_length=loaded.max_length)
    linked = zip(read.documents, Linker(opened, top_k=candidates).link_documents(read.documents), strict=True)
    again, counted = 0.0, 0
    for document, links in islice(linked, 0, None, 5):
        start = time.perf_counter()
        known.rerank(document, links)
        again, counted = again + time.perf_counter() - start, counted + len(links)
    halves = [replace(read, documents=read.documents[start::2]) for start in (0, 1)]
    fitted = fits(opened, model, halves)
    together = held_out(opened, model, halves, fitted)
    half_of = [
        number % 2
        for number, document in enumerate(read.documents)
        for mention in document.mentions
        if mention.concept_ids
    ]
    return {
        "mentions": [
            {**one.to_dict(), "combined": next(together[half])}
            for one, half in zip(found.mentions, half_of, strict=True)
        ],
        "fits": [one.to_dict() for one in fitted],
        "entity_seconds": scorer.seconds - timed.seconds / counted * sum(1 for _ in read.mentions()),
        "mentions_per_second": counted / again,
    }


def memoised(index: Index) -> Index:
    """Cache the searches of an index, since a corpus is linked several times."""
    match = cache(index.match)
    index.match = lambda queries, k, surfaces=(), **others: match(  # type: ignore
        tuple(queries), k, surfaces=tuple(surfaces), **others
    )
    return index


class Remembering:
    """Scorer that caches the scores of a mention and its candidates.

    Attributes:
        scorer: the cached scorer.
        seconds: time spent in it.
    """

    def __init__(self, scorer: ContextScorer) -> None:
        self.scorer = scorer
        self.seconds = 0.0
        self._found: dict[tuple[Passage, tuple[int, ...]], Scores] = {}

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """See :meth:`nymlink.rerank.scorer.ContextScorer.scores`."""
        asked = [(passage, tuple(rows)) for passage, rows in zip(passages, candidates, strict=True)]
        new = [one for one in dict.fromkeys(asked) if one not in self._found]
        if new:
            start = time.perf_counter()
            found = self.scorer.scores([passage for passage, _ in new], [rows for _, rows in new])
            self.seconds += time.perf_counter() - start
            self._found.update(zip(new, found, strict=True))
        return [self._found[one] for one in asked]


def fits(index: Index, model: Reranker, halves: Sequence[Corpus]) -> list[RerankingFit]:
    """Learn the order for each half of a corpus from the other."""
    from nymlink.train.ranking.fit_reranking import fit_reranking

    return [fit_reranking(index, model, half, progress=True) for half in reversed(halves)]


def held_out(
    index: Index, model: Reranker, halves: Sequence[Corpus], fitted: Sequence[RerankingFit]
) -> Sequence[Iterator[Rank]]:
    """Compute the ranks of the mentions of each half of a corpus, in the order learned for it."""
    from nymlink.evaluation.reranking import evaluate_reranking
    from nymlink.rerank.reranker import Reranker

    found = []
    for half, fit in zip(halves, fitted, strict=True):
        weighted = Reranker(
            model.scorer,
            model.vocabulary,
            order=fit.order,
            candidates=model.candidates,
            max_length=model.max_length,
        )
        found.append(one.after for one in evaluate_reranking(index, weighted, half).mentions)
    return found


def examples(corpus: str, index: str, chosen: list[dict[str, Any]]) -> dict[str, Any]:
    """Format mentions, marked in their sentences, with concepts and their names."""
    from nymlink.corpus.read import read_corpus
    from nymlink.evaluation.outcomes import GoldResolver
    from nymlink.index.index import Index
    from nymlink.rerank.passages import sentence_starts

    vocabulary = Index.load(index).vocabulary
    resolver = GoldResolver(vocabulary)
    texts = {document.id: document.text for document in read_corpus(Path(corpus)).documents}

    def named(concept_id: str | None) -> str:
        rows = [] if concept_id is None else sorted(resolver.rows([concept_id]))
        return " / ".join(vocabulary.preferred_name(row) for row in rows) or str(concept_id)

    def sentence(document: str, start: int, end: int) -> str:
        text = texts[document]
        bounds = [*sentence_starts(text), len(text)]
        left, right = max(at for at in bounds if at <= start), min(at for at in bounds if at >= end)
        return f"{text[left:start]}**{text[start:end]}**{text[end:right]}".strip()

    return {
        "examples": [
            {
                "mention": sentence(one["document"], one["start"], one["end"]),
                "gold": ", ".join(map(named, one["gold"])),
                "said": {label: ", ".join(map(named, said)) for label, said in one["said"].items()},
            }
            for one in chosen
        ]
    }
