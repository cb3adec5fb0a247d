"""Training in stages, as in Liu et al. (ACL 2021). Each stage begins with the encoder of the previous stage."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.store.digests import file_digest
from nymlink.core.store.ownership import MANIFEST, RECORD, is_training
from nymlink.train.engine.distributed import SINGLE, process_count
from nymlink.train.engine.loop import StoppedError
from nymlink.train.engine.optimiser import find_device
from nymlink.train.engine.run_folder import FINISHED, RunFolder, remove_training, require_run_folder
from nymlink.train.engine.training_run import resolve_device
from nymlink.train.names.pair_trainings import train_finetune, train_sap, train_translation
from nymlink.train.names.train_biosyn import train_biosyn
from nymlink.train.settings.common import EncoderTrainingSettings
from nymlink.train.settings.encoder_trainings import Stage, StagesSettings

_TRAIN: Final[Mapping[str, Callable[..., Mapping[str, Any]]]] = {
    "sap": train_sap,
    "translation": train_translation,
    "finetune": train_finetune,
    "biosyn": train_biosyn,
}
_STAGE: Final = re.compile(rf"\d+-({'|'.join(_TRAIN)})")
_INPUTS: Final = ("vocab", "pairs", "translations", "corpora")


def train_stages(
    settings: StagesSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder in stages, or resume the unfinished stage.

    Each stage has a folder in the output folder. The encoder of the last stage is copied to the output folder. A
    user can add stages to a finished recipe, and can change a stage before it begins.

    Returns:
        Name of a stage → its result, in order.

    Raises:
        InputError: an input of a stage is missing or unusable; a stage in the output folder differs from the
            recipe, or is not in the recipe; several processes were started.
        OutputError, StoreError, StoppedError, NymlinkError: as in
            :func:`~nymlink.train.names.encoder_training.train_encoder`.
    """
    if process_count() > 1:
        raise InputError("stages are trained by one process: with torchrun, train one stage after the other")
    stages = settings.stages()
    output = Path(settings.output)
    require_run_folder(output)
    for stage in stages:
        _require_inputs(stage.settings)
    folder = RunFolder("stages", settings, {})
    device = find_device(stages[0].settings.device)
    with folder.locked():
        if restart:
            for path in _stage_folders(output):
                remove_training(path)
        _require_same_stages(stages, output)
        finished = folder.open(SINGLE, device, restart=restart) == FINISHED
        results = {stage.name: _train(stage, progress=progress, problems=problems) for stage in stages}
        last = Path(stages[-1].settings.output)
        result = {"stages": results, "encoder": file_digest(last / MANIFEST)}
        if finished and folder.result != result:
            # Stages were added: write a new record.
            folder = RunFolder("stages", settings, {})
            folder.open(SINGLE, device, restart=True)
            finished = False
        if not finished:
            folder.finish(lambda target: _copy_encoder(last, target), result)
    return results


def _train(stage: Stage, *, progress: bool, problems: Problems | None) -> Mapping[str, Any]:
    try:
        return _TRAIN[stage.training](stage.settings, progress=progress, problems=problems)
    except StoppedError as stopped:
        raise StoppedError(f"{stage.name}: {stopped.message}") from None


def _stage_folders(output: Path) -> Iterator[Path]:
    """List the folders of stages in the output folder, whatever recipe they belong to."""
    if output.is_dir():
        for path in sorted(output.iterdir()):
            if _STAGE.fullmatch(path.name) and is_training(path):
                yield path


def _require_same_stages(stages: list[Stage], output: Path) -> None:
    """Raise ``InputError`` if a stage in the output has other settings, or is not in the recipe."""
    named = {stage.name: stage for stage in stages}
    for path in _stage_folders(output):
        if path.name not in named:
            raise InputError(
                f"a stage that the recipe does not have ({', '.join(named)}). Choose another output, or restart "
                "to train all stages anew",
                path=path,
            )
        stage = named[path.name]
        RunFolder(stage.training, resolve_device(stage.settings), {}).require_same()


def _require_inputs(settings: EncoderTrainingSettings) -> None:
    """Raise ``InputError`` for a missing input file, before the earlier stages are trained."""
    for name in _INPUTS:
        given = getattr(settings, name, None) or ()
        for path in (given,) if isinstance(given, str) else given:
            if not Path(path).exists():
                raise InputError("no such file or directory", path=path)


def _copy_encoder(stage: Path, target: Path) -> None:
    for name in json.loads((stage / RECORD).read_text(encoding="utf-8"))["encoder"]:
        source = stage / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target / name)
