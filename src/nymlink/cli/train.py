"""Commands that train: settings that differ from run to run are options, all others are in a recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.cli.lazy import Commands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.cli.rank import rank
from nymlink.core.errors import MissingExtraError
from nymlink.core.terminal import tell
from nymlink.core.toml_settings import Setting, make_settings, settings_of
from nymlink.train.settings.recipes import SETTINGS, read_recipe, read_stages, recipes, written_out

RUN_SETTINGS: Final = frozenset(
    "vocab pairs translations languages corpora types index base output epochs max_steps seed batch_pairs "
    "batch_queries batch_groups batch_mentions device evaluation best".split()
)
"""Settings with an option: those that differ from run to run."""

_HOMES: Final = {
    "sap": "nymlink.train.names.pair_trainings",
    "translation": "nymlink.train.names.pair_trainings",
    "finetune": "nymlink.train.names.pair_trainings",
    "biosyn": "nymlink.train.names.train_biosyn",
    "rerank": "nymlink.train.mentions.train_rerankers",
    "cross-encoder": "nymlink.train.mentions.train_rerankers",
}
"""Modules of the trainings; they need torch and are imported at a run."""

_NEEDED: Final = ("torch", "transformers", "tokenizers", "safetensors")


@click.group(cls=Commands)
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

    Settings without an option are in recipes: those of papers (nymlink train recipes), or your own files. For
    several stages: nymlink train stages --help

    The same command continues an interrupted training.
    """


train.add_command(rank)

_RECIPE = click.option(
    "--recipe",
    metavar="RECIPE",
    help="Settings of the training: the name of a recipe (`nymlink train recipes`), a TOML file, or the "
    "folder of a training, to repeat it. Options override it.",
)
_RESTART = click.option("--restart", is_flag=True, help="Replace a training in the output folder.")


def _option(setting: Setting) -> Callable[[Any], Any]:
    """Make the option of a setting; its value is ``None`` or empty if it is not given."""
    parts = get_args(setting.type)
    kind = next(part for part in parts if part is not NoneType) if NoneType in parts else setting.type
    shape: dict[str, Any] = {"type": kind}
    if get_origin(kind) is tuple:
        shape = {"multiple": True}
    elif get_origin(kind) is dict:
        shape = {"multiple": True, "nargs": 3, "metavar": "NAME CORPUS DICTIONARY"}
    elif get_origin(kind) is Literal:
        shape = {"type": click.Choice(get_args(kind))}
    names = [setting.flag or "--" + setting.name.replace("_", "-"), *(["-o"] if setting.name == "output" else [])]
    known = type(setting.default) in (int, str)
    default = f"  [default: {setting.default}, or the recipe's]" if known else ""
    repeatable = " Repeatable." if "multiple" in shape else ""
    help = f"{setting.help[0].upper()}{setting.help[1:]}.{repeatable}{default}"
    return click.option(*names, setting.name, default=None, help=help, **shape)


