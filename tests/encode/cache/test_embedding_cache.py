from __future__ import annotations

import errno
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import StoreError
from nymlink.encode import cached_vectors
from nymlink.encode.cached_vectors import EmbeddingCache, KnownVectors
from nymlink.encode.encoder import Encoder
from nymlink.encode.vector_cache import ABSENT, EncoderCache, check_block, name_keys
from tests.encode import tiny


@pytest.fixture(scope="module")
def encoder(saved: Path) -> Encoder:
    return Encoder.load(saved, precision="fp32")


class Counted:
    """A network that counts the names it is given, and may fail at the n-th."""

    def __init__(self, network: Any, *, fails_at: int | None = None) -> None:
        self.names = 0
        self._network = network
        self._fails_at = fails_at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def vectors(self, ids: Any, mask: Any) -> Any:
        self.names += len(ids)
        if self._fails_at is not None and self.names > self._fails_at:
            raise KeyboardInterrupt
        return self._network.vectors(ids, mask)


def counted(encoder: Encoder, *, fails_at: int | None = None) -> tuple[Encoder, Counted]:
    network = Counted(encoder.network, fails_at=fails_at)
    return Encoder(network, encoder._tokenizer, encoder.settings, batch_tokens=16), network  # type: ignore[arg-type]


def random_vectors(count: int, width: int = 4) -> Any:
    return np.random.default_rng(count).normal(size=(count, width)).astype(np.float16)


def test_what_is_kept_is_not_encoded_again(encoder: Encoder, tmp_path: Path) -> None:
    ours, network = counted(encoder)
    first = ours.encode(tiny.NAMES[:5], cache=EmbeddingCache(tmp_path))
    assert network.names == 5
    again = ours.encode(tiny.NAMES, cache=EmbeddingCache(tmp_path))
    assert network.names == len(tiny.NAMES)
    assert (again[:5] == first).all()
    assert np.allclose(again, encoder.encode(tiny.NAMES), atol=1e-3)
    assert np.allclose(np.linalg.norm(again, axis=1), 1, atol=1e-6)


def test_an_open_cache_sees_what_others_wrote(encoder: Encoder, tmp_path: Path) -> None:
    ours, network = counted(encoder)
    cache = EmbeddingCache(tmp_path)
    assert ours.encode([], cache=cache).shape == (0, ours.width)
    encoder.encode(tiny.NAMES, cache=EmbeddingCache(tmp_path))
    ours.encode(tiny.NAMES, cache=cache)
    assert network.names == 0


def test_encoders_do_not_meet(saved: Path, encoder: Encoder, tmp_path: Path) -> None:
    other = Encoder.load(saved, pooling="cls", precision="fp32")
    encoder.encode(tiny.NAMES, cache=EmbeddingCache(tmp_path))
    assert np.allclose(
        other.encode(tiny.NAMES, cache=EmbeddingCache(tmp_path)), other.encode(tiny.NAMES), atol=1e-3
    )


def test_names_without_tokens_stay_zeros(encoder: Encoder, tmp_path: Path) -> None:
    for _ in range(2):
        assert not encoder.encode(["", " "], cache=EmbeddingCache(tmp_path)).any()


def test_an_interrupted_run_goes_on_where_it_stopped(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_vectors, "_BLOCK", 4)
    names = [f"{'x ' * count}seizure" for count in range(20)]
    interrupted, _ = counted(encoder, fails_at=12)
    with pytest.raises(KeyboardInterrupt):
        interrupted.encode(names, cache=EmbeddingCache(tmp_path))
    kept = len(EmbeddingCache(tmp_path).for_encoder(encoder.fingerprint, width=encoder.width))
    assert kept >= 10
    going_on, network = counted(encoder)
    vectors = going_on.encode(names, cache=EmbeddingCache(tmp_path))
    assert network.names == len(names) - kept
    assert np.allclose(vectors, encoder.encode(names), atol=1e-3)


