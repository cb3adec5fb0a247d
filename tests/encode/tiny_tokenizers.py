"""Model folders with a tokenizer of each kind that multilingual and monolingual bases have."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.encode import tiny

WORDS: Final = (
    *("heart attack", "fever", "Myocardial Infarction"),
    *("infarto de miocardio", "Herzinfarkt", "kalp krizi", "инфаркт", "心筋梗塞", "หัวใจวาย", "심근 경색"),
)
"""Names in several scripts; the tokenizers know the letters of all of them."""

_BERT: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ROBERTA: Final = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def _letters() -> list[str]:
    """The letters of the names, and what is left of them where accents are stripped."""
    text = "".join(WORDS).replace(" ", "")
    return sorted(set(text + text.lower() + unicodedata.normalize("NFD", text.lower())))


def _wordpiece(*, lowercase: bool) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = [f"{prefix}{letter}" for prefix in ("", "##") for letter in _letters()]
    made = Tokenizer(models.WordPiece({piece: row for row, piece in enumerate([*_BERT, *pieces])}))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return _with_ends(made, "[CLS]", "[SEP]")


def _unigram() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = [*((token, 0.0) for token in _ROBERTA), ("\u2581", -2.0), ("\u2581heart", -4.0)]
    made = Tokenizer(models.Unigram([*pieces, *((letter, -8.0) for letter in _letters())], unk_id=3))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return _with_ends(made, "<s>", "</s>")


def _byte_bpe() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*_ROBERTA, *alphabet, "he", "ar", "hear", "heart"]
    merges = [("h", "e"), ("a", "r"), ("he", "ar"), ("hear", "t")]
    made = Tokenizer(models.BPE({piece: row for row, piece in enumerate(pieces)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return _with_ends(made, "<s>", "</s>")


def _with_ends(tokenizer: Any, start: str, end: str) -> Any:
    from tokenizers import processors

    ends = [(token, tokenizer.token_to_id(token)) for token in (start, end)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{start} $A {end}", special_tokens=ends)
    return tokenizer


class Base(NamedTuple):
    """A kind of base: its architecture, its tokenizer, and the files in which it keeps that."""

    family: str
    tokenizer: Callable[[], Any]
    old_files: bool = False


BASES: Final = {
    "mBERT: WordPiece, cased": Base("bert", lambda: _wordpiece(lowercase=False)),
    "BERT: WordPiece, uncased": Base("bert", lambda: _wordpiece(lowercase=True)),
    "BERT: WordPiece, cased, of before tokenizer.json": Base("bert", lambda: _wordpiece(lowercase=False), True),
    "XLM-R: SentencePiece unigram": Base("xlm-roberta", _unigram),
    "RoBERTa: byte-level BPE": Base("roberta", _byte_bpe),
    "RoBERTa: byte-level BPE, of before tokenizer.json": Base("roberta", _byte_bpe, True),
}


def folder(path: Path, base: Base) -> Path:
    """Write a bare model folder, as a base comes from the hub."""
    from nymlink.encode.model.torch_model import quiet_transformers

    tokenizer = base.tokenizer()
    rows = {name: tokenizer.token_to_id(token) for name, token in _roles(base).items()}
    with quiet_transformers():
        tiny.transformer(base.family, vocab_size=tokenizer.get_vocab_size(), **rows).save_pretrained(path)
    if not base.old_files:
        tokenizer.save(str(path / "tokenizer.json"))
        return path
    tokenizer.model.save(str(path))
    cased = {"do_lower_case": False, "strip_accents": False} if base.family == "bert" else {}
    (path / "tokenizer_config.json").write_text(json.dumps(cased), encoding="utf-8")
    return path


def _roles(base: Base) -> dict[str, str]:
    start, pad, end = ("[CLS]", "[PAD]", "[SEP]") if base.family == "bert" else _ROBERTA[:3]
    return {"bos_token_id": start, "pad_token_id": pad, "eos_token_id": end}
