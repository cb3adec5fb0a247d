"""Folders made by an attacker, who has computed all digests anew.

Vocabularies, indexes with their rankers, encoders, re-rankers, adapters, checkpoints, and caches of vectors.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.attempts import Attempt, rows_of
from benchmarks.campaigns.hostile.models import model_changes
from nymlink.core.store.digests import json_digest
from nymlink.core.store.manifest import seal, write_manifest

_SHORT: Final = 40
"""Attempts of a kind in the short form."""
_QUERIES: Final = ("gout", "heart attacks", "cold foot", "zzz", "FEVER")
_DEEP: Final = "[" * 100_000
_SPECIAL: Final = ("/dev/zero", "/etc/passwd", "fifo", "folder", "elsewhere")
"""What a link may lead to; a pipe that nobody writes to; and the genuine file, outside of the folder."""


def run(folder: Path, *, long: bool) -> list[Row]:
    """Try all kinds.

    Args:
        folder: an empty folder.
        long: whether all is tried, not 40 of each kind.
    """
    genuine = folder / "genuine"
    genuine.mkdir()
    _make(genuine)
    kinds: dict[str, list[Attempt]] = {}
    for one in attempts(genuine):
        kinds.setdefault(one.kind, []).append(one)
    drawn = Random(0)
    tried = [
        one for each in kinds.values() for one in (each if long else drawn.sample(each, min(_SHORT, len(each))))
    ]
    return rows_of(tried, folder)


def _make(genuine: Path) -> None:
    """Write a folder of each kind, as nymlink does."""
    import torch
    from tests.encode import tiny
    from tests.rerank.orders import BY_CONTEXT

    from benchmarks.campaigns.small_project import small_index
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.adapters import AdapterSettings, save_adapters
    from nymlink.encode.model.torch_model import TorchModel
    from nymlink.encode.onnx_export import export
    from nymlink.index.index import Index
    from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig
    from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
    from nymlink.rerank.folder import FittedOrder, write_fitted
    from nymlink.train.engine import checkpoint

    bare = tiny.folder(genuine / "bare")
    vocabulary = small_index().vocabulary
    vocabulary.save(genuine / "vocabulary")
    model = TorchModel.load(bare)
    model.save(genuine / "encoder")
    export(genuine / "encoder", genuine / "onnx")
    encoder = Encoder.load(genuine / "onnx")
    encoder.encode(_QUERIES, cache=EmbeddingCache(genuine / "vectors"))
    Index.build(vocabulary, directory=genuine / "index", encoder=encoder)
    DualEncoder.from_encoder(bare, DualEncoderConfig(max_length=64)).save(genuine / "dual")
    CrossEncoder.from_encoder(bare, CrossEncoderConfig(max_length=64)).save(genuine / "cross")
    for name in ("dual", "cross"):
        write_fitted(genuine / name, FittedOrder(order=BY_CONTEXT, candidates=5))
    optimiser = torch.optim.AdamW(model.parameters())
    model(torch.tensor([[2, 5, 3]])).sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    checkpoint.save(genuine, 1, model, optimiser, {"epoch": 0})
    settings, model = AdapterSettings(), TorchModel.load(bare)
    model.add_adapters(settings)
    save_adapters(model.transformer, settings, genuine / "adapters")


def attempts(genuine: Path) -> Iterator[Attempt]:
    """List all attempts on folders like those in ``genuine``."""
    for what in sorted(path.name for path in genuine.iterdir()):
        files = sorted(path.relative_to(genuine / what).as_posix() for path in (genuine / what).rglob("*.*"))
        files = [name for name in files if (genuine / what / name).is_file()]
        yield from _links(genuine / what, files)
        yield from _names(genuine / what)
        yield from _json(genuine / what, [name for name in files if name.endswith(".json")])
        yield from _arrays(genuine / what, [name for name in files if name.endswith(".npy")])
        yield from _bytes(genuine / what, files)
    yield from _learned(genuine / "index")
    yield from _learned(genuine / "dual")
    tokenizer = (genuine / "onnx/tokenizer.json").read_text(encoding="utf-8")
    for one in model_changes(tokenizer):
        yield _of(one.kind, genuine / one.folder, one.name, one.change, refused=one.refused)


def _changed(genuine: Path, change: Callable[[Path], object], sealed: bool, place: Path) -> None:
    """Copy a folder, change it, compute its digests anew, and use it."""
    folder = shutil.copytree(genuine, place / genuine.name)
    change(folder)
    if sealed:
        for part in (folder / "vocabulary", folder):
            if part.is_dir() and not (part / _SEALED).exists():
                _sealed(part)
    _use(folder, genuine.parent)


def _sealed(folder: Path) -> None:
    path = folder / "manifest.json"
    if not path.is_symlink() and path.is_file():
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files = dict(manifest["files"])
        # Files that cannot be read to their end keep their digests.
        odd = {name for name in files if not Path(folder / name).is_file()}
        aside = [(folder / name, folder.parent / f"aside-{at}") for at, name in enumerate(sorted(odd))]
        aside = [(path, other) for path, other in aside if os.path.lexists(path)]
        for path, other in aside:
            Path(path).rename(other)
        seal(folder, manifest)
        for path, other in aside:
            Path(other).rename(path)
        sealed = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        sealed["files"] = {**files, **sealed["files"]}
        write_manifest(folder, sealed)


def _use(folder: Path, genuine: Path) -> None:
    """Open a folder, and use all that is in it, with genuine ones where it needs others."""
    import torch

    from nymlink.core.store.manifest import find_damage
    from nymlink.corpus.documents import Document, Mention
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.adapters import load_adapters
    from nymlink.encode.model.torch_model import TorchModel
    from nymlink.index.index import Index
    from nymlink.linking.linker import Linker
    from nymlink.rerank.reranker import Reranker
    from nymlink.train.engine import checkpoint
    from nymlink.vocabulary.vocabulary import Vocabulary

    match folder.name:
        case "vocabulary":
            vocabulary = Vocabulary.load(folder)
            for concept in vocabulary:
                vocabulary.names(concept.id)
            vocabulary.save(folder.parent / "again")
        case "index":
            index = Index.load(folder)
            for link in Linker(index, top_k=5).link(_QUERIES):
                link.to_dict()
            index.search.search(list(_QUERIES), 5)
        case "dual" | "cross":
            index = Index.load(genuine / "index")
            document = Document("1", "gout and fever", (Mention("gout", 0, 4), Mention("fever", 9, 14)))
            links = Linker(index, top_k=5).link(["gout", "fever"])
            for link in Reranker.load(folder, index).rerank(document, links):
                link.to_dict()
        case "adapters":
            model = TorchModel.load(genuine / "bare")
            load_adapters(model.transformer, folder)
            model(torch.tensor([[2, 5, 3]]))
        case "vectors":
            encoder = Encoder.load(genuine / "onnx")
            encoder.encode(_QUERIES, cache=EmbeddingCache(folder))
        case "step-000000001":
            model = TorchModel.load(genuine / "bare")
            checkpoint.restore(folder, model, torch.optim.AdamW(model.parameters()))
        case _:
            encoder = Encoder.load(folder, backend=None if folder.name == "onnx" else "torch")
            encoder.encode([*_QUERIES, "x" * 100_000, "\ufdfa" * 10_000, "a\u0301" * 10_000])
            assert encoder.fingerprint
    if (folder / "manifest.json").is_file():
        find_damage(folder)


def _of(
    kind: str, genuine: Path, name: str, change: Callable[[Path], object], *, refused: bool = False
) -> Attempt:
    sealed = not kind.startswith(("manifest", "ranker"))
    return Attempt(kind, f"{genuine.name}: {name}", partial(_changed, genuine, change, sealed), refused)


def _links(genuine: Path, files: list[str]) -> Iterator[Attempt]:
    for name in files:
        for target in _SPECIAL:
            # Without a manifest a folder is a model of somebody else, which needs none.
            optional = name == "manifest.json" and genuine.name in ("encoder", "onnx") and target != "elsewhere"
            optional |= genuine.name == "vectors"  # What cannot be used is encoded again, with a warning.
            yield _of(
                "links out of the folder, pipes and devices",
                genuine,
                f"{name} → {target}",
                partial(_link, genuine, name, target),
                refused=not optional,
            )


def _link(genuine: Path, name: str, target: str, folder: Path) -> None:
    path = folder / name
    path.unlink()
    match target:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.symlink_to(folder.parent)
        case "elsewhere":
            path.symlink_to(genuine / name)
        case _:
            path.symlink_to(target)


def _names(genuine: Path) -> Iterator[Attempt]:
    if not (genuine / "manifest.json").is_file():
        return
    for name in ("../genuine", "/etc/passwd", "..\\x", "C:\\x", "a/../../b", "\0", "x" * 5000, ".", ""):
        yield _of("manifests that name other files", genuine, name[:20], partial(_name, name))
    for value in (None, [], 5, {}, {"size": "x"}, {"size": 1e300}, {"size": -1, "xxh3": 5}, {"size": True}):
        yield _of("manifests that name other files", genuine, f"entry {value}", partial(_entry, value))


def _name(name: str, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][name] = {"size": 4, "xxh3": "0" * 32}
    write_manifest(folder, manifest)


def _entry(value: Any, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][min(manifest["files"])] = value
    write_manifest(folder, manifest)


_VALUES: Final[tuple[tuple[str, str], ...]] = (
    ("NaN", "NaN"),
    ("1e400000", "1e400000"),
    ("100,000 digits", "9" * 100_000),
    ("100,000 levels", _DEEP + "]" * 100_000),
    ("900 levels", "[" * 900 + "]" * 900),
    ("-1", "-1"),
    ("2^63", str(2**63)),
    ("2^31", str(2**31)),
    ("null", "null"),
    ("text", '"../../etc/passwd"'),
    ("half a character", '"\\ud800"'),
    ("NUL", '"\\u0000"'),
    ("list", "[]"),
    ("object", "{}"),
    ("true", "true"),
)
_MARK: Final = "@the value@"
_SEALED: Final = "sealed"
"""Beside a manifest that has its digest already."""


def _json(genuine: Path, files: list[str]) -> Iterator[Attempt]:
    """Put each value in the place of each value in each file."""
    for file in files:
        value = json.loads((genuine / file).read_text(encoding="utf-8"))
        for place in _places(value, skipped="files" if file.endswith("manifest.json") else ""):
            for name, text in _VALUES:
                yield _of(
                    f"values in JSON of {'a ' if genuine.name != 'index' else 'an '}{genuine.name}",
                    genuine,
                    f"{file} {'/'.join(map(str, place))} = {name}",
                    partial(_put, file, place, text),
                )


def _places(value: Any, *, skipped: str = "", most: int = 3) -> Iterator[tuple[Any, ...]]:
    """List places in a JSON value: of long lists and large objects, the first three members."""
    yield ()
    members = list(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members if len(members) < 40 else members[:most]:
        if key not in (skipped, "xxh3", "digest"):
            for place in _places(inner):
                yield (key, *place)


def _put(file: str, place: tuple[Any, ...], text: str, folder: Path) -> None:
    path = folder / file
    value = json.loads(path.read_text(encoding="utf-8"))
    if not place:
        value = _MARK
    else:
        inner = value
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = _MARK
    if path.name == "manifest.json":
        try:
            # The attacker's digest is of the value as it will be read.
            parsed = json.loads(json.dumps(value).replace(f'"{_MARK}"', text))
            if isinstance(parsed, dict):
                parsed.pop("digest", None)
                text = json.dumps({**parsed, "digest": json_digest(parsed)})
                path.write_text(text, encoding="utf-8")
                (path.parent / _SEALED).touch()
                return
        except (ValueError, RecursionError):
            pass
        (path.parent / _SEALED).touch()
    path.write_text(json.dumps(value).replace(f'"{_MARK}"', text), encoding="utf-8")


_SHAPES: Final = (
    "(-1,)",
    "(9223372036854775807,)",
    "(4611686018427387904, 4)",
    "(0,)",
    "()",
    "(1, 0, 5)",
    "(2**40,)",
)


def _arrays(genuine: Path, files: list[str]) -> Iterator[Attempt]:
    for file in files:
        for shape in _SHAPES:
            yield _of("shapes and types in NPY", genuine, f"{file} {shape}", partial(_header, file, shape, ""))
        for kind in ("|O", "<M8[D]", "|S5", "<f8", "[('a', '<i8')]", "|V0", ">i4", "<c16"):
            yield _of("shapes and types in NPY", genuine, f"{file} {kind}", partial(_header, file, "", kind))
        for number in ("nan", "inf", "-1", "max", "min", "reversed"):
            yield _of("numbers in NPY", genuine, f"{file} {number}", partial(_numbers, file, number))


def _header(file: str, shape: str, kind: str, folder: Path) -> None:
    path = folder / file
    array = np.load(path)
    described = kind if kind.startswith("[") else repr(kind or array.dtype.str)
    text = f"{{'descr': {described}, 'fortran_order': False, 'shape': {shape or array.shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    path.write_bytes(header + array.tobytes())


def _numbers(file: str, number: str, folder: Path) -> None:
    path = folder / file
    array = np.load(path)
    if number == "reversed":
        array = array[::-1]
    elif array.dtype.kind == "f":
        array[...] = {"max": np.finfo(array.dtype).max, "min": np.finfo(array.dtype).min}.get(number) or float(
            number
        )
    elif array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        array[...] = limits.max if number == "max" else limits.min if number == "min" else limits.max - 1
    np.save(path, np.ascontiguousarray(array))


def _bytes(genuine: Path, files: list[str]) -> Iterator[Attempt]:
    """Let a file have large numbers where headers are, or nothing, or a pickle."""
    for file in files:
        if file.endswith(("manifest.json", ".json")):
            continue
        for name, at, new in (
            ("empty", 0, None),
            ("a pickle", 0, b"cos\nsystem\n(S'touch ran'\ntR."),
            ("zeros", 0, bytes(64)),
            *((f"huge at {at}", at, b"\xff\xff\xff\x7f") for at in (0, 4, 8, 16, 24, 40, -8, -12, -24, -60)),
            *((f"negative at {at}", at, b"\xff" * 8) for at in (0, 8, 16, 32, -16, -32, -48)),
        ):
            yield _of(
                "headers of Arrow, safetensors, ONNX", genuine, f"{file} {name}", partial(_patch, file, at, new)
            )


def _patch(file: str, at: int, new: bytes | None, folder: Path) -> None:
    path = folder / file
    whole = bytearray(path.read_bytes())
    if new is None:
        whole.clear()
    elif at >= 0:
        whole[at : at + len(new)] = new
    else:
        whole[at : len(whole) + at + len(new)] = new
    path.write_bytes(whole)


def _learned(genuine: Path) -> Iterator[Attempt]:
    """Rankers and calibrations of indexes."""
    from nymlink.linking.calibration import CONFIDENCE_FEATURES
    from nymlink.rank import features
    from nymlink.rerank import evidence

    def learned(**trees: Any) -> dict[str, Any]:
        usual = {"features": [[0, 1]], "thresholds": [[0.5, 0.5]], "values": [[0.0, 1.0, 2.0, 3.0]]}
        common = {"trees": {**usual, **trees}, "learned_from": "x"}
        if genuine.name == "index":
            return {"version": features.VERSION, "features": list(features.NAMES), **common}
        order = {"version": evidence.VERSION, "features": list(evidence.NAMES), "types": {}, **common}
        return {"order": order, "candidates": 5, "scores": None}

    usual = {
        "intercept": 0.0,
        "weights": dict.fromkeys(CONFIDENCE_FEATURES, 1.0),
        "curve": [[0, 0.5]],
        "fitted_to": "x",
    }
    nan, inf = float("nan"), float("inf")
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    for name, trees in {
        "feature out of range": {"features": [[0, 10_000]]},
        "feature below 0": {"features": [[-1, 0]]},
        "feature of 2^63": {"features": [[2**63, 0]]},
        "feature no number": {"features": [["0", None]]},
        "NaN": {"values": [[nan] * 4]},
        "infinity": {"thresholds": [[inf, -inf]]},
        "largest": {"values": [[3.4e38] * 4] * 1},
        "1e300": {"values": [[1e300] * 4]},
        "30 levels": {"features": [[0] * 30], "thresholds": [[0] * 30]},
        "ragged": {"values": [[0], [1, 2]]},
        "900 levels of lists": {"values": deep},
        "no trees": {"features": [], "thresholds": [], "values": []},
        "200,000 trees": {
            "features": [[0, 1]] * 200_000,
            "thresholds": [[0, 0]] * 200_000,
            "values": [[0, 0, 0, 0]] * 200_000,
        },
    }.items():
        yield _of(
            "rankers and calibrations",
            genuine,
            f"trees: {name}",
            partial(_learn, "ranker" if genuine.name == "index" else "fitted", json.dumps(learned(**trees))),
        )
    if genuine.name != "index":
        return
    for name, other in {
        "NaN": {"intercept": nan},
        "infinity": {"weights": dict.fromkeys(CONFIDENCE_FEATURES, inf)},
        "1e308": {"weights": dict.fromkeys(CONFIDENCE_FEATURES, 1e308)},
        "curve of NaN": {"curve": [[0, nan]]},
        "curve of text": {"curve": "abc"},
        "curve of lists": {"curve": deep},
        "weights no numbers": {"weights": dict.fromkeys(CONFIDENCE_FEATURES, "x")},
    }.items():
        changed = {**usual, **other}
        yield _of(
            "rankers and calibrations",
            genuine,
            f"calibration: {name}",
            partial(_learn, "calibration", json.dumps(changed)),
        )


def _learn(key: str, value: str, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest[key] = json.loads(value)
    write_manifest(folder, manifest)
