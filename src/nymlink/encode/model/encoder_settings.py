"""Settings of an encoder, and checks of its files for harmful requests.

The library transformers does what these files ask for. It runs Python files that ``auto_map`` names, and loads or
fetches another model that adapters of peft or a ``backbone`` name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final, Literal, get_args

from nymlink.core.errors import InputError
from nymlink.core.store.foreign_folders import leads_outside, read_json_file

_NAME: Final = "config.json"
_COUNTED_FROM_PADDING: Final = frozenset(
    {"camembert", "data2vec-text", "ibert", "longformer", "mpnet", "roberta", "roberta-prelayernorm"}
    | {"xlm-roberta", "xlm-roberta-xl", "xmod"}
)
"""Model types whose position numbers start at the padding id + 1. They take fewer tokens than configured."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes of a model.

    Attributes:
        vocabulary_size: number of token ids.
        pad_id: the token id for padding.
        longest: most tokens of a name, special tokens included; ``None`` for no limit.
        width: length of a vector of its last layer; ``None`` if the file does not give it.
    """

    vocabulary_size: int
    pad_id: int
    longest: int | None
    width: int | None

    @classmethod
    def read(cls, folder: Path) -> ModelConfig:
        """Read a model folder's configuration.

        Raises:
            InputError: the file is missing or damaged, or has no vocabulary size.
        """
        config = read_json(folder / _NAME, dict)
        try:
            vocabulary_size, pad_id = int(config["vocab_size"]), int(config.get("pad_token_id") or 0)
            longest = int(config.get("max_position_embeddings") or 0)
            # DistilBERT calls the width "dim".
            width = int(config.get("vector_size") or config.get("hidden_size") or config.get("dim") or 0)
            if not 0 <= pad_id < vocabulary_size:
                raise ValueError(f"pad_token_id {pad_id} is none of {vocabulary_size} tokens")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"not the configuration of an encoder ({error!r})", path=folder / _NAME) from error
        if str(config.get("model_type")) in _COUNTED_FROM_PADDING:
            longest -= pad_id + 1
        return cls(vocabulary_size, pad_id, longest if longest > 0 else None, width or None)


def read_json(path: Path, kind: type[Any]) -> Any:
    """Read a JSON file that holds a list or an object.

    Raises:
        InputError: it is missing, damaged, or holds something else.
    """
    try:
        value = read_json_file(path)
    except FileNotFoundError as error:
        raise InputError("no such file: the model folder is incomplete", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error}): fetch the model again", path=path) from error
    if not isinstance(value, kind):
        raise InputError(f"holds no JSON {'object' if kind is dict else kind.__name__}", path=path)
    return value


_ADAPTERS: Final = "adapter_config.json"
_SHOWN: Final = 120
_READ: Final = frozenset({".bin", ".data", ".json", ".model", ".onnx", ".safetensors", ".txt"})
"""Endings of the files of models."""


def require_self_contained(folder: Path) -> None:
    """Check that transformers can load a folder with its own code and the folder's own files.

    nymlink calls this before transformers reads a folder. It is not needed for graphs, which ONNX Runtime runs.

    Raises:
        InputError: a file asks for code, another model, or a file elsewhere; the message names the file.
    """
    if (path := folder / _ADAPTERS).is_file():
        base = read_json(path, dict).get("base_model_name_or_path")
        raise InputError(
            f"asks for another model, {_printable(base)}, to put adapters of peft on, and that was refused: give "
            "a model that they are merged into (merge_and_unload)",
            path=path,
        )
    # Check also files for single releases of transformers (config.4.0.0.json), which replace the others.
    for path in sorted((*folder.glob("config*.json"), *folder.glob("tokenizer_config*.json"))):
        for key, value in _nested_items(read_json(path, object)):
            _require_harmless(key, value, path)
    for path in sorted(folder.glob("*.index.json")):
        weights = read_json(path, dict).get("weight_map")
        for file in weights.values() if isinstance(weights, dict) else ():
            require_inside(file, path)


def require_own_files(folder: Path) -> None:
    """Check that all files of a model are regular files inside its folder.

    Raises:
        InputError: a file is a link to a file outside of the folder, or a pipe or a device.
    """
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        if path.suffix not in _READ or not path.exists() or path.is_dir():
            continue
        if leads_outside(folder, path):
            raise InputError(
                "this is a link to a file outside of the model, and that was refused: copy the file into it",
                path=path,
            )
        if not path.is_file():
            raise InputError("this is a pipe or a device, not a file: fetch the model again", path=path)


def refuse_code(code: object, path: Path) -> None:
    """Refuse a file that asks for code.

    Raises:
        InputError: always. The message names the code.
    """
    raise InputError(
        f"asks for Python code that comes with the model, {_printable(code)}, and that was refused: nymlink runs "
        "no code of models; choose a model that transformers supports by itself",
        path=path,
    )


def require_inside(place: object, path: Path) -> None:
    """Check that a path that a file gives, relative to the file's folder, is inside this folder.

    Raises:
        InputError: it is outside.
    """
    paths = (PurePosixPath(str(place)), PureWindowsPath(str(place)))
    if any(each.anchor or ".." in each.parts for each in paths):
        raise InputError(f"asks for {_printable(place)}, outside of the model, and that was refused", path=path)


def _printable(value: object) -> str:
    """Format a value of a file for a message: short, and without control characters."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _require_harmless(key: str, value: Any, path: Path) -> None:
    """Check that a setting requests nothing harmful."""
    match key, value:
        case "auto_map", code if code:
            refuse_code(code, path)
        case "backbone", str(model):
            raise InputError(
                f"asks for another model, {_printable(model)}, and that was refused: give a complete model",
                path=path,
            )
        case (("configuration_files" | "fast_tokenizer_files"), list(files)):
            for file in files:
                require_inside(file, path)


def _nested_items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all keys and values of a JSON object, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield from members.items()
                waiting += members.values()
            case list() as members:
                waiting += members


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
    """Settings of an encoder: how names are prepared, and how the network's output is pooled.

    Attributes:
        pooling: the vector of a name. With ``"cls"``, as in SapBERT, it is the last layer's vector of the first
            token (not the pooler's output). With ``"mean"``, it is the mean over the name's tokens.
        max_length: most tokens of a name, special tokens included. Longer names are truncated.
        lowercase: whether names are lower-cased before they are tokenised.
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

        A folder without such files is a base model. It is used as in SapBERT, with ``cls`` and 25 tokens.

        Args:
            folder: a model folder. It may have the files of any release of sentence-transformers, or none.
            pooling: overrides the pooling of the folder.
            max_length: overrides the length of the folder.

        Raises:
            InputError: a file is damaged, or asks for a module or pooling that nymlink does not have, or
                ``max_length`` is more than the model takes.
        """
        own = _read_modules(folder) if (folder / _MODULES).is_file() else {"max_length": _SAPBERT_LENGTH}
        longest = ModelConfig.read(folder).longest
        if max_length is None:
            max_length = min(length for length in (own["max_length"], longest, 512) if length)
        elif longest is not None and max_length > longest:
            raise InputError(
                f"max_length {max_length} is more than the model takes: use at most {longest}", path=folder
            )
        return cls(**own | {"max_length": max_length} | ({"pooling": pooling} if pooling else {}))

    def write(self, folder: Path, *, width: int) -> None:
        """Write files that make sentence-transformers give the same unit vectors.

        The files have the layout of releases 2 to 5 of sentence-transformers. Later releases read this layout too.
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
        # From release 6 on, the length is in the configuration of the tokenizer.
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
