"""The words of the pages: none is missing in a language, and none is written outside of the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from nymlink.serve import templates
from nymlink.serve.templates import LANGUAGES, choose_language, words_of

PAGES = templates.STATIC.parent
SOURCES = sorted([*PAGES.rglob("*.js"), *PAGES.rglob("*.html")])
TABLES: dict[str, dict[str, Any]] = {
    language: json.loads((PAGES / "words" / f"{language}.json").read_text(encoding="utf-8"))
    for language in LANGUAGES
}
CALL = re.compile(r"""\bt\(\s*(?:"(\w+)"|`(\w+)\$\{)""")


def places(text: str | Mapping[str, str]) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", json.dumps(text)))


def test_each_language_has_each_text_with_the_same_values() -> None:
    english = TABLES["en"]["words"]
    for language, table in TABLES.items():
        assert table["words"].keys() == english.keys()
        assert table["languages"].keys() == TABLES["en"]["languages"].keys()
        for key, text in table["words"].items():
            forms = text.values() if isinstance(text, dict) else [text]
            assert all(form.strip() for form in forms), (language, key)
            assert places(text) == places(english[key]), (language, key)
            assert isinstance(text, dict) == isinstance(english[key], dict), (language, key)


def test_other_languages_have_their_own_texts() -> None:
    english = TABLES["en"]["words"]
    for language in set(LANGUAGES) - {"en"}:
        same = [key for key, text in TABLES[language]["words"].items() if text == english[key]]
        # Terms of the field, and short words that are alike.
        assert len(same) < len(english) / 10, (language, same)
        assert not [key for key in same if len(str(english[key]).split()) > 3 and key != "concepts"], language


def test_each_text_that_is_asked_for_exists_and_each_is_used() -> None:
    known = TABLES["en"]["words"].keys()
    sources = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    prefixes = set()
    for path, source in sources.items():
        for key, prefix in CALL.findall(source):
            assert key in known or prefix, (path.name, key)
            if prefix:
                prefixes.add(prefix)
                assert any(each.startswith(prefix) for each in known), (path.name, prefix)
    everything = "\n".join(sources.values())
    unused = [key for key in known if f'"{key}"' not in everything and not key.startswith(tuple(prefixes))]
    assert unused == []


def texts_of(source: str) -> list[str]:
    """List the string literals of a script, and the pieces of its templates between the values."""
    token = re.compile(r"//[^\n]*|/(?:\\.|\[[^\]\n]*\]|[^/\\\n])+/[a-z]*(?=[.),;\]])|\"(?:\\.|[^\"\\])*\"|[`{}]")
    found, place, open_in = [], 0, []
    while place < len(source):
        if open_in and open_in[-1] == "`":
            piece = re.compile(r"(?:\\.|\$(?!\{)|[^`$\\])*").match(source, place)
            found.append(piece[0])
            place = piece.end()
            if source.startswith("${", place):
                open_in.append("{")
                place += 2
            else:
                open_in.pop()
                place += 1
            continue
        match = token.search(source, place)
        if match is None:
            break
        place = match.end()
        if match[0] in "`{":
            open_in.append(match[0])
        elif match[0] == "}":
            open_in.pop()
        elif match[0].startswith('"'):
            found.append(match[0][1:-1])
    return found


# What has blanks or capitals in a script, and is no text for a reader.
NO_TEXT = re.compile(
    r"[A-Z][a-zA-Z]*[A-Z]\w*|X-[\w-]+|Content-\w+|Enter|Escape|Tab|Home|End|Shift|Control|Alt|Meta|Dead|Process"
    r"|Unidentified|Bearer |Authorization|Highlight|[.#\[].*|.*\[.*\].*"
    r"|(?:a, )?button, .*|.*(?:samesite|max-age).*"
    r"|Usagi|Parquet|OMOP source_to_concept_map|FHIR R\w+ ConceptMap|nymlink project add"
    r"|patient,finding.*"
    r"|(?:plain|row|reason|note|number|choice|chosen-targets|mention|option|best|others|check)(?: [a-z-]+)*",
    re.DOTALL,
)


def test_no_text_is_written_in_a_script() -> None:
    found = []
    for path in PAGES.rglob("*.js"):
        for text in texts_of(path.read_text(encoding="utf-8")):
            words = re.findall(r"[A-Za-z]{2,}", text)
            if (
                (" " in text.strip() and len(words) > 1) or re.match("[A-Z][a-z]", text)
            ) and not NO_TEXT.fullmatch(text):
                found.append((path.name, text))
    assert found == []
    assert texts_of('say("Two words", `a ${b("c")} d`); // no "text"') == ["Two words", "a ", "c", " d"]


def test_no_text_is_written_in_a_template() -> None:
    for path in PAGES.rglob("*.html"):
        source = re.sub(r"\{[{%].*?[%}]\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        source = re.sub(r"<code>.*?</code>|<kbd>.*?</kbd>|\{#.*?#\}", "", source, flags=re.DOTALL)
        source = re.sub(r'^ class="wide".*$', "", source, flags=re.MULTILINE)
        texts = [*re.findall(r">([^<>]+)<", source), *re.findall(r'(?:label|placeholder|title)="([^"]+)"', source)]
        words = [text for text in texts if re.search(r"[A-Za-z]{2,}", text.replace("nymlink", ""))]
        assert [text.strip() for text in words if text.strip() not in ("openapi.json",)] == [], path.name


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, "en"),
        ({"accept-language": "de-AT,en;q=0.5"}, "de"),
        ({"accept-language": "pt,nl;q=0.9,fr;q=0.3,es;q=0.8"}, "es"),
        ({"accept-language": "fr;q=0,en"}, "en"),
        ({"accept-language": "de;q=many,,;;=,*"}, "en"),
        ({"accept-language": "de", "cookie": "a=b; nymlink_language=fr"}, "fr"),
        ({"accept-language": "de", "cookie": "nymlink_language=../en"}, "de"),
    ],
)
def test_the_language_is_that_of_the_browser_or_the_chosen_one(headers: dict[str, str], language: str) -> None:
    assert choose_language(headers) == language


def test_numbers_choose_forms_and_languages_have_names() -> None:
    words = words_of("de")
    assert (words.say("terms", n=1), words.say("terms", n=4195)) == ("1 Begriff", "4.195 Begriffe")
    assert words.say("replaced_by", id="<b>") == "Ersetzt durch &lt;b&gt;."
    assert [words.name_language(code) for code in ("de", "pt-BR", "tlh")] == [
        "Deutsch",
        "Portugiesisch (BR)",
        "tlh",
    ]
    assert words_of("en").name_language("de") == "German"
