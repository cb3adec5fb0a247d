"""Send requests of hostile clients: each kind of request goes to every route that it may concern."""

from __future__ import annotations

import gzip
import io
import json
import re
import statistics
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import TOKEN, Hosted, parsed, row

_KEY: Final = ("Authorization", f"Bearer {TOKEN}")
_PATHS: Final = {"project": "a", "name": "a", "index": "toy", "concept_id": "T:3", "what": "entity", "term": "1"}
_SLOW: Final = 5.0
"""Seconds after which a request counts as fallen."""
_MARK: Final = "Roe-1950"


def run(folder: Path, *, long: bool) -> list[Row]:
    """Try all kinds.

    Args:
        folder: an empty folder.
        long: whether times are compared more often.
    """
    token_file = folder / "tokens"
    token_file.write_text(f"{TOKEN}\n", encoding="utf-8")
    with Hosted(folder, "--token-file", str(token_file)) as server:
        server.ask("POST", "/projects", {"name": "a"}, headers=[_KEY])
        table = [_KEY, ("X-File-Name", "a.csv")]
        server.ask("POST", "/projects/a/files", b"term\nheart attack\nseizure\n", headers=table)
        rows = [
            _tokens(server),
            _timing(server, 2000 if long else 300),
            _origins(server),
            _forgery(server),
            _hosts(server),
            _traversal(server),
            _injection(server),
            _json(server),
            _smuggling(server),
            _packed(server),
        ]
        well = server.is_well()
        rows.append(row("the server answers after all that", 1, [] if well else ["it does not"]))
        said = server.log.read_text(encoding="utf-8", errors="replace")
    found = [mark for mark in (TOKEN, _MARK, "Traceback") if mark in said]
    rows.append(row("tokens, texts and tracebacks in the log", len(said.splitlines()), found, "lines searched"))
    return rows


def _routes(server: Hosted) -> list[tuple[str, str]]:
    """List the methods and paths of all routes, pages too, with something for each name in braces."""
    api = server.ask("GET", "/openapi.json", headers=[_KEY]).json
    described = [(method.upper(), path) for path, methods in api["paths"].items() for method in methods]
    filled = [(how, re.sub(r"{(\w+)(:path)?}", lambda each: _PATHS[each[1]], path)) for how, path in described]
    pages = ("/", "/names", "/table", "/table/a", "/docs", "/concept/toy/T:3", "/metrics", "/openapi.json")
    return list(dict.fromkeys([*filled, *(("GET", page) for page in pages), ("POST", "/session")]))


def _tokens(server: Hosted) -> Row:
    """No route but the open ones answers without the token in its header, or the cookie of a page."""
    wrong: list[list[tuple[str, str]]] = [
        [],
        [("Authorization", f"Bearer {TOKEN[:-1]}")],
        [("Authorization", f"Bearer {TOKEN}x")],
        [("Authorization", TOKEN)],
        [("Authorization", f"Basic {TOKEN}")],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer \x00")],
        [("Cookie", "nymlink_token=x")],
        [("Cookie", f"nymlink_token2={TOKEN}")],
        [("X-Forwarded-For", "127.0.0.1"), ("X-Original-URL", "/health")],
    ]
    in_address = [f"?token={TOKEN}", f"?access_token={TOKEN}", f"?authorization=Bearer%20{TOKEN}", f"#{TOKEN}"]
    tried, fallen = 0, []
    for method, path in _routes(server):
        if path in ("/health", "/reconcile/a", "/reconcile/a/1.0-draft"):
            continue
        for headers in wrong:
            tried += 1
            if server.ask(method, path, headers=headers).status not in (400, 401):
                fallen.append((method, path, headers))
        for address in in_address:
            tried += 1
            if server.ask(method, path + address).status not in (400, 401):
                fallen.append((method, path + address))
    for path in ("/health/../metrics", "/static/../metrics", "//metrics", "/static/%2e%2e/metrics", "/HEALTH"):
        tried += 1
        if server.ask("GET", path).status == 200:
            fallen.append(("GET", path))
    return row("requests without the token, or with it in the address", tried, fallen)


def _timing(server: Hosted, times: int) -> Row:
    """A wrong token takes as long to refuse, however much of it is right."""
    took: dict[str, list[float]] = {"x" * len(TOKEN): [], f"{TOKEN[:-1]}x": []}
    for _ in range(times):
        for token, seconds in took.items():
            start = time.perf_counter()
            server.ask("GET", "/metrics", headers=[("Authorization", f"Bearer {token}")])
            seconds.append(time.perf_counter() - start)
    nothing, nearly = (statistics.median(seconds) for seconds in took.values())
    spread = statistics.median(abs(each - nothing) for each in took["x" * len(TOKEN)])
    fallen = [f"{1e6 * (nearly - nothing):.0f} µs"] if abs(nearly - nothing) > spread else []
    note = f"medians differ by {1e6 * abs(nearly - nothing):.0f} µs, requests by {1e6 * spread:.0f}"
    return row("time to refuse a token", 2 * times, fallen, note)