def test_look_ups_are_those_of_a_dictionary(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}
    for block in range(5):
        names = [f"{block}-{number}" for number in range(50)]
        vectors = random_vectors(50 + block)[:50]
        EncoderCache(tmp_path, width=4).add(name_keys(names), vectors)
        kept.update(zip(names, vectors, strict=True))
    cache = EncoderCache(tmp_path, width=4)
    cache.refresh()
    assert len(cache) == len(kept)
    asked = [f"{block}-{number}" for number in (60, 3, 49, 0) for block in (7, 4, 0, 2)]
    places = cache.places(name_keys(asked))
    for name, place in zip(asked, places.tolist(), strict=True):
        assert (place != ABSENT) == (name in kept)
        if name in kept:
            assert (cache.vectors(np.array([place]))[0] == kept[name]).all()
    known = places[places != ABSENT]
    assert (cache.vectors(known) == [kept[name] for name in asked if name in kept]).all()


def test_the_same_names_from_two_runs_at_once_do_no_harm(tmp_path: Path) -> None:
    keys, vectors = name_keys(["a", "b"]), random_vectors(2)
    for _ in range(2):
        EncoderCache(tmp_path, width=4).add(keys, vectors)
    cache = EncoderCache(tmp_path, width=4)
    cache.refresh()
    assert (cache.vectors(cache.places(keys)) == vectors).all()


def test_keys_that_agree_in_their_first_half_are_told_apart(tmp_path: Path) -> None:
    keys = np.array([[5, 1], [5, 2]], np.uint64)
    EncoderCache(tmp_path, width=4).add(keys, random_vectors(2))
    cache = EncoderCache(tmp_path, width=4)
    cache.refresh()
    found = cache.places(np.array([[5, 1], [5, 2], [5, 3]], np.uint64))
    assert set(found.tolist()) <= {0, 1, ABSENT}
    assert found[2] == ABSENT
    for row, place in enumerate(found[:2].tolist()):
        assert place in (row, ABSENT)


def test_damaged_blocks_are_left_out(encoder: Encoder, tmp_path: Path) -> None:
    encoder.encode(tiny.NAMES, cache=EmbeddingCache(tmp_path))
    (block,) = tmp_path.rglob("*.npy")
    whole = block.read_bytes()
    for broken in (
        whole[:-8],
        whole[:20],
        b"",
        b"nonsense",
        whole.replace(b"), }", b",   "),
        whole.replace(b"}", b" "),
    ):
        block.write_bytes(broken)
        ours, network = counted(encoder)
        with pytest.warns(UserWarning, match=r"\.npy: this block of the cache is damaged and not used"):
            vectors = ours.encode(tiny.NAMES[:3], cache=EmbeddingCache(tmp_path))
        assert network.names == 3
        assert np.allclose(vectors, encoder.encode(tiny.NAMES[:3]), atol=1e-3)
        for fresh in set(tmp_path.rglob("*.npy")) - {block}:
            fresh.unlink()


def test_a_cache_that_was_removed_is_filled_again(encoder: Encoder, tmp_path: Path, recwarn: Any) -> None:
    ours, network = counted(encoder)
    cache = EmbeddingCache(tmp_path)
    first = ours.encode(tiny.NAMES, cache=cache)
    for known in (0, 3):
        ours.encode(tiny.NAMES, cache=cache)
        shutil.rmtree(tmp_path / ours.fingerprint)
        encoder.encode(tiny.NAMES[:known], cache=EmbeddingCache(tmp_path))
        network.names = 0
        assert np.allclose(ours.encode(tiny.NAMES, cache=cache), first, atol=1e-3)
        assert network.names == len(tiny.NAMES) - known
    ours.encode(tiny.NAMES, cache=cache)
    assert network.names == len(tiny.NAMES) - known
    assert not recwarn.list


