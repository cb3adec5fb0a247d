"""Reading a model's ``config.json`` without transformers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError

_NAME: Final = "config.json"
_COUNTED_FROM_PADDING: Final = frozenset(
    {"camembert", "data2vec-text", "ibert", "longformer", "mpnet", "roberta", "roberta-prelayernorm"}
    | {"xlm-roberta", "xlm-roberta-xl", "xmod"}
)
"""Model types that number positions from the padding id + 1 on, and so take fewer tokens than configured."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes of a model.

    Attributes:
        vocabulary_size: how many token ids it knows.
        pad_id: the id that shorter names of a batch are padded with.
        longest: the most tokens it takes, special ones included; ``None`` for no limit.
        width: length of a vector of its last layer; ``None`` where the file does not give it.
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
            # DistilBERT has another key for it.
            width = int(config.get("hidden_size") or config.get("dim") or 0)
        except (KeyError, TypeError, ValueError) as error:
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
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such file: the model folder is incomplete", path=path) from error
    # RecursionError: too many nested brackets.
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read ({error}): fetch the model again", path=path) from error
    if not isinstance(value, kind):
        raise InputError(f"holds no JSON {'object' if kind is dict else kind.__name__}", path=path)
    return value
