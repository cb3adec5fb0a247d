"""Pooling and length of an encoder, and the files of a model folder that say so."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from nymlink.core.errors import InputError
from nymlink.encode.model.config import ModelConfig, read_json
from nymlink.encode.model.trust import refuse_code, require_inside

Pooling = Literal["cls", "mean"]

_SAPBERT_LENGTH: Final = 25
_MODULES: Final = "modules.json"
_TRANSFORMER: Final = "sentence_bert_config.json"
_TOKENIZER: Final = "tokenizer_config.json"
_POOLING: Final = "1_Pooling"
_OWN_MODULES: Final = "sentence_transformers."
_NEEDED: Final = frozenset({"Transformer", "Pooling"})
_HARMLESS: Final = frozenset({"Normalize", "Dropout"})
_OLD_POOLINGS: Final = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSettings:
    """Settings of an encoder: preparation of names, and pooling of the network's output.

    Attributes:
        pooling: the vector of a name: that of its first token in the last layer (``"cls"``, as SapBERT; not the
            pooler's), or the mean over its tokens (``"mean"``).
        max_length: the most tokens of a name, special ones included; longer names are cut.
        lowercase: lower-case names before tokenising, whatever the tokenizer itself does.
    """

    pooling: Pooling = "cls"
    max_length: int = _SAPBERT_LENGTH
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise InputError(f"unknown pooling {self.pooling!r}; known: {', '.join(get_args(Pooling))}")
        if self.max_length < 3:
            raise InputError(f"max_length must be at least 3, not {self.max_length}: special tokens take two")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(
        cls, folder: Path, *, pooling: Pooling | None = None, max_length: int | None = None
    ) -> EncoderSettings:
        """Read the settings of a model folder from its sentence-transformers files.

        A folder without such files is a base model, used as SapBERT uses one: ``cls``, 25 tokens.

        Args:
            folder: a model folder, in the layout of any release of sentence-transformers, or without its files.
            pooling: overrides what the folder says.
            max_length: overrides what the folder says.

        Raises:
            InputError: a file is damaged or asks for another module or pooling, or ``max_length`` is more than the
                model takes.
        """
        own = _read_modules(folder) if (folder / _MODULES).is_file() else {"max_length": _SAPBERT_LENGTH}
        longest = ModelConfig.read(folder).longest
        if max_length is None:
            max_length = min(length for length in (own["max_length"], longest, 512) if length)
        elif longest is not None and max_length > longest:
            raise InputError(f"max_length {max_length} is more than the model takes: {longest}", path=folder)
        return cls(**own | {"max_length": max_length} | ({"pooling": pooling} if pooling else {}))

    def write(self, folder: Path, *, width: int) -> None:
        """Write the files with which sentence-transformers makes the same unit vectors.

        They have the layout of its releases 2 to 5, which later ones read too.

        Args:
            folder: a model folder.
            width: the length of a vector.
        """
        modules = [("", "Transformer"), (_POOLING, "Pooling"), ("2_Normalize", "Normalize")]
        write_json(
            folder / _MODULES,
            [
                {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
                for at, (path, kind) in enumerate(modules)
            ],
        )
        write_json(folder / _TRANSFORMER, {"max_seq_length": self.max_length, "do_lower_case": self.lowercase})
        (folder / _POOLING).mkdir(exist_ok=True)
        poolings = {key: mode == self.pooling for key, mode in _OLD_POOLINGS.items()}
        write_json(folder / _POOLING / "config.json", {"word_embedding_dimension": width, **poolings})


def _read_modules(folder: Path) -> dict[str, Any]:
    """Read the settings in the files of sentence-transformers; ``max_length`` may be ``None``."""
    path = folder / _MODULES
    modules = [module for module in read_json(path, list) if isinstance(module, dict)]
    for module in modules:
        if not str(module.get("type")).startswith(_OWN_MODULES):
            refuse_code(module.get("type"), path)
        require_inside(module.get("path", ""), path)
    folders = {str(one.get("type")).rpartition(".")[2]: folder / str(one.get("path", "")) for one in modules}
    if not _NEEDED <= folders.keys() <= _NEEDED | _HARMLESS:
        raise InputError(
            f"an encoder has the modules Transformer and Pooling alone, not {', '.join(folders)}", path=path
        )
    if folders["Transformer"] != folder:
        raise InputError(
            f"the transformer is in {folders['Transformer'].name}/: it must be in the model folder itself",
            path=path,
        )
    transformer = read_json(folder / _TRANSFORMER, dict) if (folder / _TRANSFORMER).is_file() else {}
    tokenizer = read_json(folder / _TOKENIZER, dict) if (folder / _TOKENIZER).is_file() else {}
    return {
        "pooling": _read_pooling(folders["Pooling"] / "config.json"),
        # Releases from 6 on leave the length to the tokenizer.
        "max_length": transformer.get("max_seq_length") or tokenizer.get("model_max_length"),
        "lowercase": bool(transformer.get("do_lower_case")),
    }


def _read_pooling(path: Path) -> Pooling:
    config = read_json(path, dict)
    modes = config.get("pooling_mode") or [mode for key, mode in _OLD_POOLINGS.items() if config.get(key)]
    modes = [modes] if isinstance(modes, str) else modes
    if modes not in (["cls"], ["mean"]):
        raise InputError(f"pooling {'+'.join(map(str, modes))} is not supported, only cls or mean", path=path)
    return "cls" if modes == ["cls"] else "mean"


def write_json(path: Path, value: Any) -> None:
    """Write an indented JSON file."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