def test_only_vectors_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    blocks = [([f"{block}-{number}" for number in range(5)], random_vectors(5 + block)[:5]) for block in range(3)]
    written = []
    for names, vectors in blocks:
        EncoderCache(tmp_path, width=4).add(name_keys(names), vectors)
        written.append(next(path for path in tmp_path.iterdir() if path not in written))
    cache = EncoderCache(tmp_path, width=4)
    cache.refresh()
    before = [cache.places(name_keys(names)) for names, _ in blocks]
    written[1].rename(tmp_path / "away")
    with pytest.raises(StoreError, match="look up the names again"):
        cache.vectors(np.concatenate(before))
    assert (cache.places(name_keys(blocks[1][0])) == ABSENT).all()
    for at in (0, 2):
        # Another thread may have asked for the places before.
        assert (cache.places(name_keys(blocks[at][0])) == before[at]).all()
        assert (cache.vectors(before[at]) == blocks[at][1]).all()
    (tmp_path / "away").rename(written[1])
    cache.refresh()
    for names, vectors in blocks:
        assert (cache.vectors(cache.places(name_keys(names))) == vectors).all()


def test_what_a_killed_process_left_is_cleared(tmp_path: Path) -> None:
    left = tmp_path / f".0011.npy.999999999-aabb@{platform.node()}.partial"
    left.write_bytes(b"x")
    EncoderCache(tmp_path, width=4).add(name_keys(["a"]), random_vectors(1))
    assert not left.exists()


def test_threads_may_share_an_encoder_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(names: list[str], value: float) -> None:
        EncoderCache(tmp_path, width=4).add(name_keys(names), np.full((len(names), 4), value, np.float16))

    for block in range(3):
        add([f"{block}-{number}" for number in range(5)], block)
    cache, read, both = EncoderCache(tmp_path, width=4), EncoderCache._block, threading.Barrier(2)

    def slowly(self: EncoderCache, name: str) -> Any:
        # Both threads have seen what is there and taken up nothing, unless the one waits for the other.
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return read(self, name)

    monkeypatch.setattr(EncoderCache, "_block", slowly)
    threads = [threading.Thread(target=cache.refresh) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert len(cache) == 15
    later = [[f"{value} {number}" for number in range(20)] for value in (9, 10)]
    for names, value in zip(later, (9, 10), strict=True):
        add(names, value)
        cache.refresh()
    for names, value in zip(later, (9, 10), strict=True):
        assert (cache.vectors(cache.places(name_keys(names))) == value).all()


def test_vectors_of_unknown_names_that_were_kept_by_earlier_versions_are_not_used(
    encoder: Encoder, tmp_path: Path
) -> None:
    parts = {
        "weights": encoder.network.digest(),
        "tokenizer": hashlib.sha256(encoder._tokenizer.to_str().encode()).hexdigest(),
        "settings": encoder.settings.to_dict(),
        "precision": "float",
    }
    folder = tmp_path / hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    EncoderCache(folder, width=encoder.width).add(name_keys(["🫀"]), np.ones((1, encoder.width), np.float16))
    assert not encoder.encode(["🫀"], cache=EmbeddingCache(tmp_path)).any()


def test_a_cache_that_cannot_be_written_is_said_once_and_done_without(encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = EmbeddingCache(tmp_path / "file")
    with pytest.warns(UserWarning, match=r"file.*; set NYMLINK_CACHE to use another folder"):
        found = encoder.encode(["x"], cache=cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.encode(["y"], cache=cache)
    assert (found == encoder.encode(["x"], cache=EmbeddingCache(tmp_path / "vectors"))).all()


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "no space left on the disk")


def test_a_cache_that_cannot_be_written_is_read(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: Any
) -> None:
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path))
    encoder.encode(["x"], cache=EmbeddingCache.of_user())
    # Whom permissions bind depends on the user: any block that is written fails here.
    monkeypatch.setattr("nymlink.encode.vector_cache.np.save", full)
    ours, network = counted(encoder)
    ours.encode(["x"], cache=EmbeddingCache.of_user())
    assert network.names == 0
    assert not recwarn.list
    with pytest.warns(UserWarning, match="vectors are not kept"):
        ours.encode(["x", "y"], cache=EmbeddingCache.of_user())
    assert network.names == 1


