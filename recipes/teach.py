"""Teach nymlink-mini what the rules for words and its ranker know.

    python recipes/teach.py FOLDER OUTPUT [--data DATA] [--ship]

The second stage of nymlink-mini, after ``recipes/nymlink_mini.py --ship`` and ``recipes/ranker.py FOLDER``. It
learns from what other open vocabularies call the concepts of MeSH, MONDO and HPO: no name that the ranker learns
from, and no mention, though the ranker has seen some:

- the order of the ranker: cosines of a name and the candidates found for it become probabilities near those of
  the ranker, half and half with the right ones (distillation, Hinton et al. 2015);
- relatives in the hierarchies of open ontologies are softened: parents, children and siblings of what is right
  take a tenth of its part, instead of none;
- other forms and words that the rules of English make of a name are near it (InfoNCE within the batch);
- weights are drawn to those of the base (L2-SP, Li et al. 2018, decoupled from the gradient).

The questions are kept in OUTPUT, and the encoder with its float weights is OUTPUT/nymlink-mini. With --ship, its
int8 form is written into the package; then run ``recipes/ranker.py`` with another FOLDER, and
``recipes/calibration.py``. Needs ``nymlink[train]``; less than half an hour on one core.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nymlink.core.problems import Problems
from nymlink.core.terminal import track
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, installed_ranker
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.index import Index
from nymlink.rank.ranker import Ranker, softmax
from nymlink.text.languages import rules_of
from nymlink.text.normalise import normalise
from nymlink.train.engine.gradient_cache import EncodedBatch
from nymlink.train.engine.optimiser import LearningRate, Precision, adamw
from nymlink.train.ranking.left_out import draw_names_elsewhere
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes.asked import Asked, kept
from recipes.nymlink_mini import ship, shipped
from recipes.ranker import ELSEWHERE
from recipes.siblings import HIERARCHIES

COUNTS: Final = {"mesh": 8000, "mondo": 6000, "hpo": 4000}
"""Names that are asked of each index, before those that the ranker learns from are left out."""

CANDIDATES: Final = 8
"""Of a question: the first in the order of the ranker, and one that is right."""

EPOCHS: Final = 2
BATCH: Final = 32
"""Questions of a step."""

RATE: Final = 3e-5
WARM_UP: Final = 0.1
TEMPERATURE: Final = 0.05
OF_RANKER: Final = 0.5
"""Share of the ranker's probabilities in what is aimed at; the rest is of what is right."""

OF_RELATIVES: Final = 0.1
"""Share of relatives in the rest."""

OF_RULES: Final = 0.3
"""Weight of the loss of other forms and words."""

PULL: Final = 10.0
"""L2-SP: share of their distance by which weights go back to the base, in each step, times the learning rate."""

LARGEST_FAMILY: Final = 50
"""Members of a family that are relatives: those of a wider one are hardly alike."""

SEED: Final = 1
"""Of the names that are drawn; the ranker's are drawn with 0."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question to learn from.

    Attributes:
        text: what is asked.
        names: the nearest name of each candidate.
        aim: the probability of each.
        other: another form of the text, or other words for it; empty where rules make none.
    """

    text: str
    names: list[str]
    aim: list[float]
    other: str