def _training(name: str, help: str) -> None:
    cls = SETTINGS[name]

    def run(recipe: str | None, restart: bool, **flags: Any) -> None:
        values, path = ({}, None) if recipe is None else read_recipe(recipe, name)
        settings = make_settings(cls, values | _given(flags), path=path)
        with _trained(_HOMES[name], f"train_{name.replace('-', '_')}", settings, restart=restart) as result:
            if result:
                _report(result, settings.output)
                _advise(result, settings)

    command: Any = _RECIPE(_RESTART(run))
    for setting in reversed(list(settings_of(cls))):
        if setting.name in RUN_SETTINGS:
            command = _option(setting)(command)
    train.add_command(click.command(name, cls=GroupedCommand, help=cleandoc(help))(command))


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings given as options into the form of a TOML file."""
    values = {name: value for name, value in flags.items() if value not in (None, ())}
    if "evaluation" in values:
        names = [name for name, _, _ in values["evaluation"]]
        if twice := [name for name in names if names.count(name) > 1]:
            raise click.BadParameter(f"--evaluate was given twice for {twice[0]!r}")
        values["evaluation"] = {
            name: {"corpus": corpus, "dictionary": dictionary} for name, corpus, dictionary in values["evaluation"]
        }
    return values


@contextmanager
def _trained(module: str, function: str, settings: Any, *, restart: bool) -> Iterator[Mapping[str, Any]]:
    """Train, yield the result to be reported, and end with the status that broken input or a stop asks for."""
    train_function = getattr(_imported(module), function)
    _imported("nymlink.train.engine.run_folder").require_run_folder(Path(settings.output))
    problems = reported_problems()
    try:
        result = train_function(settings, restart=restart, progress=True, problems=problems)
    except _imported("nymlink.train.engine.loop").StoppedError as stopped:
        tell(stopped.message, level="notice")
        click.get_current_context().exit(130)
    yield result
    finish(problems)


def _report(result: Mapping[str, Any], output: str) -> None:
    click.echo(f"{result['steps']:,} steps, weights of step {result['weights_of_step']:,} → {output}")
    for name, figures in (result["figures"] or {}).items():
        click.echo(f"{name}  " + "  ".join(f"{figure} {value:.2%}" for figure, value in figures.items()))


def _advise(result: Mapping[str, Any], settings: Any) -> None:
    """Print the commands for the next steps."""
    if "fusion" in result:
        weights = " ".join(f"--weight {name}={weight:.3g}" for name, weight in result["fusion"].items())
        click.echo(f"sparse weight {result['sparse_weight']:.3g}; in an index:")
        click.echo(f"  nymlink index build VOCAB -o INDEX --sparse biosyn --encoder {settings.output}")
        click.echo(f"  nymlink index set INDEX {weights}")
    if hasattr(settings, "index"):
        click.echo("fit the weight of the index beside the context, with development mentions:")
        click.echo(f"  nymlink rerank fit {settings.output} CORPUS --index {settings.index}")


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise MissingExtraError("train", purpose="training") from error


_training(
    "sap",
    """Train an encoder on the synonyms of a vocabulary (SapBERT).

    The folder written is an encoder. In it, recipe.toml repeats the training, run.json lists its data and
    versions, and metrics.jsonl has losses and figures step by step.

    \b
    nymlink train sap --vocab mondo --base all-MiniLM-L6-v2 -o encoder
    nymlink train sap --recipe sapbert --vocab umls --language en --base PubMedBERT -o sapbert \\
        --evaluate ncbi processed_dev dev_dictionary.txt --best ncbi
    torchrun --nproc-per-node 4 --no-python nymlink train sap --recipe mine.toml --batch-pairs 2048
    nymlink train sap --recipe encoder -o again

    \b
    # mine.toml
    vocab = "mondo"
    base = "all-MiniLM-L6-v2"
    output = "encoder"
    loss = "circle"
    """,
)
_training(
    "translation",
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

    \b
    nymlink train translation --translations en-de.tsv --base encoder -o translated
    nymlink train translation --translations titles.txt --translations en-de.tsv --languages en-de \\
        --base encoder -o evaluated --evaluate ncbi processed_dev dev_dictionary.txt
    """,
)
_training(
    "finetune",
    """Fine-tune an encoder on annotated mentions.

    \b
    nymlink train finetune --corpus processed_train --vocab train_dictionary.txt --base sapbert -o tuned \\
        --evaluate dev processed_dev dev_dictionary.txt --best dev
    """,
)
_training(
    "biosyn",
    """Train an encoder and the weight of sparse search on annotated mentions (BioSyn).

    Each mention gets candidates: names that are spelt like it (TF-IDF of character 1-2-grams), and names that the
    encoder finds near at the beginning of an epoch. Encoder and weight are trained to make the synonyms of the
    mention among the candidates likeliest, all together (marginal maximum likelihood). At the end the weight is
    printed as the weights of the two searches of an index.

    Composite mentions, and mentions without a name in the dictionary, are left out. Training uses one process.

    \b
    nymlink train biosyn --corpus processed_train --vocab train_dictionary.txt --base sapbert -o biosyn \\
        --evaluate dev processed_dev dev_dictionary.txt --best dev
    """,
)
_training(
    "rerank",
    """Train a re-ranker of two encoders on mentions in their contexts (Le & Nguyen).

    One encoder reads mentions with the text around them, abbreviations written out, the other reads concepts with
    their types and names. The mentions of one concept in one document are brought nearer to it, together, than to
    the nearest wrong one of their candidates. The folder written is a re-ranker, not an encoder of names.

    Composite mentions, mentions whose id the index does not have and mentions without a text around them are left
    out and counted. Training uses one process.

    \b
    nymlink index build mesh -o mesh-index --encoder sapbert --sparse none
    nymlink train rerank --corpus CDR_TrainingSet.PubTator.txt --index mesh-index --base sapbert -o reranker \\
        --evaluate dev CDR_DevelopmentSet.PubTator.txt mesh-index --best dev
    """,
)
_training(
    "cross-encoder",
    """Train a re-ranker that reads a mention in its context together with a candidate.

    One transformer reads both at once and gives one score, so that each word of the text sees each word of the
    concept's type and names. The two encoders of `nymlink train rerank` read them apart, but compute the vector of
    a concept once; here each candidate is read anew with each mention, and so only the first 16 are. The right
    concept is trained to score above wrong candidates: the first of the index, and others drawn from those after
    them. The folder written is a cross-encoder, not an encoder of names.

    Composite mentions, mentions whose id the index does not have and mentions without a text around them are left
    out and counted. Training uses one process.

    \b
    nymlink index build mesh -o mesh-index --encoder sapbert --sparse none
    nymlink train cross-encoder --corpus CDR_TrainingSet.PubTator.txt --index mesh-index --base sapbert -o cross \\
        --evaluate dev CDR_DevelopmentSet.PubTator.txt mesh-index --best dev
    """,
)


