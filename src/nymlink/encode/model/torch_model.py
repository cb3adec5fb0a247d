"""Models in torch: loading, pooling, packed layers, and saving."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, BertConfig, BertModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from nymlink.core.errors import InputError
from nymlink.core.store.manifest import write_directory
from nymlink.encode.model.adapters import (
    AdapterSettings,
    adapter_weights,
    add_adapters,
    load_adapters,
    save_adapters,
)
from nymlink.encode.model.encoder_settings import EncoderSettings, Pooling, require_self_contained
from nymlink.encode.model.fingerprint import FORMAT, KIND, check_saved
from nymlink.encode.model.folder import ADAPTERS, WEIGHTS, installed, model_folder, weight_files
from nymlink.encode.model.tokenizer import load_tokenizer, save_tokenizer, special_tokens
from nymlink.encode.quantise import float_weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Suppress all output of transformers except errors, and suppress its questions.

    The library would ask whether to run code of a model. It would read the answer from standard input, from which
    nymlink reads mentions.
    """
    from transformers import dynamic_module_utils
    from transformers.utils import logging

    timeout, dynamic_module_utils.TIME_OUT_REMOTE_CODE = dynamic_module_utils.TIME_OUT_REMOTE_CODE, 0
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        dynamic_module_utils.TIME_OUT_REMOTE_CODE = timeout
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


Attention = Literal["eager", "sdpa"]


# transformers has no types for the methods that these classes call.
class BertPiecesConfig(BertConfig):  # type: ignore[no-untyped-call]
    """The configuration of :class:`BertPieces`."""

    model_type = "nymlink-bert-pieces"


