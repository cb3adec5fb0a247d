"""Commands that train, with an option for each setting."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.cli.rank import rank
from nymlink.core.errors import MissingExtraError
from nymlink.train.settings.encoder_recipes import (
    BioSynSettings,
    FinetuneSettings,
    SapSettings,
    TranslationSettings,
    read_stages,
)
from nymlink.train.settings.fields import Setting, make_settings, read_toml, settings_of
from nymlink.train.settings.reranker_recipes import CrossEncoderSettings, RerankSettings


def _flag(setting: Setting) -> str:
    return setting.flag or "--" + setting.name.replace("_", "-")


def _option(setting: Setting) -> Callable[[Any], Any]:
    """Make the option of a setting; its value is ``None``, or empty, where it is not given."""
    parts = get_args(setting.type)
    kind = next(part for part in parts if part is not NoneType) if NoneType in parts else setting.type
    origin = get_origin(kind)
    shape: dict[str, Any]
    if origin is tuple:
        shape = {"multiple": True}
    elif origin is dict and get_args(kind)[1] is Any:
        shape = {"multiple": True, "metavar": "NAME=VALUE"}
    elif origin is dict:
        shape = {"multiple": True, "nargs": 3, "metavar": "NAME CORPUS DICTIONARY"}
    elif origin is Literal:
        shape = {"type": click.Choice(get_args(kind))}
    else:
        shape = {"type": kind}
    names = [f"{_flag(setting)}/--no-{setting.name.replace('_', '-')}"] if kind is bool else [_flag(setting)]
    if setting.name == "output":
        names.append("-o")
    return click.option(
        *names, setting.name, default=None, help=_help(setting, repeatable="multiple" in shape), **shape
    )


def _help(setting: Setting, *, repeatable: bool) -> str:
    """Write the help of a setting: its meaning, its name in a file, its default, and the value of the paper."""
    details = []
    if setting.flag is not None:
        details.append(f"in CONFIG: {setting.name}")
    elif setting.type is bool:
        details.append(f"in CONFIG: {setting.name} = true or false")
    if setting.default is not MISSING and setting.default not in (None, (), {}):
        is_switch = setting.type is bool
        details.append(f"default: {('off', 'on')[setting.default] if is_switch else setting.default}")
    if setting.paper is not None:
        details.append(f"paper: {setting.paper}")
    meaning = f"{setting.help[0].upper()}{setting.help[1:]}."
    return f"{meaning}{' Repeatable.' if repeatable else ''}" + (f"  [{'; '.join(details)}]" if details else "")


def settings_options(cls: type[Any]) -> Callable[[Any], Any]:
    """Add an option for each setting of a class, in their order."""

    def decorate(command: Any) -> Any:
        for setting in reversed(list(settings_of(cls))):
            command = _option(setting)(command)
        return command

    return decorate


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings given as options into the form of a TOML file.

    Raises:
        click.BadParameter: a setting of a loss is not of the form NAME=VALUE, or a name was given twice.
    """
    values = {name: value for name, value in flags.items() if value not in (None, ())}
    if "evaluation" in values:
        _require_once("--evaluate", [label for label, _, _ in values["evaluation"]])
        values["evaluation"] = {
            label: {"corpus": corpus, "dictionary": dictionary}
            for label, corpus, dictionary in values["evaluation"]
        }
    if "loss_settings" in values:
        settings = list(map(_loss_setting, values["loss_settings"]))
        _require_once("--loss-setting", [name for name, _ in settings])
        values["loss_settings"] = dict(settings)
    return values


def _require_once(flag: str, names: Sequence[str]) -> None:
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise click.BadParameter(f"{flag} was given twice for {twice[0]!r}")


def _loss_setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE, for example gamma=80")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


_HOMES: Final = {
    "sap": "nymlink.train.names.pair_trainings",
    "translation": "nymlink.train.names.pair_trainings",
    "finetune": "nymlink.train.names.pair_trainings",
    "biosyn": "nymlink.train.names.train_biosyn",
    "rerank": "nymlink.train.mentions.train_rerankers",
    "cross_encoder": "nymlink.train.mentions.train_rerankers",
}
"""Modules of the trainings, which need torch: imported when they are run."""

_NEEDED: Final = ("torch", "transformers", "tokenizers", "safetensors")


