"""`nymlink encoder`: describe, run, average and export models that make vectors of names."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.cli.common import finish, reported_problems, require_files
from nymlink.cli.lazy import Commands
from nymlink.core.errors import MissingExtraError
from nymlink.core.files import read_lines
from nymlink.core.store.arrays import Vectors
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.output_checks import require_directory
from nymlink.encode.backend import Precision
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.encode.model.fingerprint import KIND, export_notes
from nymlink.encode.model.folder import installed
from nymlink.linking.default import default_index
from nymlink.tables.coded import write_table
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

_OPTIONS = (
    click.option(
        "--backend",
        help="Library for the model: onnx or torch; if not given, onnx if the model has files for it.",
    ),
    click.option("--precision", type=click.Choice(get_args(Precision)), help="Precision of matrix products."),
    click.option(
        "--device",
        help="Device of the encoder: cpu, cuda or cuda:1; if not given, torch uses a GPU if there is one.",
    ),
    click.option(
        "--pooling",
        type=click.Choice(get_args(Pooling)),
        help="Pooling of token vectors, instead of the setting of the model's folder; not for exported models, "
        "which include it.",
    ),
    click.option("--max-length", type=click.IntRange(min=3), help="Most tokens of a name; longer ones are cut."),
)


def _loads(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument MODEL and the options of :meth:`Encoder.load`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("model")(command)


@click.group(cls=Commands)
def encoder() -> None:
    """Describe, run, average and export models that make vectors of names.

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
    help="Vocabulary to check int8; the Human Phenotype Ontology if not given.",
)
@click.option(
    "--pooling",
    type=click.Choice(get_args(Pooling)),
    help="Pooling of token vectors, instead of the setting of the model's folder.",
)
@click.option("--max-length", type=click.IntRange(min=3), help="Most tokens of a name; longer ones are cut.")
def export(
    model: str,
    output: Path,
    precision: Literal["fp32", "int8"],
    vocab: Path | None,
    pooling: Pooling | None,
    max_length: int | None,
) -> None:
    """Export a model to ONNX Runtime, which needs no torch.

    int8 is refused if its recall@1 (concepts of a vocabulary found by their synonyms) is more than half a
    percentage point below that of fp32.

    \b
    nymlink encoder export my-encoder -o my-encoder-int8 --precision int8 --vocab mondo
    """
    from nymlink.encode.onnx_export import export as write

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
    help="Weight of a model: one for each, in their order; equal if not given.",
)
def average(models: tuple[str, ...], output: Path, weights: tuple[float, ...]) -> None:
    """Average the weights of related models.

    Do this after training on a small corpus: the mean of the encoder and its start keeps more of what the start
    knew than the encoder alone. All models must come from the same start.

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
    """Describe a model and how it would be run.

    \b
    nymlink encoder info nymlink-mini
    """
    loaded = Encoder.load(model, **options)
    click.echo(f"width        {loaded.width}")
    for name, value in loaded.settings.to_dict().items():
        click.echo(f"{name:12} {value}")
    click.echo(f"precision    {loaded.network.precision} on {loaded.network.device}")
    click.echo(f"fingerprint  {loaded.fingerprint}")
    for name, value in export_notes(installed(model) or Path(model)).items():
        click.echo(f"export       {name}: {value}")


@encoder.command()
@_loads
@click.option("--file", type=click.Path(path_type=Path), help="Names to encode, one per line.")
@click.option("--vocab", type=click.Path(path_type=Path), help="Encode all names of this vocabulary, with ids.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File to write: .npy; .parquet or .arrow, with the columns id, name and vector.",
)
@click.option("--batch-tokens", type=click.IntRange(min=1), help="Tokens per batch; fewer if memory is short.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder for vectors of names, used by later runs; a stopped run continues there.",
)
def encode(
    model: str, file: Path | None, vocab: Path | None, output: Path, cache: Path | None, **options: Any
) -> None:
    """Encode names: write a vector (float32) of length 1 for each line, or for each name of a vocabulary.

    The vector of a blank or rejected line is zeros. The id of a line is its number, that of a name its concept.
    Beside NAME.npy, the ids and names of a vocabulary are in NAME.tsv.

    \b
    nymlink encoder encode nymlink-mini --file names.txt -o vectors.npy
    nymlink encoder encode nymlink-mini --vocab mondo -o names.parquet
    """
    if (file is None) == (vocab is None):
        raise click.UsageError("give names, as --file or --vocab")
    beside = output.with_suffix(".tsv") if vocab is not None and output.suffix == ".npy" else None
    require_files([output, beside], [file, vocab])
    if output.suffix not in (".npy", ".parquet", ".arrow"):
        raise click.UsageError("vectors are written as .npy, .parquet or .arrow: name such an --output")
    loaded = Encoder.load(model, **options)
    problems = reported_problems()
    names: list[str] = []
    ids: list[str] = []
    if vocab is not None:
        for name in open_vocabulary(vocab, problems=problems).searched_names():
            ids.append(name.concept_id)
            names.append(name.text)
    for number, line in () if file is None else read_lines(file, problems):
        # A rejected line is a blank one here, so that rows and lines stay in step.
        names.extend([""] * (number - 1 - len(names)))
        names.append(line)
    if file is not None and problems.last is not None:
        names.extend([""] * ((problems.last.line or 0) - len(names)))
    ids = ids or [str(number) for number in range(1, len(names) + 1)]
    vectors = loaded.encode(names, progress=True, cache=None if cache is None else EmbeddingCache(cache))
    with atomic_file(output) as partial, open(partial, "wb") as stream:
        _write(stream, output.suffix, ids, names, vectors)
    if beside is not None:
        write_table(["id", "name"], zip(ids, names, strict=True), beside)
    click.echo(f"{len(vectors):,} vectors of width {loaded.width} → {output}")
    finish(problems)


def _write(stream: BinaryIO, ending: str, ids: list[str], names: list[str], vectors: Vectors) -> None:
    if ending == ".npy":
        np.save(stream, vectors, allow_pickle=False)
        return
    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    table = pa.table({"id": ids, "name": names, "vector": values})
    if ending == ".parquet":
        pq.write_table(table, stream)
    else:
        with pa.ipc.new_file(stream, table.schema) as written:
            written.write_table(table)


@encoder.command()
@_loads
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def compare(model: str, names: tuple[str, ...], **options: Any) -> None:
    """Compare names: print the cosine of each two, the most similar first.

    \b
    nymlink encoder compare nymlink-mini "heart attack" "myocardial infarction" "heart failure"
    """
    if len(names) < 2:
        raise click.UsageError("give two names or more")
    vectors = Encoder.load(model, **options).encode(names)
    pairs = [(float(vectors[a] @ vectors[b]), names[a], names[b]) for a, b in combinations(range(len(names)), 2)]
    for cosine, first, second in sorted(pairs, key=lambda pair: -pair[0]):
        click.echo(f"{cosine:.4f}\t{first}\t{second}")
