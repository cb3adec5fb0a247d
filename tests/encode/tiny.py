"""Model folders small enough to make in memory: random weights, a tokenizer trained on a dozen names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

FAMILIES: Final = ("bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert")

NAMES: Final = (
    "heart attack",
    "myocardial infarction",
    "infarto de miocardio",
    "short stature",
    "seizure",
    "MI",
    "fever of unknown origin that does not go away for many weeks",
    "x",
)

_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_SIZES: Final = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def tokenizer() -> Any:
    """A word-piece tokenizer whose pieces are those of :data:`NAMES`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(NAMES, trainers.WordPieceTrainer(vocab_size=120, special_tokens=list(_SPECIAL)))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def transformer(family: str, *, seed: int = 0) -> Any:
    """A tiny random encoder of one of :data:`FAMILIES`."""
    import torch
    import transformers

    words = {"vocab_size": 120, "max_position_embeddings": 66, "pad_token_id": 0}
    configs = {
        "bert": lambda: transformers.BertConfig(**words, **_SIZES),
        "roberta": lambda: transformers.RobertaConfig(**words, **_SIZES, type_vocab_size=1),
        "xlm-roberta": lambda: transformers.XLMRobertaConfig(**words, **_SIZES, type_vocab_size=1),
        "deberta-v2": lambda: transformers.DebertaV2Config(
            **words,
            **_SIZES,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_buckets=16,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
        ),
        "modernbert": lambda: transformers.ModernBertConfig(**words, **_SIZES, local_attention=8),
    }
    torch.manual_seed(seed)
    model = transformers.AutoModel.from_config(configs[family]())
    with torch.no_grad():
        # As initialised, all names look alike: spread them.
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
    return model.eval()


def folder(path: Path, family: str = "bert", *, seed: int = 0) -> Path:
    """Write a bare model folder, as a base model comes from the hub."""
    transformer(family, seed=seed).save_pretrained(path)
    tokenizer().save(str(path / "tokenizer.json"))
    return path