class BertPieces(BertModel):  # type: ignore[no-untyped-call]
    """BERT with a second vector for each piece, added after the last layer.

    The layers know how words of many languages are used. A vector of its own lets a piece learn its place among
    the names of ontologies in few steps, without a change of the layers. A linear map takes the states of the last
    layer to the space of these vectors.

    Args:
        config: sizes of the layers and of the table of pieces. ``vector_size`` is the length of a vector,
            ``piece_size`` that of the vectors of pieces, which are added to the first numbers of a vector; 0 for
            no such vectors. Both are ``hidden_size`` by default.
    """

    config_class = BertPiecesConfig

    def __init__(self, config: BertPiecesConfig) -> None:
        super().__init__(config, add_pooling_layer=False)
        self.vector_size = getattr(config, "vector_size", config.hidden_size)
        self.piece_size = getattr(config, "piece_size", self.vector_size)
        self.mapped = nn.Linear(config.hidden_size, self.vector_size)
        self.pieces = nn.Embedding(config.vocab_size, self.piece_size) if self.piece_size else None
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> BaseModelOutput:
        """Compute the state of each token: int64 (B, T) → float32 (B, T, D)."""
        states = super().forward(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mapped = self.mapped(states)
        if self.pieces is not None:
            mapped = mapped + nn.functional.pad(self.pieces(input_ids), (0, self.vector_size - self.piece_size))
        return BaseModelOutput(last_hidden_state=mapped)


AutoConfig.register(BertPiecesConfig.model_type, BertPiecesConfig)
AutoModel.register(BertPiecesConfig, BertPieces)


class TorchModel(nn.Module):
    """Encodes the token ids of names as one vector for each name.

    Args:
        transformer: any encoder of transformers. If it has a pooler, the pooler is removed.
        tokenizer: its tokenizer, which truncates names.
        settings: settings such as the pooling and the most tokens of a name.
        special: role → special token, for :meth:`write`.
        adapters: settings of the transformer's adapters; ``None`` if it has none.
    """

    def __init__(
        self,
        transformer: PreTrainedModel,
        tokenizer: Tokenizer,
        settings: EncoderSettings,
        *,
        special: dict[str, str],
        adapters: AdapterSettings | None = None,
    ) -> None:
        super().__init__()
        if getattr(transformer, "pooler", None) is not None:
            setattr(transformer, "pooler", None)  # noqa: B010 - a module's types know no part that is none
        self.transformer = transformer
        self.tokenizer = tokenizer
        self.settings = settings
        self._special = special
        self._adapters = adapters

    @classmethod
    def load(
        cls,
        name_or_folder: str | Path,
        *,
        pooling: Pooling | None = None,
        max_length: int | None = None,
        attention: Attention = "eager",
    ) -> TorchModel:
        """Load a model as float32, with its adapters, in evaluation mode.

        Args:
            name_or_folder: a folder, or the name of a model on the hub, or of an installed encoder.
            pooling: overrides the pooling of the folder (see :meth:`EncoderSettings.read`).
            max_length: overrides the length of the folder.
            attention: implementation of attention, if the model has several; see :func:`attention_on`.

        Raises:
            InputError: there is no such model, it is not an encoder, or its files are damaged or do not belong
                together.
            StoreError: a file of an encoder that nymlink wrote is damaged; or its adapters are damaged, or were
                trained on other weights.
        """
        folder = model_folder(name_or_folder, weights=WEIGHTS)
        if folder == Path(name_or_folder) or installed(name_or_folder) is not None:
            check_saved(folder)
        settings = EncoderSettings.read(folder, pooling=pooling, max_length=max_length)
        tokenizer = load_tokenizer(folder, settings)
        transformer = _load_transformer(folder, attention)
        adapters = load_adapters(transformer, folder / ADAPTERS) if (folder / ADAPTERS).is_dir() else None
        # Adding adapters has frozen the other weights. Undo this: the caller decides which weights to train.
        transformer.requires_grad_(True)
        special = special_tokens(folder, tokenizer)
        return cls(transformer, tokenizer, settings, special=special, adapters=adapters).eval()

    @property
    def width(self) -> int:
        """Length of a vector."""
        return int(getattr(self.transformer, "vector_size", self.transformer.config.hidden_size))

    @property
    def pad_id(self) -> int:
        """Token id for padding."""
        return int(self.transformer.config.pad_token_id or 0)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Encode token ids and pool the result. The vectors are not of unit length.

        Args:
            input_ids: int64 (B, T).
            attention_mask: (B, T): 1 for a real token, 0 for padding; ``None`` without padding.

        Returns:
            float32 (B, D).
        """
        states: Tensor = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        if self.settings.pooling == "cls":
            return states[:, 0].float()
        if attention_mask is None:
            return states.float().mean(1)
        real = attention_mask.unsqueeze(-1).float()
        return (states.float() * real).sum(1) / real.sum(1)

    def add_adapters(self, settings: AdapterSettings) -> None:
        """Freeze the model and add adapters (see :func:`nymlink.encode.model.adapters.add_adapters`)."""
        add_adapters(self.transformer, settings)
        self._adapters = settings

    def write(self, folder: Path) -> None:
        """Write weights, tokenizer and settings for transformers and sentence-transformers.

        Both libraries load the model without its adapters, which are written to a folder of their own.
        """
        adapters = adapter_weights(self.transformer)
        own = {name: value for name, value in self.transformer.state_dict().items() if name not in adapters}
        with quiet_transformers():
            self.transformer.save_pretrained(folder, state_dict=own)
        self.write_settings(folder)
        if self._adapters is not None:
            save_adapters(self.transformer, self._adapters, folder / ADAPTERS)

    def write_settings(self, folder: Path) -> None:
        """Write configuration, tokenizer and settings, without weights."""
        self.transformer.config.save_pretrained(folder)
        save_tokenizer(self.tokenizer, folder, max_length=self.settings.max_length, special=self._special)
        self.settings.write(folder, width=self.width)

    def save(self, folder: Path) -> None:
        """Write the model (see :meth:`write`) to a folder, atomically, with a manifest.

        Args:
            folder: the folder to write. An encoder that nymlink saved there is replaced.

        Raises:
            OutputError: something else is there, or it cannot be written.
        """
        body = {"settings": self.settings.to_dict()}
        with write_directory(folder, kind=KIND, version=FORMAT, body=body) as partial:
            self.write(partial)


def attention_on(device: str) -> Attention:
    """Choose the fastest attention on a kind of device. For training in bf16 on a CPU, it is ``"eager"``."""
    return "eager" if device == "cpu" else "sdpa"


def has_bf16(device: str) -> bool:
    """Whether the hardware of a device multiplies bf16. If it does not, fp32 is faster."""
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "arm_bf16"))


def _load_transformer(folder: Path, attention: Attention) -> PreTrainedModel:
    file = weight_files(folder)[0]
    require_self_contained(folder)
    with _loading(folder):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    _require_encoder(config, folder)
    with _loading(folder):
        if not getattr(AutoModel._model_mapping[type(config)], "_supports_sdpa", False):
            attention = "eager"
    if file.suffix == ".onnx":
        return _dequantised(folder, file, config, attention)
    with _loading(folder):
        model: PreTrainedModel
        model, report = AutoModel.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            attn_implementation=attention,
            output_loading_info=True,
            trust_remote_code=False,
            local_files_only=True,
            # From pickles, read only tensors.
            weights_only=True,
        )
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise InputError(
            f"weights and configuration do not belong together: {len(missing)} tensors are missing, "
            f"for example {missing[0]}",
            path=folder,
        )
    return model


def _dequantised(folder: Path, file: Path, config: PretrainedConfig, attention: Attention) -> PreTrainedModel:
    """Make a torch model with the weights of a graph in int8."""
    weights = {name: torch.from_numpy(value) for name, value in float_weights(file).items()}
    with _loading(folder):
        # transformers has no types for this method.
        model: PreTrainedModel = AutoModel.from_config(  # type: ignore[no-untyped-call]
            config, dtype=torch.float32, attn_implementation=attention, trust_remote_code=False
        )
    needed = {name: value for name, value in model.state_dict().items() if not name.startswith("pooler.")}
    if any(name not in weights or weights[name].shape != value.shape for name, value in needed.items()):
        raise InputError(
            "not an int8 graph that nymlink exported, or some of its weights cannot be told by name: start from "
            "the float weights that it was made from",
            path=file,
        )
    model.load_state_dict(weights, strict=False)
    return model


@contextmanager
def _loading(folder: Path) -> Iterator[None]:
    try:
        with quiet_transformers():
            yield
    except UnpicklingError as error:
        # Do not show torch's own message, which recommends running the code.
        raise InputError(
            "its weights are a pickle that is damaged or contains code, which nymlink does not run: get them as "
            "safetensors",
            path=folder,
        ) from error
    # The dependencies of transformers raise errors of their own: of the disk, of JSON, of safetensors, of torch.
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"the model cannot be loaded ({reason}): fetch it again", path=folder) from error


def _require_encoder(config: PretrainedConfig, folder: Path) -> None:
    """Check that every token of a model attends to all others."""
    kind = config.model_type
    causal = kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if config.is_encoder_decoder or causal or getattr(config, "is_decoder", False):
        raise InputError(
            f"not an encoder: a model of type {kind} generates text; choose one such as BERT or RoBERTa",
            path=folder,
        )


class PackedLinear(nn.Module):
    """A linear layer that is faster on a CPU, but has no gradients.

    A linear layer of torch converts its weights to oneDNN's layout for every product. This layer converts them
    once, as ``torch.compile`` does with frozen weights.

    Args:
        linear: the layer to replace. Its weights stay unchanged.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self.bias = linear.bias

    def forward(self, input: Tensor) -> Tensor:
        """Compute x Wᵀ + b: (…, K) → (…, N)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product


def pack(model: nn.Module) -> None:
    """Replace the linear layers of a model on a CPU by faster ones, if torch has oneDNN.

    The model cannot be trained afterwards.
    """
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return
    # On a processor that has AVX2 but nothing newer, oneDNN does not pack bf16.
    dtypes = {torch.float32} | ({torch.bfloat16} if torch.ops.mkldnn._is_mkldnn_bf16_supported() else set())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Linear and child.weight.dtype in dtypes:
                setattr(module, name, PackedLinear(child))
