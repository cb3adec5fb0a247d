"""Stores that are servers: stopped uploads, servers that are down, slow, or hold something else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError, MissingExtraError, StoreError, StoreUnavailableError
from nymlink.core.store.manifest import write_manifest
from nymlink.encode.encoder import Encoder
from nymlink.index.dense.exact import nearest
from nymlink.index.index import Index
from nymlink.index.stores import postgres as postgres_module
from nymlink.index.stores.server import TIMEOUT_VARIABLE, ServerStore
from nymlink.index.stores.servers import upload
from nymlink.index.stores.vector_store import URL_VARIABLE, StoreAddress
from tests.index.dense_samples import QUERIES, VOCABULARY, assert_same
from tests.index.stores.conftest import contents
from tests.index.stores.test_conformance import drawn


def uploaded(url: str, *, seed: int, count: int = 300) -> ServerStore:
    return upload(StoreAddress.of(url), drawn(count, seed).astype(np.float16), "exact", progress=False)


@contextmanager
def connected(url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def change_store(directory: Path, **changes: str) -> None:
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"]["store"] |= changes
    write_manifest(directory, manifest)


def test_vectors_of_another_index_are_refused(server: str, encoder: Encoder, tmp_path: Path) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, store=server)
    other = uploaded(server, seed=11)
    change_store(tmp_path / "i", name=other.content.name)
    opened = Index.load(tmp_path / "i", encoder=encoder)
    with pytest.raises(StoreError, match=r"another index in nymlink_\w+: build the index again"):
        opened.match(QUERIES, 3)
    change_store(tmp_path / "i", name="nymlink_gone")
    with pytest.raises(StoreError, match=r"has no nymlink_gone, the vectors of this index: build"):
        Index.load(tmp_path / "i", encoder=encoder).match(QUERIES, 3)
    for wrong in ({"name": "pg_class; --"}, {"fingerprint": "?"}, {"url": "somewhere"}):
        manifest = (tmp_path / "i/manifest.json").read_text(encoding="utf-8")
        change_store(tmp_path / "i", **wrong)
        with pytest.raises(StoreError, match="the index is damaged"):
            Index.load(tmp_path / "i", encoder=encoder)
        (tmp_path / "i/manifest.json").write_text(manifest, encoding="utf-8")


def test_vectors_that_were_changed_where_they_are_must_be_removed_there(postgres: str) -> None:
    store = uploaded(postgres, seed=21)
    name = store.content.name
    with connected(postgres) as other:
        described = json.dumps({"fingerprint": "0" * 32, "count": 300, "width": store.content.width})
        other.execute(f"COMMENT ON TABLE {name} IS '{described}'")
        remove = f"in {name}: remove that there, and build the index again"
        with pytest.raises(StoreError, match=remove):
            uploaded(postgres, seed=21)
        with pytest.raises(StoreError, match=remove):
            store.search(drawn(1), 3)
        other.execute(f"DROP TABLE {name}")
    assert (uploaded(postgres, seed=21).search(drawn(1), 300) >= 0).all()


KILLED = """
import os, sys
import numpy as np
from nymlink.index.stores import milvus, postgres
from nymlink.index.stores.vector_store import StoreAddress
from nymlink.index.stores.servers import upload

class Killing(np.ndarray):
    def astype(self, *arguments, **settings):
        if self.base is not None and len(self) == 64 and (self[0] == DYING).all():
            os.kill(os.getpid(), 9)
        return np.asarray(self).astype(*arguments, **settings)