def main() -> None:
    """Make the examples, teach, and write; steps that are done are skipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="that of recipes/ranker.py")
    parser.add_argument("output", type=Path, help="folder of questions and encoder")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with vocabularies/ and native/"
    )
    parser.add_argument("--ship", action="store_true", help="write the int8 form into the package")
    arguments = parser.parse_args()
    output: Path = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    target = shipped() if arguments.ship else None
    taught = output / MINI
    if not taught.exists():
        examples = examples_of(arguments.folder, output, arguments.data)
        print(f"{len(examples):,} examples, {sum(bool(each.other) for each in examples):,} with other words")
        teach(examples).save(taught)
    if target is not None:
        ship(taught, arguments.data, target)


def examples_of(folder: Path, own: Path, data: Path) -> list[Example]:
    """Ask the indexes for names of other vocabularies that the ranker was not asked for."""
    merged = Vocabulary.load(folder / "merged")
    related = relatives(data)
    examples = []
    for name, count in COUNTS.items():

        def ask(name: str = name, count: int = count) -> Asked:
            index = Index.load(folder / name)
            known = {question.text for question in draw_names_elsewhere(index, merged, ELSEWHERE[name])[0]}
            drawn = zip(*draw_names_elsewhere(index, merged, count, seed=SEED), strict=True)
            new = [each for each in drawn if each[0].text not in known]
            return Asked.of(index, ([each[0] for each in new], [each[1] for each in new], range(len(new))))

        examples += _examples(kept(own / f"taught by {name}.npz", ask), related)
    return examples


def _examples(asked: Asked, related: Mapping[str, Collection[str]]) -> list[Example]:
    content = installed_ranker(MINI, Encoder.load(MINI).fingerprint)
    if content is None:
        sys.exit(f"no ranker comes with {MINI}: run recipes/ranker.py first")
    ranker, rules = Ranker.from_dict(content), rules_of("en")
    scores = ranker.scores(asked.described)
    by_ranker, order = softmax(scores), np.argsort(-scores, axis=1, kind="stable")
    examples = []
    for row, text in enumerate(asked.texts):
        right, names = asked.right[row], asked.names[row]
        if not right.any():
            continue
        first = [place for place in order[row].tolist() if np.isfinite(scores[row, place])]
        places = first[:CANDIDATES]
        if not right[places].any():
            places[-1] = int(right.argmax())
        good = right[places].astype(float)
        kin = set(chain.from_iterable(related.get(name, ()) for name in names[int(right.argmax())].split("; ")))
        soft = np.array([any(name in kin for name in names[place].split("; ")) for place in places]) & (good == 0)
        share = OF_RELATIVES if soft.any() else 0.0
        of_gold = (1 - share) * good / good.sum() + share * soft / max(1, soft.sum())
        of_ranker = by_ranker[row, places] / max(float(by_ranker[row, places].sum()), 1e-9)
        aim = OF_RANKER * of_ranker + (1 - OF_RANKER) * of_gold
        # Of every second text other words first, since nearly each has another form.
        ways = (rules.forms, rules.paraphrases) if row % 2 else (rules.paraphrases, rules.forms)
        others = (other for way in ways for other in way(text) if other != text)
        nearest = [names[place].split("; ")[0] for place in places]
        examples.append(Example(text, nearest, aim.tolist(), next(others, "")))
    return examples


def relatives(data: Path) -> Mapping[str, Collection[str]]:
    """Collect, for each name in the hierarchies of open ontologies, those of parents, children and siblings."""
    found = defaultdict[str, set[str]](set)
    for name in HIERARCHIES:
        vocabulary = read_vocabulary(data / "native" / name, problems=Problems())
        families = defaultdict[str, list[str]](list)
        for concept in vocabulary:
            for parent in concept.parents:
                if parent in vocabulary:
                    families[parent].append(concept.id)
        names = {
            concept.id: {normalise(each.text) for each in vocabulary.names(concept.id)} for concept in vocabulary
        }
        for parent, children in families.items():
            members = [parent, *children]
            if len(members) > LARGEST_FAMILY:
                continue
            everyone = set().union(*(names.get(member, ()) for member in members))
            for member in members:
                for own in names.get(member, ()):
                    found[own] |= everyone - names[member]
    return found


def teach(examples: list[Example]) -> TorchModel:
    """Train nymlink-mini on examples."""
    torch.manual_seed(SEED)
    model, precision = TorchModel.load(MINI, attention="sdpa"), Precision.of("auto", torch.device("cpu"))
    base = deepcopy(model)
    weights = [each for each in model.parameters() if each.requires_grad]
    optimiser = adamw(weights, learning_rate=RATE, weight_decay=0.0)
    drawn = np.random.default_rng(SEED)
    batches = [
        rows
        for _ in range(EPOCHS)
        for rows in np.array_split(drawn.permutation(len(examples)), -(-len(examples) // BATCH))
    ]
    rate = LearningRate(optimiser, "linear", steps=len(batches), warm_up=WARM_UP)
    model.train()
    losses = []
    for step, rows in enumerate(track(batches, "teaching")):
        now = rate.set(step)
        losses.append(_step(model, [examples[row] for row in rows], precision))
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad()
        with torch.no_grad():
            for own, origin in zip(model.parameters(), base.parameters(), strict=True):
                own.lerp_(origin, now * PULL)
        if step % 100 == 99:
            print(f"step {step + 1} of {len(batches)}: loss {np.mean(losses[-100:]):.4f}", flush=True)
    return model.eval()


def _step(model: TorchModel, batch: list[Example], precision: Precision) -> float:
    """Add the gradients of a batch, and return its loss."""
    numbers: dict[str, int] = {}
    for each in batch:
        for name in (each.text, *each.names, *filter(None, [each.other])):
            numbers.setdefault(name, len(numbers))
    encoding = EncodedBatch(model, tokenise(model.tokenizer, list(numbers)), precision, graph_tokens=1 << 15)
    leaves = encoding.vectors.requires_grad_()
    vectors = functional.normalize(leaves)
    loss = torch.zeros(())
    for each in batch:
        cosines = vectors[[numbers[name] for name in each.names]] @ vectors[numbers[each.text]]
        aim = torch.tensor(each.aim)
        loss = loss - (aim * functional.log_softmax(cosines / TEMPERATURE, 0)).sum() / len(batch)
    paired = [each for each in batch if each.other]
    if len(paired) > 1:
        texts, others = (
            vectors[[numbers[text] for text in of]]
            for of in ([each.text for each in paired], [each.other for each in paired])
        )
        loss = loss + OF_RULES * functional.cross_entropy(
            texts @ others.T / TEMPERATURE, torch.arange(len(paired))
        )
    gradient: Tensor
    (gradient,) = torch.autograd.grad(loss, [leaves])
    encoding.backward(gradient)
    return loss.item()


if __name__ == "__main__":
    main()
