"""Forms of one term ("seizures", "Seizure", "SEIZURES"), decided together unless a reviewer splits them."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from nymlink.project.decisions import current_of, other_forms, repeat, require_term
from nymlink.project.project import Project
from nymlink.project.rows import Decision, essence
from nymlink.text.english.forms import light_stem
from nymlink.text.languages import rules_of
from nymlink.text.normalise import normalise

_SIGN: Final = re.compile(r"[+<>=%±≥≤]|(?<!\w)[-−–]|[-−–](?!\w)")
"""Signs that the normal form lacks, and that change a meaning: "HER2+" and "HER2-"."""
_SHORT: Final = 4
"""Letters of the longest abbreviation whose capitals count: "FIT" is a test, "fit" a seizure."""


def form_key(text: str, language: str = "") -> tuple[str, str, bool]:
    """Compute a value that is equal for the forms of a term: singular and plural, capitals, punctuation.

    Args:
        text: the term.
        language: code of its language; empty if unknown. Words of languages other than English are lemmatised.
    """
    normal = normalise(text)
    if language and language != "en":
        normal = next(iter(rules_of(language).forms(normal)), normal)
    words = normal.split()
    is_abbreviation = text.isupper() and max(map(len, words), default=0) <= _SHORT
    return " ".join(map(light_stem, words)), "".join(_SIGN.findall(text)), is_abbreviation


def group_forms(connection: sqlite3.Connection) -> None:
    """Join new terms with their other forms, in the transaction of the caller, and carry decisions over to them.

    Forms of several languages are not joined. A term without a language joins forms of the only language. A term
    with decisions of its own joins only forms with the same decisions.

    Args:
        connection: connection in a transaction.
    """
    buckets: dict[Any, dict[str, list[sqlite3.Row]]] = defaultdict(lambda: defaultdict(list))
    for row in connection.execute("SELECT id, text, language, type, form_of FROM term ORDER BY id"):
        if row["form_of"] != row["id"]:
            buckets[form_key(row["text"], row["language"]), row["type"]][row["language"]].append(row)
    for languages in buckets.values():
        named = [language for language in languages if language]
        groups = (
            [languages[each] for each in named]
            if len(named) > 1
            else [list(chain.from_iterable(languages.values()))]
        )
        for group in groups:
            if len(group) > 1:
                _join(connection, group)


def _join(connection: sqlite3.Connection, group: list[sqlite3.Row]) -> None:
    current = {row["id"]: current_of(connection, row["id"]) for row in group}
    known = {row["form_of"] for row in group} - {None}
    first = min(current, key=lambda term: (term not in known, not current[term], term))
    for row in group:
        term, own = row["id"], current[row["id"]]
        if term == first or row["form_of"] is not None or term in known:
            continue
        given = current[first]
        if all(who in given and _said(given[who]) == _said(made) for who, made in own.items()):
            connection.execute("UPDATE term SET form_of = ? WHERE id = ?", (first, term))
            # The last decision counts: keep their order.
            for who, made in sorted(given.items(), key=lambda each: each[1].id):
                if who not in own:
                    repeat(connection, made, term)


def _said(made: Decision) -> str:
    return essence(made.verdict, made.targets)


def split_forms(project: Project, term: int) -> list[int]:
    """Take a term out of its forms, to be decided by itself; decisions made so far stay.

    Args:
        project: project opened for writing.
        term: number of the term. If it is the listed form, all its forms are split.

    Returns:
        Numbers of the terms that are decided by themselves now.

    Raises:
        UnknownTermError: there is no such term.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    with project.writing() as connection:
        require_term(connection, term)
        rows = connection.execute("SELECT id FROM term WHERE form_of = ? AND id != ?", (term, term)).fetchall()
        alone = sorted({term, *(number for (number,) in rows)})
        connection.executemany("UPDATE term SET form_of = id WHERE id = ?", [(each,) for each in alone])
    return alone


def split_different(connection: sqlite3.Connection, terms: Iterable[int]) -> None:
    """Split the forms of terms that were decided differently, in the transaction of the caller."""
    for term in terms:
        mine = list(map(_said, current_of(connection, term).values()))
        [(listed,)] = connection.execute("SELECT coalesce(form_of, id) FROM term WHERE id = ?", (term,))
        for form in other_forms(connection, term):
            theirs = list(map(_said, current_of(connection, form).values()))
            if theirs and any(each not in mine for each in theirs):
                # Of a form that is not listed, the others stay together.
                alone = form if term == listed else term
                connection.execute("UPDATE term SET form_of = id WHERE id = ?", (alone,))


def list_forms(project: Project) -> list[dict[str, Any]]:
    """List the terms with other forms, as JSON values."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.id AS first, term.text AS name, form.id, form.text, form.language, form.frequency "
            "FROM term JOIN term AS form ON form.form_of = term.id AND form.id != term.id "
            "ORDER BY term.id, form.id"
        ).fetchall()
    groups: dict[int, dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(row["first"], {"id": row["first"], "text": row["name"], "forms": []})
        group["forms"].append({name: row[name] for name in ("id", "text", "language", "frequency")})
    return list(groups.values())
