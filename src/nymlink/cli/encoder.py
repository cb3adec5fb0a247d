"""`nymlink encoder`: use models that make vectors of names."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

import click
import numpy as np

from nymlink.cli.common import finish, reported_problems, require_files
from nymlink.core.errors import MissingExtraError
from nymlink.core.files import read_lines
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.outputs import require_directory
from nymlink.encode.backends import Precision
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.embedded import embedded
from nymlink.encode.model.saved import KIND, export_notes
from nymlink.encode.model.settings import Pooling
from nymlink.link.default import default_index
from nymlink.vocabulary.vocabulary import Vocabulary

_OPTIONS = (
    click.option("--backend", help="What runs the model; without it ONNX Runtime where that will do, else torch."),
    click.option("--precision", type=click.Choice(get_args(Precision)), help="Precision of the matrix products."),
    click.option("--device", help="cpu, cuda or cuda:1; without it torch takes a GPU where there is one."),
    click.option(
        "--pooling",
        type=click.Choice(get_args(Pooling)),
        help="Instead of what the model's folder says; not of a graph that pools by itself, as every export does.",
    ),
    click.option("--max-length", type=click.IntRange(min=3), help="Tokens that longer names are cut to."),
    click.option(
        "--batch-tokens", type=click.IntRange(min=1), help="Tokens encoded at once, where memory suffices."
    ),
)


def _loads(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument MODEL and the options of :meth:`Encoder.load`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("model")(command)


@click.group()
def encoder() -> None:
    """Use models that make vectors of names.

    MODEL is nymlink-mini, a folder, or the name of a model on the Hugging Face hub.
    """


@encoder.command()
@click.argument("model")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--precision",
    type=click.Choice(["fp32", "int8"]),
    default="fp32",
    show_default=True,
    help="int8 is faster and a quarter of the size.",
)
@click.option(
    "--vocab",
    type=click.Path(path_type=Path),
    help="Check int8 with this vocabulary; without it with the Human Phenotype Ontology.",
)
@click.option("--pooling", type=click.Choice(get_args(Pooling)), help="Instead of what the model's folder says.")
@click.option("--max-length", type=click.IntRange(min=3), help="Tokens that longer names are cut to.")
def export(
    model: str,
    output: Path,
    precision: Literal["fp32", "int8"],
    vocab: Path | None,
    pooling: Pooling | None,
    max_length: int | None,
) -> None:
    """Write a model for ONNX Runtime, which needs no torch.

    int8 is refused where it finds the concepts of a vocabulary by their synonyms less often than fp32 does, by
    more than half a percentage point.
    """
    from nymlink.encode.export.onnx_export import export as write

    require_directory(output, kind=KIND, inputs=[Path(model), vocab])
    vocabulary = None
    if precision == "int8":
        vocabulary = default_index(progress=True).vocabulary if vocab is None else Vocabulary.load(vocab)
    quality = write(
        model,
        output,
        precision=precision,
        vocabulary=vocabulary,
        pooling=pooling,
        max_length=max_length,
        progress=True,
    )
    if quality is not None:
        click.echo(
            f"recall@1 of {quality.queries:,} names: {100 * quality.recall_fp32:.2f} % in fp32, "
            f"{100 * quality.recall_int8:.2f} % in int8"
        )
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    click.echo(f"{size / 1e6:,.0f} MB → {output}")


@encoder.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    type=click.FloatRange(min=0),
    help="How much a model counts: one for each, in their order. Without it all count the same.",
)
def average(models: tuple[str, ...], output: Path, weights: tuple[float, ...]) -> None:
    """Write the mean of models that were trained from the same start, or of one and its start.

    Halfway between an encoder and what a small corpus made of it lies one that keeps more of what it knew before.

    \b
    nymlink train finetune --base nymlink-mini --corpus train.PubTator.txt --vocab mondo -o tuned
    nymlink encoder average tuned nymlink-mini -o ours
    """
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtraError("train", purpose="the mean of encoders")
    require_directory(output, kind=KIND, inputs=map(Path, models))
    from nymlink.encode.model.average import average as mean

    mean(models, weights=weights or None).save(output)
    click.echo(f"the mean of {len(models)} encoders → {output}")


@encoder.command()
@_loads
def info(model: str, **options: Any) -> None:
    """Say what a model is and how it would be run."""
    loaded = Encoder.load(model, **options)
    click.echo(f"width        {loaded.width}")
    for name, value in loaded.settings.to_dict().items():
        click.echo(f"{name:12} {value}")
    click.echo(f"precision    {loaded.network.precision} on {loaded.network.device}")
    click.echo(f"fingerprint  {loaded.fingerprint}")
    for name, value in export_notes(embedded(model) or Path(model)).items():
        click.echo(f"export       {name}: {value}")


@encoder.command()
@_loads
@click.option("--file", required=True, type=click.Path(path_type=Path), help="Names, one a line.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="NumPy file to write.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of vectors encoded before, and to add to.")
def encode(model: str, file: Path, output: Path, cache: Path | None, **options: Any) -> None:
    """Write the vectors of names: float32, a row of length 1 for each line, of zeros for a blank or rejected one.

    With --cache, a run that was interrupted goes on where it stopped.
    """
    require_files([output], [file])
    loaded = Encoder.load(model, **options)
    problems = reported_problems()
    names: list[str] = []
    for number, line in read_lines(file, problems):
        # What was rejected is a blank line here, so that row and line go on being the same.
        names.extend([""] * (number - 1 - len(names)))
        names.append(line)
    if problems.last is not None:
        names.extend([""] * ((problems.last.line or 0) - len(names)))
    vectors = loaded.encode(names, progress=True, cache=None if cache is None else EmbeddingCache(cache))
    with atomic_file(output) as partial, open(partial, "wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    click.echo(f"{len(vectors):,} vectors of width {loaded.width} → {output}")
    finish(problems)


@encoder.command()
@_loads
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def compare(model: str, names: tuple[str, ...], **options: Any) -> None:
    """Say how similar names are: the cosine of each two, the most similar first."""
    if len(names) < 2:
        raise click.UsageError("give two names or more")
    vectors = Encoder.load(model, **options).encode(names)
    pairs = [(float(vectors[a] @ vectors[b]), names[a], names[b]) for a, b in combinations(range(len(names)), 2)]
    for cosine, one, other in sorted(pairs, key=lambda pair: -pair[0]):
        click.echo(f"{cosine:.4f}\t{one}\t{other}")