vectors = np.load(sys.argv[2])
DYING = vectors[192]
postgres._COPIED = milvus._INSERTED = 64
upload(StoreAddress.of(sys.argv[1]), vectors.view(Killing), "exact", progress=False)
"""


def test_an_upload_that_was_killed_is_finished(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = drawn(320, seed=12).astype(np.float16)
    np.save(tmp_path / "vectors.npy", vectors)
    if server.endswith(".db"):
        # Another process cannot open the file that this one has.
        server = str(tmp_path / "other.db")
    killed = subprocess.run([sys.executable, "-c", KILLED, server, tmp_path / "vectors.npy"], check=False)
    assert killed.returncode == -signal.SIGKILL
    copied: list[int] = []
    copy = postgres_module._copy
    monkeypatch.setattr(postgres_module, "_COPIED", 64)
    monkeypatch.setattr(postgres_module, "_copy", lambda *given: (copied.append(given[2]), copy(*given)))
    store = upload(StoreAddress.of(server), vectors, "exact", progress=False)
    queries = drawn(20, seed=13)
    np.testing.assert_array_equal(store.search(queries, 10), nearest(queries, vectors, 10).rows)
    assert copied == ([] if server.endswith(".db") else [192, 256])


def test_a_file_that_another_process_has_open(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("milvus_lite")
    url = str(tmp_path / "own.db")
    holding = f"from pymilvus import MilvusClient; MilvusClient({url!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(
            StoreError, match=r"own\.db cannot be opened .*: if another process has it open, end that"
        ):
            uploaded(url, seed=20)
        other.communicate("\n")
    assert "Traceback" not in capfd.readouterr().err


def test_vectors_that_are_there_are_not_copied_again(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = uploaded(server, seed=14)
    monkeypatch.setattr(postgres_module, "_copy", None)
    monkeypatch.setattr("nymlink.index.stores.milvus.MilvusStore._create", None)
    assert uploaded(server, seed=14).to_dict() == first.to_dict()


def test_two_builds_at_once(postgres: str) -> None:
    with ThreadPoolExecutor(4) as builders:
        stores = list(builders.map(lambda _: uploaded(postgres, seed=15), range(4)))
    for store in stores:
        assert sorted(store.search(drawn(1), 300)[0].tolist()) == list(range(300))


def test_a_store_that_is_down(closed_port: int, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.index.stores.milvus.CONNECT_SECONDS", 1)
    # Nothing is encoded for a store that is not there.
    monkeypatch.setattr(encoder, "encode", None)
    for package, url in (("psycopg", "postgresql://me:s3cret@{}/terms"), ("pymilvus", "http://me:s3cret@{}")):
        pytest.importorskip(package)
        with pytest.raises(StoreUnavailableError, match=r"cannot be reached .*: start it, or say where") as caught:
            Index.build(VOCABULARY, encoder=encoder, store=url.format(f"127.0.0.1:{closed_port}"))
        assert "s3cret" not in str(caught.value)
        assert str(closed_port) in str(caught.value)


def test_a_server_that_accepts_and_says_nothing(
    silent_port: int, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nymlink.index.stores.milvus.CONNECT_SECONDS", 1)
    for package, url in (("psycopg", "postgresql://{}/terms?connect_timeout=2"), ("pymilvus", "http://{}")):
        pytest.importorskip(package)
        with pytest.raises(StoreUnavailableError, match=r"cannot be reached|did not answer"):
            Index.build(VOCABULARY, encoder=encoder, store=url.format(f"127.0.0.1:{silent_port}"))


def test_a_slow_store(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = uploaded(postgres, seed=16)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.2")
    expected = store.search(drawn(1), 3)
    with connected(postgres) as other, other.transaction():
        other.execute(f"LOCK TABLE {store.content.name}")
        with pytest.raises(
            StoreError, match=r"did not answer within 0\.2 seconds: wait longer with NYMLINK_STORE_T"
        ):
            store.search(drawn(1), 3)
    np.testing.assert_array_equal(store.search(drawn(1), 3), expected)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "soon")
    with pytest.raises(InputError, match="NYMLINK_STORE_TIMEOUT is 'soon'"):
        store.search(drawn(1), 3)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signals that stop a process")
def test_a_server_that_stands_still(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = uploaded(postgres, seed=17)
    expected = store.search(drawn(1), 3)
    (connection,) = store._idle  # type: ignore[attr-defined]
    process = connection.info.backend_pid
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.1")
    monkeypatch.setattr(postgres_module, "deadline", _sooner(postgres_module.deadline))
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(StoreUnavailableError, match="did not answer within"):
            store.search(drawn(1), 3)
    finally:
        os.kill(process, signal.SIGCONT)
    monkeypatch.undo()
    np.testing.assert_array_equal(store.search(drawn(1), 3), expected)


def _sooner(deadline: Any) -> Any:
    return lambda descriptor, seconds: deadline(descriptor, seconds - 0.9)


def test_a_server_that_was_started_again(postgres: str) -> None:
    store = uploaded(postgres, seed=18)
    expected = store.search(drawn(1), 3)
    with connected(postgres) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'nymlink'")
    np.testing.assert_array_equal(store.search(drawn(1), 3), expected)


def test_a_password_comes_from_the_environment(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with connected(postgres) as admin:
        ((file,),) = admin.execute("SHOW hba_file").fetchall()
        text = Path(file).read_text(encoding="utf-8")
        admin.execute("CREATE ROLE reader LOGIN PASSWORD 's3cret'")
        try:
            Path(file).write_text(f"local all reader scram-sha-256\n{text}", encoding="utf-8")
            admin.execute("SELECT pg_reload_conf()")
            store = uploaded(postgres, seed=19)
            url = postgres.replace("postgres:@", "reader:@", 1)
            store.address = StoreAddress.of(url)
            with pytest.raises(
                StoreError, match=r"does not let nymlink in .*password.*: give the password in PGPASSWORD"
            ):
                store.search(drawn(1), 3)
            monkeypatch.setenv("PGPASSWORD", "s3cret")
            with pytest.raises(StoreError, match=r"does not let this user do that .*permission denied"):
                store.search(drawn(1), 3)
            admin.execute(f"GRANT SELECT ON {store.content.name} TO reader")
            assert (store.search(drawn(1), 3) >= 0).all()
        finally:
            Path(file).write_text(text, encoding="utf-8")
            admin.execute("DROP OWNED BY reader")
            admin.execute("DROP ROLE reader")
            admin.execute("SELECT pg_reload_conf()")


def test_credentials_are_nowhere_in_an_index(
    postgres: str, encoder: Encoder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres.replace("postgres:@", "postgres:s3cret@", 1)
    assert "s3cret" in url
    with caplog.at_level(0):
        built = Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, store=url)
        assert_same(built, Index.load(tmp_path / "i", encoder=encoder))
    assert b"s3cret" not in contents(tmp_path / "i")
    assert "s3cret" not in caplog.text + repr(built.settings) + repr(built._contents)
    assert built.settings["store"]["url"].startswith("postgresql://postgres@/")


def test_a_percent_sign_in_a_password_is_explained(encoder: Encoder) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="no URL of PostgreSQL") as caught:
        Index.build(VOCABULARY, encoder=encoder, store="postgresql://me:s3%zzcret@db/terms")
    assert "s3" not in str(caught.value)


def test_a_store_that_was_moved(
    milvus: str, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, store=milvus)
    expected = Index.load(tmp_path / "i", encoder=encoder)
    assert_same(expected, Index.build(VOCABULARY, encoder=encoder))
    change_store(tmp_path / "i", url=str(tmp_path / "gone.db"))
    with pytest.raises(StoreError, match=r"gone\.db is not there: say where it is now with NYMLINK_STORE_URL"):
        Index.load(tmp_path / "i", encoder=encoder).match(QUERIES, 3)
    assert not (tmp_path / "gone.db").exists()
    monkeypatch.setenv(URL_VARIABLE, milvus)
    assert_same(Index.load(tmp_path / "i", encoder=encoder), expected)


def test_a_store_on_another_machine_is_told_of(
    postgres: str, closed_port: int, encoder: Encoder, tmp_path: Path
) -> None:
    Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, store=postgres)
    change_store(tmp_path / "i", url=f"postgresql://127.0.0.2:{closed_port}/terms")
    # Opening it asks nobody.
    opened = Index.load(tmp_path / "i", encoder=encoder)
    with (
        pytest.warns(UserWarning, match=r"looks for vectors at postgresql://127\.0\.0\.2"),
        pytest.raises(StoreError),
    ):
        opened.match(QUERIES, 3)


def test_a_rebuilt_index_is_searched_here(postgres: str, encoder: Encoder) -> None:
    index = Index.build(VOCABULARY, encoder=encoder, store=postgres, dense="hnsw")
    rebuilt = index.rebuild(VOCABULARY)
    assert "store" not in rebuilt.settings
    assert_same(rebuilt, Index.build(VOCABULARY, encoder=encoder))


def test_what_no_store_does_is_refused_first(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "encode", None)
    with pytest.raises(InputError, match="stores do not search by ivf-pq: choose exact or hnsw"):
        Index.build(VOCABULARY, encoder=encoder, store="postgresql://db/terms", dense="ivf-pq")
    with pytest.raises(InputError, match="needs an encoder"):
        Index.build(VOCABULARY, encoder=None, store="postgresql://db/terms")
    for package, extra, url in (("psycopg", "postgres", "postgresql://db/x"), ("pymilvus", "milvus", "x.db")):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"pgvector.{package}", None)
        with pytest.raises(MissingExtraError, match=rf"nymlink\[{extra}\]"):
            Index.build(VOCABULARY, encoder=encoder, store=url)