@click.group()
def train() -> None:
    """Train encoders of names, rankers of candidates, and re-rankers by context.

    \b
    Learn the synonyms of a vocabulary, then a task, then use the encoder:
      nymlink train sap --vocab mondo --base all-MiniLM-L6-v2 -o encoder
      nymlink train translation --translations en-de.tsv --base encoder -o translated
      nymlink train finetune --corpus train.PubTator.txt --vocab mondo --base encoder -o tuned
      nymlink train biosyn --corpus train.PubTator.txt --vocab mondo --base encoder -o biosyn
      nymlink train rank mondo-index --corpus train.PubTator.txt
      nymlink train rerank --corpus train.PubTator.txt --index mondo-index --base encoder -o reranker
      nymlink train cross-encoder --corpus train.PubTator.txt --index mondo-index --base encoder -o cross

    Or stages one after the other, by one file: nymlink train recipe --help

    A training that was interrupted goes on when the same command is given again.
    """


train.add_command(rank)


def _run(cls: type[Any], recipe: str, config: Path | None, restart: bool, flags: Mapping[str, Any]) -> None:
    values = ({} if config is None else read_toml(config)) | given(flags)
    settings = make_settings(cls, values, path=config)
    with _trained(_HOMES[recipe], f"train_{recipe}", settings, restart=restart) as result:
        if result:
            _report(result, settings.output)
        if "fusion" in result:
            weights = " ".join(f"--weight {name}={weight:.3g}" for name, weight in result["fusion"].items())
            click.echo(f"sparse weight {result['sparse_weight']:.3g}; in an index:")
            click.echo(f"  nymlink index build VOCAB -o INDEX --sparse biosyn --encoder {settings.output}")
            click.echo(f"  nymlink index fuse INDEX {weights}")
        if result and cls in (RerankSettings, CrossEncoderSettings):
            click.echo("fit the weight of the index beside the context, with development mentions:")
            click.echo(f"  nymlink rerank fit {settings.output} CORPUS --index {settings.index}")


@contextmanager
def _trained(module: str, function: str, settings: Any, *, restart: bool) -> Iterator[Mapping[str, Any]]:
    """Train, yield the result to be reported, and end with the status that broken input or a stop asks for."""
    train_function = getattr(_imported(module), function)
    _imported("nymlink.train.engine.run_folder").require_run_folder(Path(settings.output))
    problems = reported_problems()
    try:
        result = train_function(settings, restart=restart, progress=True, problems=problems)
    except _imported("nymlink.train.engine.loop").StoppedError as stopped:
        click.echo(stopped.message, err=True)
        click.get_current_context().exit(130)
    yield result
    finish(problems)


def _report(result: Mapping[str, Any], output: str) -> None:
    click.echo(f"{result['steps']:,} steps, weights of step {result['weights_of_step']:,} → {output}")
    for name, figures in (result["figures"] or {}).items():
        click.echo(f"{name}  " + "  ".join(f"{figure} {value:.2%}" for figure, value in figures.items()))


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
    """Train an encoder on the synonyms of a vocabulary (SapBERT).

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

    The folder written is an encoder. In it, config.toml repeats the training, run.json lists its data and
    versions, and metrics.jsonl has losses and figures step by step.

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
@settings_options(TranslationSettings)
@_RESTART
def translation(config: Path | None, restart: bool, **flags: Any) -> None:
    """Train an encoder on words and their translations (Liu et al., XL-BEL).

    The stage after `nymlink train sap`, for languages in which the vocabulary has few names or none. A word and
    its translation are learned as two names of a concept are, in both directions. Words that are translations of
    each other, directly or through others in a batch, are not pushed apart.

    A file has a word and its translation in each line, and is plain or gzip-compressed text in UTF-8:

    \b
    heart coeur          MUSE: two words, a space or a tab
    heart<TAB>coeur      TSV; CSV with , or ; and quotes, with a header or without
    Heart ||| Coeur      parallel titles

    Words are lower-cased; pairs that repeat are learned once, and rows with the same word on both sides, half of
    MUSE, are left out. Which languages the columns have is told with --languages, or by the name of the file
    (en-tr.txt): a file whose columns look exchanged is refused.

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

    \b
    nymlink train translation --translations en-de.tsv --base encoder -o translated
    nymlink train translation --translations titles.txt --translations en-de.tsv --languages en-de \\
        --base encoder -o evaluated --evaluate ncbi processed_dev dev_dictionary.txt
    """
    _run(TranslationSettings, "translation", config, restart, flags)


@train.command()
@_CONFIG
@settings_options(FinetuneSettings)
@_RESTART
def finetune(config: Path | None, restart: bool, **flags: Any) -> None:
    """Fine-tune an encoder on annotated mentions.

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

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
    """Train an encoder and the weight of sparse search on annotated mentions (BioSyn).

    Each mention gets candidates: names that are spelt like it (TF-IDF of character 1-2-grams), and names that the
    encoder finds near at the beginning of an epoch. Encoder and weight are trained to make the synonyms of the
    mention among the candidates likeliest, all together (marginal maximum likelihood). At the end the weight is
    printed as the weights of the two searches of an index.

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, and mentions without a name in the dictionary, are left out. Training uses one process.

    \b
    nymlink train biosyn --corpus processed_train --vocab train_dictionary.txt --base sapbert -o biosyn \\
        --evaluate dev processed_dev dev_dictionary.txt --best dev
    """
    _run(BioSynSettings, "biosyn", config, restart, flags)


