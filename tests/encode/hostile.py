"""Model folders whose files ask for what they may not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

CODE = """
from pathlib import Path
Path({ran!r}).write_text("code of a model was run")
from transformers import BertConfig, BertModel, BertTokenizer
class Config(BertConfig):
    model_type = "hostile"
class Model(BertModel):
    config_class = Config
class Tokenizer(BertTokenizer):
    pass
"""
_NAMES = {"AutoConfig": "code.Config", "AutoModel": "code.Model", "AutoTokenizer": ["code.Tokenizer", None]}


def said(path: Path, **more: Any) -> None:
    """Let a JSON file say more."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps({**known, **more}), encoding="utf-8")


def code(folder: Path, ran: Path) -> dict[str, Any]:
    """Put code into a folder that leaves the file ``ran``; what asks for it."""
    (folder / "code.py").write_text(CODE.format(ran=str(ran)), encoding="utf-8")
    return {"auto_map": _NAMES}


def _words(folder: Path) -> None:
    """Keep the tokenizer in the old form, which transformers reads."""
    words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    (folder / "tokenizer.json").unlink()


def model(folder: Path, ran: Path) -> Path:
    said(folder / "config.json", model_type="hostile", **code(folder, ran))
    return folder / "config.json"


def known_model(folder: Path, ran: Path) -> Path:
    said(folder / "config.json", **code(folder, ran))
    return folder / "config.json"


def release(folder: Path, ran: Path) -> Path:
    """A configuration for some releases of transformers, which is read instead."""
    shutil.copy(folder / "config.json", folder / "config.4.0.0.json")
    said(folder / "config.json", configuration_files=["config.4.0.0.json"])
    said(folder / "config.4.0.0.json", model_type="hostile", **code(folder, ran))
    return folder / "config.4.0.0.json"


def nested(folder: Path, ran: Path) -> Path:
    said(folder / "config.json", text_config={"parts": [{"model_type": "hostile", **code(folder, ran)}]})
    return folder / "config.json"


def tokenizer(folder: Path, ran: Path) -> Path:
    _words(folder)
    said(folder / "tokenizer_config.json", tokenizer_class="Tokenizer", **code(folder, ran))
    return folder / "tokenizer_config.json"


def tokenizer_by_model(folder: Path, ran: Path) -> Path:
    _words(folder)
    return model(folder, ran)


def module(folder: Path, ran: Path) -> Path:
    code(folder, ran)
    modules = [{"path": "", "type": "code.Transformer"}, {"path": "1_Pooling", "type": "code.Pooling"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return folder / "modules.json"


def adapters(folder: Path, ran: Path) -> Path:
    """Adapters of peft on another model, which has the code."""
    other = shutil.copytree(folder, folder / "other")
    model(other, ran)
    said(folder / "adapter_config.json", base_model_name_or_path=str(other), peft_type="LORA")
    return folder / "adapter_config.json"


ASKING_FOR_CODE: tuple[Callable[[Path, Path], Path], ...] = (
    model,
    known_model,
    release,
    nested,
    tokenizer,
    tokenizer_by_model,
    module,
    adapters,
)
"""Each makes a model folder ask for code, and says which file does."""
