"""The stages of the recipe: what each makes in the folder, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from recipes.xl_mini import align, data, distil, evaluate, figures, ship, tokenizer, transplant
from tokenizers import Tokenizer

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.settings.common import HeldOutCorpus

MIXED: Final = "nymlink-xl-mini"
"""The folder of the encoder that is shipped: the mean of the distilled and the aligned one."""

_COUNTED: Final = 2_000
"""Names of a language whose tokens are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of all stages.

    Attributes:
        folder: where everything is kept.
        data: vocabularies/ and multilingual/.
        base: the encoder it starts from, which is its teacher.
        steps: of distillation.
        align_steps: of self-alignment.
        seed: of all that is drawn.
    """

    folder: Path
    data: Path
    base: str
    steps: int
    align_steps: int
    seed: int

    def corpora(self) -> dict[str, HeldOutCorpus]:
        """Load the held-out names, by benchmark and language."""
        return evaluate.held_out_corpora(self.data, self.folder / "held_out", seed=self.seed)


def make_data(recipe: Recipe) -> None:
    """Merge the allowed tables and pair their names."""
    data.make(recipe.data, recipe.folder, seed=recipe.seed)
    figures.keep(recipe.folder, "data", partial(data.counts, recipe.data, recipe.folder))


def make_tokenizer(recipe: Recipe) -> None:
    """Learn pieces, and count those of names with the base's tokenizer and the new one."""
    path = tokenizer.make(recipe.folder, seed=recipe.seed)

    def count() -> list[dict[str, str]]:
        names = {language: own[:_COUNTED] for language, own in tokenizer.read_names(recipe.folder).items()}
        tokenizers = {"base": TorchModel.load(recipe.base).tokenizer, "new": Tokenizer.from_file(str(path))}
        return tokenizer.report(tokenizers, names)

    figures.keep(recipe.folder, "tokens", count)


def make_transplant(recipe: Recipe) -> None:
    """Give the base embeddings for the new pieces."""
    transplant.make(recipe.folder, recipe.base, recipe.folder / "tokenizer.json")


def make_distilled(recipe: Recipe) -> None:
    """Distil the base into names of other languages."""
    settings = distil.DistilSettings(
        base=str(recipe.folder / "transplanted"),
        output=str(recipe.folder / "distilled"),
        folder=str(recipe.folder),
        seed=recipe.seed,
        max_steps=recipe.steps,
        evaluation={name: corpus for name, corpus in recipe.corpora().items() if name.startswith("hpo")},
        **distil.SETTINGS,
    )
    distil.distil(settings, recipe.base, progress=True)


def make_aligned(recipe: Recipe) -> None:
    """Align names of all languages, and take the mean with the weights before."""
    align.make(
        recipe.folder,
        recipe.folder / "distilled",
        recipe.folder / MIXED,
        steps=recipe.align_steps,
        seed=recipe.seed,
    )


def measure(recipe: Recipe) -> None:
    """Ask what there is of the encoders for held-out names, beside the base and character TF-IDF."""
    corpora = recipe.corpora()
    places = {stage: recipe.folder / stage for stage in ("transplanted", "distilled", "aligned", MIXED)}
    encoders = {recipe.base: recipe.base, **{name: place for name, place in places.items() if _is_done(place)}}

    def alone(place: str | Path) -> evaluate.Figures:
        return evaluate.vectors_alone(Encoder.load(place), corpora)

    figures.keep(recipe.folder, "found by character TF-IDF", partial(evaluate.hybrid, None, corpora))
    for name, place in encoders.items():
        figures.keep(recipe.folder, f"found by {Path(name).name}", partial(alone, place))
    last = list(encoders.values())[-1]
    figures.keep(
        recipe.folder,
        f"found by {Path(last).name}, hybrid",
        lambda: evaluate.hybrid(Encoder.load(last), corpora),
    )


def make_shipped(recipe: Recipe) -> None:
    """Write the int8 form into the distribution."""
    figures.keep(recipe.folder, "shipped", partial(ship.ship, recipe.folder / MIXED, recipe.data))


STAGES: Final[dict[str, Callable[[Recipe], None]]] = {
    "data": make_data,
    "tokenizer": make_tokenizer,
    "transplant": make_transplant,
    "distil": make_distilled,
    "align": make_aligned,
    "evaluate": measure,
    "ship": make_shipped,
}


def result(recipe: Recipe) -> dict[str, Any]:
    """Collect the figures of all stages that were run."""
    kept = figures.read(recipe.folder)
    prefix = "found by "
    found = {name.removeprefix(prefix): kept.pop(name) for name in list(kept) if name.startswith(prefix)}
    tables = {benchmark: evaluate.table(found, benchmark) for benchmark in ("hpo", "icd10")}
    return {**kept.pop("data", {}), **kept, **tables, "found": found}


def _is_done(folder: Path) -> bool:
    return (folder / "manifest.json").exists()