@train.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("-o", "--output", help="Folder to write: the last encoder, and a folder for each stage.")
@_RESTART
def recipe(recipe: Path, output: str | None, restart: bool) -> None:
    """Train an encoder in stages, which a TOML file lists.

    A stage is a training: sap, translation, finetune or biosyn, with the settings that `nymlink train sap --help`
    and so on list. The first names the base; each other one begins with the encoder of the stage before. Stages
    are written to folders in the output (1-sap, 2-translation), the last encoder to the output itself.

    The same command goes on where a training was interrupted. Stages can be added to a finished recipe; one that
    is trained, or begun, cannot be changed: choose another output, or --restart to train all anew.

    \b
    nymlink train recipe examples/xl.toml
    nymlink train recipe examples/xl.toml -o again

    \b
    # examples/xl.toml
    output = "xl"
    [[stage]]
    train = "sap"
    base = "xlm-roberta-base"
    vocab = "examples/diseases.obo"
    [[stage]]
    train = "translation"
    translations = ["examples/en-de.tsv"]
    """
    settings = read_stages(recipe, output=output)
    with _trained("nymlink.train.names.train_recipe", "train_recipe", settings, restart=restart) as results:
        for name, result in results.items():
            _report(result, str(Path(settings.output) / name))
        click.echo(f"the last encoder → {settings.output}")


@train.command()
@_CONFIG
@settings_options(RerankSettings)
@_RESTART
def rerank(config: Path | None, restart: bool, **flags: Any) -> None:
    """Train a re-ranker of two encoders on mentions in their contexts (Le & Nguyen).

    One encoder reads mentions with the text around them, abbreviations written out, the other reads concepts with
    their types and names. The mentions of one concept in one document are brought nearer to it, together, than to
    the nearest wrong one of their candidates. The folder written is a re-ranker, not an encoder of names.

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, mentions whose id the index does not have and mentions without a text around them are left
    out and counted. Training uses one process.

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
    """Train a re-ranker that reads a mention in its context together with a candidate.

    One transformer reads both at once and gives one score, so that each word of the text sees each word of the
    concept's type and names. The two encoders of `nymlink train rerank` read them apart, but compute the vector of
    a concept once; here each candidate is read anew with each mention, and so only the first 16 are. The right
    concept is trained to score above wrong candidates: the first of the index, and others drawn from those after
    them. The folder written is a cross-encoder, not an encoder of names.

    Settings come from CONFIG, a TOML file, and from options, which override it. In the file a setting has the name
    that the help of its option gives, or else that of the option with underscores for hyphens.

    Composite mentions, mentions whose id the index does not have and mentions without a text around them are left
    out and counted. Training uses one process.

    \b
    nymlink index build mesh -o mesh-index --encoder sapbert --sparse none
    nymlink train cross-encoder --corpus CDR_TrainingSet.PubTator.txt --index mesh-index --base sapbert -o cross \\
        --evaluate dev CDR_DevelopmentSet.PubTator.txt mesh-index --best dev
    """
    _run(CrossEncoderSettings, "cross_encoder", config, restart, flags)


@train.command()
def losses() -> None:
    """List the losses of sap, translation and finetune with their settings and defaults.

    \b
    nymlink train losses
    """
    for name, loss in _imported("nymlink.train.losses").LOSSES:
        settings = ", ".join(f"{key} = {value}" for key, value in loss().to_dict().items())
        click.echo(f"{name:<18} {settings}")
