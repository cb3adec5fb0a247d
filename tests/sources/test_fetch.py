"""Fetching from servers that are slow, break off, change their mind, or send something else."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections import deque
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError, OutputError
from nymlink.core.problems import Problems
from nymlink.sources.downloader import RetryPolicy, Stamp
from nymlink.sources.fetch import Fetched, FetchOptions, fetch
from nymlink.sources.source import SIZES
from tests.sources.site import Clock, Handler, Site, Trouble, answers, breaks_after, chunked, claims, drips, stalls

OBO = "format-version: 1.2\n\n" + "".join(f"[Term]\nid: X:{n}\nname: name {n}\n\n" for n in range(100))
LONG = OBO + OBO[OBO.index("[Term]") :] * 100
NEWER = OBO.replace("name:", "name: newer")
HTML = b"<!DOCTYPE html>\n<html><title>Down for maintenance</title></html>"


def content(fetched: Fetched) -> str:
    return fetched.path.read_text(encoding="utf-8")


def left(options: FetchOptions) -> list[str]:
    """The files in the cache, but for those that only keep others out."""
    assert options.folder is not None
    return sorted(path.name for path in options.folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def refresh(options: FetchOptions) -> FetchOptions:
    return replace(options, refresh=True)


def offline(options: FetchOptions) -> FetchOptions:
    return replace(options, offline=True)


def test_a_file_is_fetched_once_and_remembered(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    fetched = fetch(source, options=options)
    assert content(fetched) == OBO
    assert fetched.sha256 == hashlib.sha256(OBO.encode()).hexdigest()
    assert fetched.url == source.url
    assert fetch(source, options=options) == fetched
    assert fetch(source, options=offline(options)) == fetched
    assert len(site.asked["/x.obo"]) == 1
    assert left(options) == ["x.obo", "x.obo.json"]
    record = json.loads(Path(f"{fetched.path}.json").read_text(encoding="utf-8"))
    assert (record["url"], record["sha256"], record["date"]) == (source.url, fetched.sha256, fetched.date)


def test_a_download_that_breaks_off_goes_on_where_it_was(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [breaks_after(1000), breaks_after(500)]
    assert content(fetch(source, options=options)) == OBO
    assert [asked.get("Range") for asked in site.asked["/x.obo"]] == [None, "bytes=1000-", "bytes=1500-"]
    assert left(options) == ["x.obo", "x.obo.json"]


@given(breaks=st.lists(st.integers(0, len(OBO)), max_size=6), ranges=st.booleans())
def test_wherever_it_breaks_off_the_file_is_whole(
    tmp_path_factory: pytest.TempPathFactory, breaks: list[int], ranges: bool
) -> None:
    site = Site(ranges=ranges)
    stop = site.start()
    try:
        retries = RetryPolicy(timeout=1, tries=len(breaks) + 1, pause=0)
        options = FetchOptions(folder=tmp_path_factory.mktemp("cache"), retries=retries)
        source = site.source("/x.obo", OBO)
        site.troubles["/x.obo"] += [breaks_after(count) for count in breaks]
        assert content(fetch(source, options=options)) == OBO
    finally:
        stop()


def test_what_has_come_is_kept_for_the_next_run(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [breaks_after(1000), breaks_after(0), breaks_after(0)]
    with pytest.raises(InputError, match="the part received is kept") as caught:
        fetch(source, options=options)
    assert caught.value.path == source.url
    assert left(options) == ["x.obo.part", "x.obo.part.json"]
    assert content(fetch(source, options=options)) == OBO
    assert site.asked["/x.obo"][-1]["Range"] == "bytes=1000-"


def test_a_killed_download_is_gone_on_with(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", LONG)
    site.troubles["/x.obo"].append(stalls())
    process = subprocess.Popen([sys.executable, "-c", FETCH, source.url, str(options.folder)])
    part = Path(str(options.folder), "x", "x.obo.part")
    while not part.exists() or part.stat().st_size < 20_000:
        assert process.poll() is None, "it should be busy fetching"
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert content(fetch(source, options=options)) == LONG
    assert int(site.asked["/x.obo"][-1]["Range"][6:-1]) >= 20_000


def test_a_file_that_changed_meanwhile_is_begun_anew(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    for heeds in (True, False):
        site.conditions = heeds
        site.files["/x.obo"] = OBO.encode()
        site.troubles["/x.obo"] += [breaks_after(1000)] * 3
        with pytest.raises(InputError):
            fetch(source, options=replace(options, retries=replace(options.retries, tries=1)))
        site.troubles["/x.obo"].clear()
        site.files["/x.obo"] = NEWER.encode()
        assert content(fetch(source, options=options)) == NEWER
        fetch(source, options=options).path.unlink()


def test_a_server_without_ranges_or_stamps_is_asked_for_all_of_it(site: Site, options: FetchOptions) -> None:
    for path, ranges, stamps in (("/a.obo", False, True), ("/b.obo", True, False)):
        site.ranges, site.stamps = ranges, stamps
        site.troubles[path].append(breaks_after(1000))
        assert content(fetch(site.source(path, OBO), options=options)) == OBO
    assert "Range" not in site.asked["/b.obo"][-1]


def test_a_server_that_goes_on_from_the_wrong_byte_is_asked_for_all_of_it(
    site: Site, options: FetchOptions
) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [breaks_after(1000), answers(206, OBO[900:].encode())]
    assert content(fetch(source, options=options)) == OBO
    assert [asked.get("Range") for asked in site.asked["/x.obo"]] == [None, "bytes=1000-", None]


def test_only_what_vouches_for_every_byte_lets_a_download_go_on() -> None:
    assert Stamp(etag='"a"', modified="Sat, 21 Nov 2026 12:00:00 GMT").strong == '"a"'
    assert Stamp(etag='W/"a"', modified="Sat, 21 Nov 2026 12:00:00 GMT").strong == "Sat, 21 Nov 2026 12:00:00 GMT"
    assert Stamp(etag='W/"a"').strong is None


def test_a_length_need_not_be_stated(site: Site, options: FetchOptions) -> None:
    site.troubles["/x.obo"] += [chunked(ends=True)]
    assert content(fetch(site.source("/x.obo", OBO), options=options)) == OBO
    assert len(site.asked["/x.obo"]) == 1
    site.ranges = False
    site.troubles["/y.obo"] += [chunked(ends=False), chunked(ends=True)]
    assert content(fetch(site.source("/y.obo", OBO), options=options)) == OBO
    assert len(site.asked["/y.obo"]) == 2


def test_a_part_longer_than_the_file_is_begun_anew(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [claims(len(OBO) + 100)]
    assert content(fetch(source, options=options)) == OBO
    assert len(site.asked["/x.obo"]) == 3


def test_passing_faults_are_tried_again_and_lasting_ones_are_not(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [answers(500), answers(503)]
    assert content(fetch(source, options=options)) == OBO
    site.troubles["/y.obo"] += [answers(503)] * 3
    with pytest.raises(InputError, match="answered 503 Service Unavailable, 3 times in a row: try again later"):
        fetch(site.source("/y.obo", OBO), options=options)
    site.troubles["/z.obo"] += [answers(304)]
    with pytest.raises(InputError, match="answered 304 Not Modified"):
        fetch(site.source("/z.obo", OBO), options=options)
    gone = replace(source, name="gone", url=f"{site.url}/gone.obo")
    with pytest.raises(InputError, match="answered 404 Not Found: has the file moved"):
        fetch(gone, options=options)
    assert len(site.asked["/gone.obo"]) == 1


def test_a_slow_server_is_waited_for(site: Site, options: FetchOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("nymlink.sources.downloader.time", clock)
    site.troubles["/slow.obo"].append(clock.send_in_turns(8))
    assert content(fetch(site.source("/slow.obo", OBO), options=options)) == OBO
    assert len(site.asked["/slow.obo"]) == 1


def test_a_silent_server_is_asked_again(site: Site, options: FetchOptions) -> None:
    options = replace(options, retries=RetryPolicy(timeout=0.5, tries=50, pause=0))
    site.troubles["/silent.obo"].append(stalls())
    assert content(fetch(site.source("/silent.obo", LONG), options=options)) == LONG
    assert "Range" in site.asked["/silent.obo"][-1]


def test_a_server_that_is_not_there_is_told_of(site: Site, options: FetchOptions) -> None:
    source = replace(site.source("/x.obo", OBO), url="http://127.0.0.1:1/x.obo")
    with pytest.raises(InputError, match=r"the connection failed .*Connection refused"):
        fetch(source, options=options)


def test_a_connection_that_is_not_safe_is_refused(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    with pytest.raises(InputError, match="no secure connection"):
        fetch(replace(source, url=source.url.replace("http:", "https:")), options=options)


@pytest.mark.parametrize(
    ("sent", "format", "message"),
    [
        (HTML, "obo", "this is an HTML page, not the file itself"),
        (b"id,name\nX:1,one\n", "obo", "is not in the format obo: it begins 'id,name X:1,one'"),
        (OBO.encode(), "sssom", "is not in the format sssom: it begins 'format-version"),
        (b"", "obo", "an empty file"),
        (b" \n", "obo", "an empty file"),
        (gzip.compress(OBO.encode())[:-20], "obo", r"damaged \(the compressed file is truncated"),
        (b"\0" * 500, "obo", "is not in the format obo"),
    ],
)
def test_a_wrong_file_never_enters_the_cache(
    site: Site, options: FetchOptions, sent: bytes, format: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fetch(site.source("/x.obo", sent, format=format), options=options)
    assert caught.value.path == f"{site.url}/x.obo"
    assert left(options) == []
    assert content(fetch(site.source("/x.obo", OBO), options=options)) == OBO


def test_compressed_files_stay_as_they_are(site: Site, options: FetchOptions) -> None:
    packed = gzip.compress(OBO.encode())
    site.troubles["/x.obo.gz"].append(answers(200, packed, **{"Content-Encoding": "gzip"}))
    assert fetch(site.source("/x.obo.gz", packed), options=options).path.read_bytes() == packed
    assert site.asked["/x.obo.gz"][0]["Accept-Encoding"] == "identity"


def test_redirects_lead_to_web_addresses_only(site: Site, options: FetchOptions) -> None:
    site.files["/there.obo"] = OBO.encode()
    moved = site.source("/moved.obo", b"")
    site.troubles["/moved.obo"].append(answers(302, Location=f"{site.url}/there.obo"))
    assert content(fetch(moved, options=options)) == OBO
    for place in ("file:///etc/passwd", "http://[", "http://\xff\xfe/"):
        site.troubles["/wild.obo"].append(answers(302, Location=place))
        with pytest.raises(InputError, match="cannot be downloaded"):
            fetch(site.source("/wild.obo", b""), options=options)


def endless(status: int, **headers: str) -> Trouble:
    """Send zeros until the client goes away."""

    def trouble(handler: Handler) -> None:
        handler.head(status, None, **headers)
        for _ in range(100_000):
            handler.wfile.write(bytes(100_000))

    return trouble


def test_bodies_of_redirects_are_not_read(site: Site, options: FetchOptions) -> None:
    site.files["/there.obo"] = OBO.encode()
    site.troubles["/x.obo"].append(endless(302, Location="there.obo"))
    assert content(fetch(site.source("/x.obo", b""), options=options)) == OBO


def test_redirects_come_to_an_end(site: Site, options: FetchOptions) -> None:
    site.troubles["/round.obo"] += [answers(302, Location="/round.obo")] * 100
    with pytest.raises(InputError, match="redirects more than 10 times"):
        fetch(site.source("/round.obo", b""), options=options)
    assert len(site.asked["/round.obo"]) == 11


def test_a_server_cannot_fill_the_disk(site: Site, options: FetchOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES, "small", 10_000)
    for name, trouble in (("claims", claims(10**12)), ("sends", endless(200))):
        site.troubles[f"/{name}.obo"] += [trouble] * 3
        with pytest.raises(InputError, match="more than 100,000 bytes, the limit"):
            fetch(site.source(f"/{name}.obo", OBO), options=options)
        assert len(site.asked[f"/{name}.obo"]) == 1
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.obo", bytes(3_000_000))
    with pytest.raises(InputError, match=r"x\.obo in the archive has more than 2,000,000 bytes"):
        fetch(site.source("/x.zip", packed.getvalue(), member="x.obo"), options=options)
    assert left(options) == []


def test_a_server_that_drips_is_given_up(
    site: Site, options: FetchOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("nymlink.sources.downloader.time", clock)
    site.troubles["/x.obo"] += [clock.send_in_turns(len(OBO))] * 10
    with pytest.raises(InputError, match=r"sent only [3-5] bytes in 6 s, 3 times in a row"):
        fetch(site.source("/x.obo", OBO), options=options)
    assert len(site.asked["/x.obo"]) == 3


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1"])
def test_a_length_that_is_none_is_not_believed(site: Site, options: FetchOptions, length: str) -> None:
    def states_it(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(OBO.encode())
        handler.close_connection = True

    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [states_it] * 3
    assert content(fetch(source, options=options)) == OBO


def test_a_pinned_digest_is_kept_to(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    pinned = replace(source, sha256=hashlib.sha256(NEWER.encode()).hexdigest())
    fetch(source, options=options)
    with pytest.raises(InputError, match="another file than expected"):
        fetch(pinned, options=options)
    site.files["/x.obo"] = NEWER.encode()
    assert content(fetch(pinned, options=options)) == NEWER


@pytest.mark.parametrize("record", ["[" * 100_000, "[]", "1" * 100_000, '{"url": 5}'])
@pytest.mark.parametrize("suffix", [".json", ".part.json"])
def test_a_record_of_somebody_else_is_not_believed(
    site: Site, options: FetchOptions, record: str, suffix: str
) -> None:
    source = site.source("/x.obo", OBO)
    path = fetch(source, options=options).path
    path.with_name(path.name + ".part").write_text("another file", encoding="utf-8")
    path.with_name(path.name + suffix).write_text(record, encoding="utf-8")
    assert content(fetch(source, options=options)) == OBO


def test_messages_of_a_server_are_shown_in_short(site: Site, options: FetchOptions) -> None:
    def sends_no_http(handler: Handler) -> None:
        handler.wfile.write(b"\0\xff\x1b[31m" * 5000)

    site.troubles["/x.obo"] += [sends_no_http] * 3
    with pytest.raises(InputError, match="connection failed") as caught:
        fetch(site.source("/x.obo", OBO), options=options)
    assert len(str(caught.value)) < 2000
    assert str(caught.value).isprintable()


def test_a_cached_file_that_changed_is_fetched_again(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    path = fetch(source, options=options).path
    path.write_text(OBO + "[Term]\n", encoding="utf-8")
    with pytest.raises(InputError, match="the file has changed since it was downloaded: run once without"):
        fetch(source, options=offline(options))
    assert content(fetch(source, options=options)) == OBO
    for damaged in ("", "{}", "[]", '{"stamp": 1}'):
        Path(f"{path}.json").write_text(damaged, encoding="utf-8")
        assert content(fetch(source, options=options)) == OBO
    assert len(site.asked["/x.obo"]) == 6


def test_a_source_that_moved_is_fetched_from_its_new_place(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    fetch(source, options=options)
    site.files["/new/x.obo"] = NEWER.encode()
    assert content(fetch(replace(source, url=f"{site.url}/new/x.obo"), options=options)) == NEWER


def test_offline_nothing_is_asked_for(site: Site, options: FetchOptions) -> None:
    with pytest.raises(InputError, match=r"^x: not in the cache: run once without --offline"):
        fetch(site.source("/x.obo", OBO), options=offline(options))
    assert not site.asked


def test_on_request_servers_are_asked_for_something_newer(site: Site, options: FetchOptions) -> None:
    source, problems = site.source("/x.obo", OBO), Problems()
    first = fetch(source, options=options)
    assert fetch(source, options=refresh(options)) == first
    assert site.asked["/x.obo"][-1]["If-None-Match"] == first.stamp.etag
    site.files["/x.obo"] = NEWER.encode()
    assert content(fetch(source, options=options)) == OBO
    assert content(fetch(source, options=refresh(options), problems=problems)) == NEWER
    assert problems.count == 0


@pytest.mark.parametrize("trouble", [answers(404), answers(200, HTML)])
def test_where_nothing_newer_can_be_had_the_old_file_is_used(
    site: Site, options: FetchOptions, trouble: object
) -> None:
    source, problems = site.source("/x.obo", OBO), Problems()
    first = fetch(source, options=options)
    site.troubles["/x.obo"] = deque([trouble])
    assert fetch(source, options=refresh(options), problems=problems) == first
    assert content(first) == OBO
    assert (problems.repaired, problems.rejected) == (1, 0)
    assert f"The copy of {first.date} is used" in problems.first[0].message


def test_a_file_is_taken_out_of_its_archive(site: Site, options: FetchOptions) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("release/about.txt", "about")
        files.writestr("release/x.obo", OBO)
    packed = archive.getvalue()
    source = site.source("/x.zip", packed, member="x.obo")
    site.troubles["/x.zip"].append(breaks_after(len(packed) // 2))
    assert content(fetch(source, options=options)) == OBO
    assert left(options) == ["x.obo", "x.obo.json"]
    with pytest.raises(InputError, match=r"holds no y\.obo, but: release/about\.txt, release/x\.obo"):
        fetch(replace(source, name="y", member="y.obo"), options=options)
    for name, sent in (("page", HTML), ("bad", packed[:60] + b"\xff" * 60 + packed[120:])):
        with pytest.raises(InputError, match="not a ZIP archive, or a damaged one"):
            fetch(site.source(f"/{name}.zip", sent, member="x.obo"), options=options)


FETCH = """
import resource, signal, sys
from pathlib import Path
from nymlink.core.errors import NymlinkError
from nymlink.sources.fetch import FetchOptions, fetch
from nymlink.sources.source import PublishedSource
url, folder, *limit = sys.argv[1:]
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
about = dict(title="", format="obo", licence="", open=True, citation="", size="small")
source = PublishedSource(name="x", url=url, **about)
try:
    print(fetch(source, options=FetchOptions(folder=Path(folder))).sha256)