def _origins(server: Hosted) -> Row:
    """No page of another site may read an answer, but of reconciliation."""
    tried, fallen = 0, []
    for method, path in _routes(server):
        for origin in ("null", "http://127.0.0.1.rebound.example", "https://a.example", "http://127.0.0.1:1", "*"):
            asked = [_KEY, ("Origin", origin)]
            preflight = [("Origin", origin), ("Access-Control-Request-Method", method)]
            for headers, sent in ((asked, method), (preflight, "OPTIONS")):
                tried += 1
                allowed = server.ask(sent, path, headers=headers).headers.get("access-control-allow-origin")
                if allowed is not None and not path.startswith("/reconcile/"):
                    fallen.append((sent, path, origin))
    return row("other sites that read answers (Origin null, and so on)", tried, fallen)


def _forgery(server: Hosted) -> Row:
    """Nothing that a page of another site can send without asking changes anything, in old browsers too."""
    bodies = (
        ("application/x-www-form-urlencoded", b"name=forged&reviewer=forged"),
        ("text/plain", b'{"name": "forged", "reviewer": "forged"}'),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nforged\r\n--b--',
        ),
    )
    sites = (
        [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://a.example")],
        [("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:1")],
        [("Origin", "https://a.example")],
        [("Origin", "null")],
    )
    changing = [path for method, path in _routes(server) if method == "POST" and path.startswith("/projects")]
    tried, fallen = 0, []
    for path in changing:
        for kind, body in bodies:
            for site in sites:
                tried += 1
                answer = server.ask("POST", path, body, headers=[_KEY, ("Content-Type", kind), *site])
                if answer.status < 400:
                    fallen.append((path, kind, site))
    return row("requests of other sites that change something (form, text/plain)", tried, fallen)


def _hosts(server: Hosted) -> Row:
    """Only the server's own names are answered to."""
    names = (
        *(
            "rebound.example",
            "localhost.rebound.example",
            "127.0.0.1.rebound.example",
            "localhost@rebound.example",
        ),
        *("rebound.example#localhost", "rebound.example/localhost", "localhost:80@rebound.example", "0.0.0.0"),
        *("2130706433", "0x7f.1", "[::1].rebound.example", "[::ffff:10.0.0.1]", "localhost\\.rebound.example"),
        *("rebound@localhost", "localhost:80:80", "localhost:x", "localhost,rebound.example", "локалхост", ""),
    )
    tried, fallen = 0, []
    for name in names:
        for headers in ([("Host", name)], [("Host", name), ("X-Forwarded-Host", "localhost")]):
            tried += 1
            if server.ask("GET", "/health", headers=headers).status == 200:
                fallen.append(headers)
    for head in (
        "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example",
        "GET /health HTTP/1.1\r\nHost: rebound.example\r\nHost: localhost",
        "GET http://rebound.example/health HTTP/1.1\r\nHost: rebound.example",
    ):
        tried += 1
        if parsed(server.raw(f"{head}\r\nConnection: close\r\n\r\n".encode())).status == 200:
            fallen.append(head)
    return row("other names of the server (Host)", tried, fallen)


_OUT: Final = (
    *("../tokens", "..%2ftokens", "%2e%2e/tokens", "%2e%2e%2ftokens", "..%5ctokens", "....//tokens"),
    *("%252e%252e%252ftokens", "%c0%ae%c0%ae/tokens", "%ef%bc%8e%ef%bc%8e%ef%bc%8ftokens", "..%00/tokens"),
    *("/etc/passwd", "%2fetc%2fpasswd", "file:%2f%2f%2fetc%2fpasswd", "~root", "$HOME", "%24%7bHOME%7d"),
    *("CON", "nul.nymlink", "aux.csv", "COM1", "a:stream", "%5c%5chost%5cshare", "a%00", "%00", "a%0a"),
    *(".", "..", "%20", "%e2%80%ae", "%ff%fe", "x" * 5000),
)
_NAMED: Final = (
    *("/static/*", "/table/*", "/projects/*", "/projects/*/terms", "/projects/*/export?format=csv", "/*"),
    *("/projects/*/names", "/projects/*/changes", "/projects/a/export?format=*", "/concepts/*"),
    *("/concept/*/T:3", "/reconcile/*", "/reconcile/toy/preview?id=*", "/search?q=a&index=*"),
)


def _traversal(server: Hosted) -> Row:
    """No name of a project, an index, a page or a file leads out of its folder, or fails the server."""
    tried, fallen = 0, []
    before = {path.name for path in server.folder.iterdir()}
    for name in _OUT:
        asked: list[tuple[str, str, object]] = [
            *(("GET", place.replace("*", name), b"") for place in _NAMED),
            ("POST", "/link", {"mentions": ["a"], "index": name}),
            ("POST", "/projects", {"name": f"../{name}"}),
            ("POST", "/projects", {"name": "b", "index": name}),
            ("POST", "/projects/a/rebase", {"index": name}),
        ]
        for method, path, body in asked:
            tried += 1
            answer = server.ask(method, path, body, headers=[_KEY])
            if (
                answer.status == 0
                or answer.status >= 500
                or TOKEN.encode() in answer.body
                or b"root:" in answer.body
            ):
                fallen.append((method, path, answer.status))
        tried += 1
        answer = server.ask("POST", "/projects/preview", b"term\na\n", headers=[_KEY, ("X-File-Name", name)])
        if answer.status >= 500 or (answer.status == 200 and "/" in str(answer.json.get("name", ""))):
            fallen.append(("X-File-Name", name))
    fallen += [f"made {name}" for name in {path.name for path in server.folder.iterdir()} - before]
    return row("names that lead out of a folder (encoded, Unicode, NUL, devices)", tried, fallen)


def _injection(server: Hosted) -> Row:
    """No text of a request becomes a header, or ends one."""
    tried, fallen = 0, []
    for end in ("%0d%0a", "%0a", "%0d", "%c4%8d%c4%8a", "%e5%98%8a%e5%98%8d", "%00", "%e2%80%a8"):
        bad = f"a{end}X-Injected:%201{end}{end}<script>"
        asked: list[tuple[str, str, object, list[tuple[str, str]]]] = [
            ("GET", f"/projects/{bad}/export?format=csv", b"", []),
            ("GET", f"/projects/a/export?format={bad}", b"", []),
            ("GET", f"/reconcile/toy?callback={bad}", b"", []),
            ("GET", f"/concept/toy/{bad}", b"", []),
            ("GET", f"/table/{bad}", b"", []),
            ("GET", f"/{bad}", b"", []),
            ("POST", "/projects/preview", b"term\na\n", [("X-File-Name", bad)]),
            ("POST", "/projects/a/files?reviewer=" + bad, b"term\na\n", [("X-File-Name", bad)]),
            ("POST", "/session", b"", [("Origin", bad)]),
        ]
        for method, path, body, headers in asked:
            tried += 1
            answer = server.ask(method, path, body, headers=[_KEY, *headers])
            if "x-injected" in answer.headers or answer.status == 0 or answer.status >= 500:
                fallen.append((method, path, headers, answer.status))
        tried += 1
        exported = server.ask("GET", "/projects/a/export?format=xlsx", headers=[_KEY])
        if exported.status != 200 or "x-injected" in exported.headers:
            fallen.append(("export", bad))
    return row("line ends in names that reach headers", tried, fallen)


def _bad_json() -> Iterator[bytes]:
    deep = 100_000
    yield from (b"[" * deep, b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep)
    for value in (
        b"1e400000",
        b"-1e400000",
        b"1" * 4_000_000,
        b"NaN",
        b"Infinity",
        b"-0.0",
        b"1" * 5000,
        b"1e-400000",
    ):
        for key in (b"top_k", b"term", b"expects", b"above", b"share", b"limit", b"mentions"):
            yield b'{"mentions": ["a"], "%b": %b}' % (key, value)
        yield b'{"queries": [{"conditions": [{"matchType": "name", "propertyValue": "a"}], "limit": %b}]}' % value
        yield b'{"ids": ["T:3"], "properties": [{"id": "xrefs", "settings": {"limit": %b}}]}' % value
    yield b'{"mentions": ["a"], "mentions": ["b"], "mentions": 1}'
    yield b'{"mentions": [' + b'"a", ' * 1_000_000 + b'"a"]}'
    yield b'{"mentions": [' + b"0, " * 2_000_000 + b"0]}"
    yield b"{" + b", ".join(b'"%d": 0' % number for number in range(600_000)) + b"}"
    yield from (
        b"\xef\xbb\xbf{}",
        '{"mentions": ["a"]}'.encode("utf-16"),
        b'{"mentions": ["\\ud800"]}',
        b"\xff\xfe\x00",
    )
    yield from (b"", b" ", b"null", b"[]", b'"a"', b"{}{}", b"{'mentions': []}", b'{"mentions": ["a"]}\x00')
    yield json.dumps({"mentions": ["a"], "index": "x" * 5_000_000, "language": "y" * 1_000_000}).encode()


def _json(server: Hosted) -> Row:
    """No JSON fails the server, or holds it up."""
    paths = (
        "/link",
        "/annotate",
        "/reconcile/toy/match",
        "/reconcile/toy/extend",
        "/projects",
        "/projects/a/decisions",
    )
    tried, fallen = 0, []
    for body in _bad_json():
        for path in (*paths, "/projects/a/decisions", "/projects/a/assign"):
            tried += 1
            start = time.perf_counter()
            answer = server.ask("POST", path, body, headers=[_KEY, ("Content-Type", "application/json")])
            seconds = time.perf_counter() - start
            if answer.status == 0 or answer.status >= 500 or seconds > _SLOW:
                fallen.append((path, body[:60], answer.status, round(seconds, 1)))
    return row("JSON: depth, numbers, a million values, no JSON", tried, fallen)


def _smuggling(server: Hosted) -> Row:
    """What says in two ways how long it is, is refused; nothing in a body is answered as a request."""
    inner = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    chunked = b"0\r\n\r\n" + inner
    length = b"Content-Length: %d\r\n" % len(chunked)
    coded = b"Transfer-Encoding: chunked\r\n"
    doubtful = (
        length + coded,
        coded + length,
        length + b"Transfer-Encoding : chunked\r\n",
        length + b"Transfer-Encoding: xchunked\r\n",
        length + b"Transfer-Encoding: identity\r\n",
        length + b"Transfer-Encoding:\x0bchunked\r\n",
        length + b"Transfer-Encoding: chunked, identity\r\n",
        length + b" Transfer-Encoding: chunked\r\n",
        length + b"Content-Length: 0\r\n",
        b"Content-Length: 0\r\n" + length,
        b"Content-Length: +0\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 0x0\r\n",
        b"Content-Length: 0, 5\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"X: a\nContent-Length: 0\r\n" + length,
        b"X: a\x00b\r\n" + length,
    )
    tried, fallen = 0, []
    for headers in doubtful:
        tried += 1
        received = server.raw(
            b"POST /link HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + chunked, longest=3
        )
        if b'"status": "ok"' in received and b"HTTP/1.1 400" not in received[:20]:
            fallen.append(headers)
    start = b"POST /link HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"
    for sent in (
        start + coded + b"\r\n" + b"F" * 40 + b"\r\n",
        start + coded + b"\r\n5;" + b"x" * 5_000_000 + b"\r\nhello\r\n0\r\n\r\n",
        start + coded + b"\r\n-5\r\nhello\r\n0\r\n\r\n",
        start + coded + b"\r\n0\r\n" + b"X: a\r\n" * 500_000 + b"\r\n",
        start + b"X: " + b"a" * 5_000_000 + b"\r\n\r\n",
        start + b"".join(b"X-%d: a\r\n" % number for number in range(100_000)) + b"\r\n",
        b"GET /" + b"a" * 5_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n" * 1_000_000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 100,
    ):
        tried += 1
        before = server.memory
        status = parsed(server.raw(sent, longest=3)).status
        if status in (200, 500) or server.memory - before > 2**26 or not server.is_well():
            fallen.append((sent[:80], status, f"{(server.memory - before) >> 20} MB"))
    return row("two lengths of a body, chunks and headers without end", tried, fallen)


def _packed(server: Hosted) -> Row:
    """What is small and becomes large is refused, or fits the memory that all requests have."""
    many = b"term\n" + b"a\n" * 2**25
    zeros = gzip.compress(bytes(2**28), 9)
    with zipfile.ZipFile(book := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(2**28))
        archive.writestr("[Content_Types].xml", b"<a>" * 2**24)
    tables: dict[str, bytes] = {
        "rows.csv.gz": gzip.compress(many),
        "zeros.csv.gz": zeros,
        "twice.csv.gz": gzip.compress(zeros),
        "parts.csv.gz": gzip.compress(b"term\n") + gzip.compress(b"a\n" * 2**16) * 500,
        "book.xlsx": book.getvalue(),
        "wide.csv": b",".join(b"c%d" % number for number in range(1000)) + b"\n" + b"a,b\n" * 2**20,
        "cut.csv.gz": gzip.compress(many)[:-9],
    }
    tried, fallen = 0, []
    for name, body in tables.items():
        for path in ("/projects/preview", "/projects/a/files", "/projects/a/import"):
            tried += 1
            before = server.memory
            answer = server.ask("POST", path, body, headers=[_KEY, ("X-File-Name", quote(name))])
            if answer.status not in (413, 422, 200):
                fallen.append((path, name, answer.status, f"{(server.memory - before) >> 20} MB"))
    for coding in ("gzip", "deflate", "br", "identity, gzip"):
        for path in ("/link", "/annotate", "/projects"):
            tried += 1
            headers = [_KEY, ("Content-Encoding", coding), ("Content-Type", "application/json")]
            if not 400 <= server.ask("POST", path, zeros, headers=headers).status < 500:
                fallen.append((coding, path))
    return row("compressed bodies and tables that grow", tried, fallen)
