"""How an encoder makes one vector of a name, and the files of a model folder that say so."""

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
    """What is done before and after the network.

    Attributes:
        pooling: which vector stands for the name: the last layer's at the first token (``"cls"``, as SapBERT; not
            the pooler's), or the mean of the last layer's over the real tokens (``"mean"``).
        max_length: tokens of a name, special ones included; longer names are cut.
        lowercase: lower-case names before tokenising, whatever the tokenizer itself does.
    """

    pooling: Pooling = "cls"
    max_length: int = _SAPBERT_LENGTH
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise InputError(f"unknown pooling {self.pooling!r}; known: {', '.join(get_args(Pooling))}")
        if self.max_length < 3:
            raise InputError(f"max_length {self.max_length} leaves no room for a name: it must be at least 3")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(
        cls, folder: Path, *, pooling: Pooling | None = None, max_length: int | None = None
    ) -> EncoderSettings:
        """The settings of a model folder: what its sentence-transformers files say.

        A folder without such files is a base model, to be used as SapBERT uses one: ``cls``, 25 tokens.

        Args:
            folder: a model folder, in the layout of any release of sentence-transformers, or without its files.
            pooling: overrides what the folder says.
            max_length: overrides what the folder says.

        Raises:
            InputError: a file is damaged or asks for what we do not do (other modules, other poolings), or
                ``max_length`` is more than the model takes.
        """
        said = _sentence_transformer(folder) if (folder / _MODULES).is_file() else {"max_length": _SAPBERT_LENGTH}
        longest = ModelConfig.read(folder).longest
        if max_length is None:
            max_length = min(length for length in (said["max_length"], longest, 512) if length)
        elif longest is not None and max_length > longest:
            raise InputError(f"max_length {max_length} is more than the model takes: {longest}", path=folder)
        return cls(**said | {"max_length": max_length} | ({"pooling": pooling} if pooling else {}))

    def write(self, folder: Path, *, width: int) -> None:
        """Write the files from which sentence-transformers makes the same vectors: pooled, then of unit length.

        They are in the layout of its releases 2 to 5, which later ones read too.

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


def _sentence_transformer(folder: Path) -> dict[str, Any]:
    """The settings as sentence-transformers keeps them; ``max_length`` is ``None`` where it leaves that open."""
    path = folder / _MODULES
    modules = [one for one in read_json(path, list) if isinstance(one, dict)]
    for one in modules:
        if not str(one.get("type")).startswith(_OWN_MODULES):
            refuse_code(one.get("type"), path)
        require_inside(one.get("path", ""), path)
    places = {str(one.get("type")).rpartition(".")[2]: folder / str(one.get("path", "")) for one in modules}
    if not _NEEDED <= places.keys() <= _NEEDED | _HARMLESS:
        raise InputError(f"only a transformer and a pooling make an encoder, not {', '.join(places)}", path=path)
    if places["Transformer"] != folder:
        raise InputError(
            f"the transformer is in {places['Transformer'].name}/: only its own folder will do", path=path
        )
    transformer = read_json(folder / _TRANSFORMER, dict) if (folder / _TRANSFORMER).is_file() else {}
    tokenizer = read_json(folder / _TOKENIZER, dict) if (folder / _TOKENIZER).is_file() else {}
    return {
        "pooling": _pooling(places["Pooling"] / "config.json"),
        # Releases from 6 on leave the length to the tokenizer.
        "max_length": transformer.get("max_seq_length") or tokenizer.get("model_max_length"),
        "lowercase": bool(transformer.get("do_lower_case")),
    }


def _pooling(path: Path) -> Pooling:
    config = read_json(path, dict)
    modes = config.get("pooling_mode") or [mode for key, mode in _OLD_POOLINGS.items() if config.get(key)]
    modes = [modes] if isinstance(modes, str) else modes
    if modes not in (["cls"], ["mean"]):
        raise InputError(f"pooling {'+'.join(map(str, modes))} is not supported, only cls or mean", path=path)
    return "cls" if modes == ["cls"] else "mean"


def write_json(path: Path, value: Any) -> None:
    """Write an indented JSON file."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