except NymlinkError as error:
    print(type(error).__name__, error)
"""


def test_several_at_once_fetch_it_once(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    site.troubles["/x.obo"] += [drips(5, 0.1)] * 9
    command = [sys.executable, "-c", FETCH, source.url, str(options.folder)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    threads = [Thread(target=fetch, args=(source,), kwargs={"options": options}) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    digest = hashlib.sha256(OBO.encode()).hexdigest()
    assert [process.communicate()[0].strip() for process in processes] == [digest] * 2
    assert len(site.asked["/x.obo"]) == 1


def test_a_full_disk_costs_nothing_that_is_there(site: Site, options: FetchOptions) -> None:
    source = site.source("/x.obo", OBO)
    command = [sys.executable, "-c", FETCH, source.url, str(options.folder), "1000"]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert said.stdout.startswith("OutputError"), said
    assert (said.stderr, left(options)) == ("", ["x.obo.part", "x.obo.part.json"])
    assert content(fetch(source, options=options)) == OBO
    assert site.asked["/x.obo"][-1]["Range"] == "bytes=1000-"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_told_of(site: Site, options: FetchOptions, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot write"):
        fetch(site.source("/x.obo", OBO), options=options)


def test_a_file_in_the_way_of_the_cache_is_told_of(site: Site, options: FetchOptions, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        fetch(site.source("/x.obo", OBO), options=options)