@train.command()
@click.option("--recipe", required=True, metavar="RECIPE", help="TOML file that lists the stages.")
@click.option("-o", "--output", help="Folder to write: the last encoder, and a folder for each stage.")
@_RESTART
def stages(recipe: str, output: str | None, restart: bool) -> None:
    """Train an encoder in the stages of a recipe.

    A stage is a training: sap, translation, finetune or biosyn, with its settings (listed by `nymlink train
    recipes sap`). The first stage names the base; each later one starts from the encoder of the previous stage.
    Stages are written to folders in the output (1-sap, 2-translation), the last encoder to the output itself.

    The same command continues an interrupted training. Stages can be added at the end of a recipe. A stage that
    has begun cannot be changed: choose another output, or --restart to train all again.

    \b
    nymlink train stages --recipe examples/xl.toml
    nymlink train stages --recipe examples/xl.toml -o again

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
    with _trained("nymlink.train.names.train_stages", "train_stages", settings, restart=restart) as results:
        for name, result in results.items():
            _report(result, str(Path(settings.output) / name))
        click.echo(f"the last encoder → {settings.output}")


@train.command("recipes")
@click.argument("name", required=False)
def list_recipes(name: str | None) -> None:
    """List the recipes, or write one out.

    With the NAME of a recipe, or of a training for its defaults, all settings are written with their meaning: a
    file to start from.

    \b
    nymlink train recipes
    nymlink train recipes sap > mine.toml
    """
    if name is None:
        for each, line in recipes().items():
            click.echo(f"{each:<24} {line}")
    else:
        click.echo(written_out(name), nl=False)


@train.command()
def losses() -> None:
    """List the losses of sap, translation and finetune with their settings and defaults.

    A recipe names one: loss = "circle", and its settings: loss_settings = {m = 0.25}.

    \b
    nymlink train losses
    """
    for name, loss in _imported("nymlink.train.losses").LOSSES:
        settings = ", ".join(f"{key} = {value}" for key, value in loss().to_dict().items())
        click.echo(f"{name:<18} {settings}")
