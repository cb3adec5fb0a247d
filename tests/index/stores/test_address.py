"""Addresses of stores: credentials are never in what is shown."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.index.stores.server import failure
from nymlink.index.stores.vector_store import URL_VARIABLE, StoreAddress

PUBLIC = {
    "postgresql://me:pw@db:5432/terms": "postgresql://me@db:5432/terms",
    "postgres://me:pw@one:1,two:2/terms?target_session_attrs=any": (
        "postgres://me@one:1,two:2/terms?target_session_attrs=any"
    ),
    "postgresql:///terms?host=/tmp&user=me&password=pw&sslpassword=pw": "postgresql:///terms?host=/tmp&user=me",
    "postgresql://me@db/terms?passfile=/etc/shadow&sslmode=require": "postgresql://me@db/terms?sslmode=require",
    "https://root:pw@milvus:19530/terms": "https://milvus:19530/terms",
    "http://key@milvus:19530": "http://milvus:19530",
}


@pytest.mark.parametrize("url", PUBLIC)
def test_what_is_shown_has_no_credentials(url: str) -> None:
    address = StoreAddress.of(url)
    assert address.public == PUBLIC[url]
    assert address.url == url
    assert "pw" not in repr(address)
    assert StoreAddress.recorded(address.public).url == address.public


@given(
    st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=6),
    st.sampled_from(["postgresql", "https"]),
    st.booleans(),
)
def test_no_password_gets_through(password: str, scheme: str, in_query: bool) -> None:
    secret = quote(f"#{password}#", safe="")
    login, query = ("me", f"?password={secret}") if in_query else (f"me:{secret}", "")
    url = f"{scheme}://{login}@db/terms{query}"
    address = StoreAddress.of(url)
    assert secret not in address.public + repr(address)
    error = failure(address, "failed", "retry", reason=f"no connection to {url}")
    assert secret not in str(error)
    assert password not in str(failure(address, "failed", "retry", reason=f"no user #{password}#"))


@pytest.mark.parametrize(
    "url", ["", "db", "mysql://me:pw@db/terms", "postgresql://me:pw@[db/terms", "http://me:pw@db:port", "x.sqlite"]
)
def test_what_is_no_address_is_refused_and_not_quoted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="postgresql://USER@HOST/DATABASE") as caught:
        StoreAddress.of(url)
    assert "pw" not in str(caught.value)
    with pytest.raises(ValueError, match="address of its store"):
        StoreAddress.recorded(url)
    if url:
        monkeypatch.setenv(URL_VARIABLE, url)
        with pytest.raises(InputError, match="NYMLINK_STORE_URL: the address"):
            StoreAddress.recorded("postgresql://db/terms")


def test_a_recorded_address_is_not_trusted_with_files_of_this_machine() -> None:
    address = StoreAddress.recorded("postgresql://me:pw@db/terms?passfile=/home/me/.secret&sslmode=require")
    assert address.url == "postgresql://me@db/terms?sslmode=require"
    assert address.is_recorded
    assert not address.is_here
    assert StoreAddress.of("postgresql:///terms?host=/tmp").is_here
    assert not StoreAddress.of("postgresql:///terms?host=db").is_here
