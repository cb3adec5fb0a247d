"""Model folders small enough to make in memory: random weights, and a tokenizer of a few words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

FAMILIES: Final = ("bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert")

NAMES: Final = (
    "heart attack",
    "Myocardial Infarction",
    "infarto de miocardio",
    "short stature",
    "seizure",
    "MI",
    "fever of unknown origin",
    "x",
)

_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS: Final = 120
_SIZES: Final = {
    "vocab_size": _WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 66,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
_OWN: Final[dict[str, dict[str, Any]]] = {
    "roberta": {"type_vocab_size": 1},
    "xlm-roberta": {"type_vocab_size": 1},
    "deberta-v2": {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 16,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
    },
    "modernbert": {"local_attention": 8, "cls_token_id": 2, "sep_token_id": 3},
}


def tokenizer() -> Any:
    """A word-piece tokenizer that knows most words of :data:`NAMES`, and the letters of all others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = [f"{prefix}{letter}" for prefix in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"]
    words = sorted({word for name in NAMES[:-2] for word in name.lower().split()})
    pieces = {piece: number for number, piece in enumerate([*_SPECIAL, *letters, *words])}
    made = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def transformer(family: str, *, seed: int = 0, **sizes: int) -> Any:
    """A tiny random encoder of one of :data:`FAMILIES`."""
    import torch
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(seed)
    model = AutoModel.from_config(AutoConfig.for_model(family, **_SIZES | sizes, **_OWN.get(family, {})))
    with torch.no_grad():
        # As initialised, all names look alike: spread them.
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
    return model.eval()


def folder(path: Path, family: str = "bert", *, seed: int = 0, **sizes: int) -> Path:
    """Write a bare model folder, as a base model comes from the hub."""
    from nymlink.encode.model.torch_model import quiet_transformers

    with quiet_transformers():
        transformer(family, seed=seed, **sizes).save_pretrained(path)
    tokenizer().save(str(path / "tokenizer.json"))
    return path