def test_a_cache_of_another_user_is_done_without(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    # Whom permissions bind depends on the user.
    monkeypatch.setattr("nymlink.encode.vector_cache.Path.glob", denied)
    monkeypatch.setattr("nymlink.encode.vector_cache.Path.mkdir", denied)
    with pytest.warns(UserWarning, match="vectors are not kept .*Permission denied"):
        assert encoder.encode(["x"], cache=EmbeddingCache(tmp_path)).any()


def test_many_processes_may_write_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from nymlink.encode.vector_cache import name_keys\n"
        "from nymlink.encode.vector_cache import EncoderCache\n"
        "cache = EncoderCache(Path(sys.argv[1]), width=4)\n"
        "for block in range(20):\n"
        "    names = [f'{sys.argv[2]} {block} {number}' for number in range(10)]\n"
        "    cache.add(name_keys(names), np.full((10, 4), block, np.float16))\n"
        "    cache.refresh()\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(number)]) for number in range(2)]
    assert [process.wait() for process in started] == [0, 0]
    cache = EncoderCache(tmp_path, width=4)
    cache.refresh()
    assert len(cache) == 400
    places = cache.places(name_keys([f"{number} {block} 3" for number in range(2) for block in range(20)]))
    assert cache.vectors(places)[:, 0].tolist() == [*range(20), *range(20)]


def test_flipped_bits_are_noticed_and_give_no_other_vector(tmp_path: Path) -> None:
    keys, vectors = name_keys([f"name {number}" for number in range(6)]), random_vectors(6)
    EncoderCache(tmp_path, width=4).add(keys, vectors)
    (block,) = tmp_path.glob("*.npy")
    whole = block.read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        block.write_bytes(data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            cache = EncoderCache(tmp_path, width=4)
            cache.refresh()
            places = cache.places(keys)
            kept = places != ABSENT
            try:
                assert (cache.vectors(places[kept]) == vectors[kept]).all()
            except StoreError:
                assert (cache.places(keys) == ABSENT).all()
                assert "is damaged and not used" in str(told[0].message)
        # Blanks of the header are no part of any vector.
        if bit >= 8 * 128:
            assert told
            with pytest.raises(StoreError, match=r"block of the cache is damaged .*: remove it"):
                check_block(block)
    block.write_bytes(whole)
    check_block(block)


def test_blocks_without_a_digest_are_encoded_again_and_told_of_once(encoder: Encoder, tmp_path: Path) -> None:
    for names in (tiny.NAMES[:2], tiny.NAMES[2:4]):
        encoder.encode(names, cache=EmbeddingCache(tmp_path))
    for block in tmp_path.rglob("*.npy"):
        np.save(block, np.load(block)[:-8])
    ours, network = counted(encoder)
    with pytest.warns(UserWarning, match="that an older nymlink kept have no digests") as told:
        vectors = ours.encode(tiny.NAMES[:4], cache=EmbeddingCache(tmp_path))
    assert (len(told), network.names) == (1, 4)
    assert np.allclose(vectors, encoder.encode(tiny.NAMES[:4]), atol=1e-3)


def test_known_vectors_come_before_the_folder(tmp_path: Path) -> None:
    names = ["heart attack", "gout", "no known token"]
    vectors = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[2] = 0
    for path in (tmp_path / "one.npz", tmp_path / "two.npz"):
        KnownVectors.of("f" * 64, names, vectors).save(path)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    known = KnownVectors.load(tmp_path / "one.npz")
    assert known is not None
    assert KnownVectors.load(tmp_path / "none.npz") is None
    found = np.zeros((4, 64), np.float32)
    assert known.fill([*names, "asthma"], found).tolist() == [True, True, False, False]
    assert ((found * [*vectors, vectors[0]]).sum(axis=1)[:2] > 0.98).all()
    alone = np.zeros((1, 64), np.float32)
    known.fill(["gout"], alone)
    # The vector of a name does not depend on the names beside it.
    assert (alone[0] == found[1]).all()
    cache = EmbeddingCache(tmp_path / "cache", known)
    assert cache.known_to("f" * 64) is known
    assert cache.known_to("0" * 64) is None
    (tmp_path / "one.npz").write_bytes((tmp_path / "one.npz").read_bytes()[:-40])
    with pytest.raises(StoreError, match="damaged"):
        KnownVectors.load(tmp_path / "one.npz")
