"""`nymlink train`: train encoders."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.cli.setting_options import given, settings_options
from nymlink.core.errors import MissingExtraError
from nymlink.train.settings.fields import make
from nymlink.train.settings.recipes import (
    BioSynSettings,
    CrossEncoderSettings,
    FinetuneSettings,
    RerankSettings,
    SapSettings,
)
from nymlink.train.settings.toml_files import read_toml

_NEEDED: Final = ("torch", "transformers", "tokenizers", "safetensors")


@click.group()
def train() -> None:
    """Train encoders of names, and of mentions in their contexts.

    \b
    Learn the synonyms of a vocabulary, then a task, then use the encoder:
      nymlink train sap --vocab mondo --base all-MiniLM-L6-v2 -o encoder
      nymlink train finetune --corpus train.PubTator.txt --vocab mondo --base encoder -o tuned
      nymlink train biosyn --corpus train.PubTator.txt --vocab mondo --base encoder -o biosyn
      nymlink train rerank --corpus train.PubTator.txt --index mondo-index --base encoder -o reranker
      nymlink train cross-encoder --corpus train.PubTator.txt --index mondo-index --base encoder -o cross

    A training that was interrupted goes on when the same command is given again.
    """


def _run(cls: type[Any], recipe: str, config: Path | None, restart: bool, flags: Mapping[str, Any]) -> None:
    values = ({} if config is None else read_toml(config)) | given(flags)
    settings = make(cls, values, path=config)
    taught = "mentions" if cls in (RerankSettings, CrossEncoderSettings) else "names"
    module = _imported(f"nymlink.train.{taught}.{recipe}")
    _imported("nymlink.train.engine.run_folder").require_run_folder(Path(settings.output))
    problems = reported_problems()
    try:
        result = getattr(module, f"train_{recipe}")(settings, restart=restart, progress=True, problems=problems)
    except _imported("nymlink.train.engine.loop").StoppedError as stopped:
        click.echo(stopped.message, err=True)
        click.get_current_context().exit(130)
    if result:
        click.echo(f"{result['steps']:,} steps, weights of step {result['weights_of_step']:,} → {settings.output}")
        for name, figures in (result["figures"] or {}).items():
            click.echo(f"{name}  " + "  ".join(f"{figure} {value:.2%}" for figure, value in figures.items()))
        if "fusion" in result:
            weights = " ".join(f"--weight {name}={weight:.3g}" for name, weight in result["fusion"].items())
            click.echo(f"sparse weight {result['sparse_weight']:.3g}; in an index:")
            click.echo(f"  nymlink index build VOCAB -o INDEX --sparse biosyn --encoder {settings.output}")
            click.echo(f"  nymlink index fuse INDEX {weights}")
        if cls in (RerankSettings, CrossEncoderSettings):
            click.echo("beside the context, what the index says should count; with development mentions:")
            click.echo(f"  nymlink rerank fit {settings.output} CORPUS --index {settings.index}")
    finish(problems)


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise MissingExtraError("train", purpose="training") from error


_CONFIG = click.argument("config", required=False, type=click.Path(path_type=Path))
_RESTART = click.option("--restart", is_flag=True, help="Replace a training in the output folder.")


@train.command()
@_CONFIG
@settings_options(SapSettings)
@_RESTART
def sap(config: Path | None, restart: bool, **flags: Any) -> None:
    """Learn that the synonyms of a vocabulary mean the same (SapBERT).

    Settings come from CONFIG, a TOML file, and from options, which have the last word. In the file a setting has
    the name that the help of its option gives, or else that of the option with underscores for hyphens.

    The folder written is an encoder; in it, config.toml repeats the training, run.json says what it was made of,
    and metrics.jsonl how it went.

    \b
    nymlink train sap --vocab mondo --base all-MiniLM-L6-v2 -o encoder
    nymlink train sap --vocab umls --language en --base PubMedBERT -o sapbert \\
        --evaluate ncbi processed_dev dev_dictionary.txt --best ncbi
    torchrun --nproc-per-node 4 --no-python nymlink train sap config.toml --batch-pairs 2048

    \b
    # config.toml
    vocab = "mondo"
    base = "all-MiniLM-L6-v2"
    output = "encoder"
    [evaluation.ncbi]
    corpus = "processed_dev"
    dictionary = "dev_dictionary.txt"
    """
    _run(SapSettings, "sap", config, restart, flags)


@train.command()
@_CONFIG
@settings_options(FinetuneSettings)
@_RESTART
def finetune(config: Path | None, restart: bool, **flags: Any) -> None:
    """Learn from annotated mentions what they mean.

    Settings come from CONFIG, a TOML file, and from options, which have the last word. In the file a setting has
    the name that the help of its option gives, or else that of the option with underscores for hyphens.

    \b
    nymlink train finetune --corpus processed_train --vocab train_dictionary.txt --base sapbert -o tuned \\
        --evaluate dev processed_dev dev_dictionary.txt --best dev
    """
    _run(FinetuneSettings, "finetune", config, restart, flags)


@train.command()
@_CONFIG
@settings_options(BioSynSettings)
@_RESTART
def biosyn(config: Path | None, restart: bool, **flags: Any) -> None:
    """Learn which names of a dictionary a mention means (BioSyn).

    Each mention gets candidates: names that are spelt like it (TF-IDF of character 1-2-grams), and names that the
    encoder, as it is at the beginning of an epoch, finds near. Learned are the encoder and the weight of the
    spelling beside it, so that all candidates that mean the same as the mention are together the likeliest. At the
    end the weight is said as the weights of the two searches of an index.

    Settings come from CONFIG, a TOML file, and from options, which have the last word. In the file a setting has
    the name that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, and those that no name of the dictionary is for, are left out. One process alone trains.

    \b
    nymlink train biosyn --corpus processed_train --vocab train_dictionary.txt --base sapbert -o biosyn \\
        --evaluate dev processed_dev dev_dictionary.txt --best dev
    """
    _run(BioSynSettings, "biosyn", config, restart, flags)


@train.command()
@_CONFIG
@settings_options(RerankSettings)
@_RESTART
def rerank(config: Path | None, restart: bool, **flags: Any) -> None:
    """Learn which candidate of an index a mention means in its context (Le & Nguyen).

    Two encoders are trained: one of mentions, which reads the text around them with abbreviations written out, and
    one of concepts, which reads their types and names. The mentions of one concept in one document are brought
    nearer to it, together, than to the nearest wrong one of their candidates. What is written is a re-ranker, not
    an encoder of names.

    Settings come from CONFIG, a TOML file, and from options, which have the last word. In the file a setting has
    the name that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, those whose id the index does not know and those without a text around them are left out
    and counted. One process alone trains.

    \b
    nymlink index build mesh -o mesh-index --encoder sapbert --sparse none
    nymlink train rerank --corpus CDR_TrainingSet.PubTator.txt --index mesh-index --base sapbert -o reranker \\
        --evaluate dev CDR_DevelopmentSet.PubTator.txt mesh-index --best dev
    """
    _run(RerankSettings, "rerank", config, restart, flags)


@train.command("cross-encoder")
@_CONFIG
@settings_options(CrossEncoderSettings)
@_RESTART
def cross_encoder(config: Path | None, restart: bool, **flags: Any) -> None:
    """Learn to read a mention in its context together with a candidate of an index.

    One transformer reads both at once and gives one score, so that each word of the text sees each word of the
    concept's type and names. The two encoders of `nymlink train rerank` see them apart, but compute the vector of
    a concept once; here each candidate is read anew with each mention, and so only the first 16 are. The right
    concept is to score above wrong candidates: the first of the index, and others drawn from those after them.
    What is written is a cross-encoder, not an encoder of names.

    Settings come from CONFIG, a TOML file, and from options, which have the last word. In the file a setting has
    the name that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, those whose id the index does not know and those without a text around them are left out
    and counted. One process alone trains.

    \b
    nymlink index build mesh -o mesh-index --encoder sapbert --sparse none
    nymlink train cross-encoder --corpus CDR_TrainingSet.PubTator.txt --index mesh-index --base sapbert -o cross \\
        --evaluate dev CDR_DevelopmentSet.PubTator.txt mesh-index --best dev
    """
    _run(CrossEncoderSettings, "cross_encoder", config, restart, flags)


@train.command()
def losses() -> None:
    """List the losses with their settings and defaults."""
    for name, loss in _imported("nymlink.train.losses").LOSSES:
        settings = ", ".join(f"{key} = {value}" for key, value in loss().to_dict().items())
        click.echo(f"{name:<18} {settings}")
