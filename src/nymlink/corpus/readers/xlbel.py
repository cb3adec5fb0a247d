"""Reader of XL-BEL queries: ``id||mention``, or ``id||mention||context`` with the mention in ``<tgt>`` tags.

Several gold ids are alternatives, joined by ``|``. The mentions of a file that is called as the published ones are
(``es_1k_test_query.txt``) have the language of its name. Liu et al., "Learning domain-specialised
representations for cross-lingual biomedical entity linking" (ACL 2021).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.corpus.foreign_formats import describe_format
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import first_lines, most_match, require_documents, source_name, split_ids
from nymlink.corpus.readers.offsets import check_offsets

_LINE: Final = re.compile(r"[^\s|]+(\|[^\s|]+)*\|\|[^|]*[^|\s]")
_PUBLISHED: Final = re.compile(r"([a-z]{2,3})_[0-9]+k_")
"""What the names of the published files begin with: ``es_1k_test_query.txt``."""
_TAG: Final = re.compile(r"</?tgt>")


def _recognises(_: Path, head: str) -> bool:
    return most_match(first_lines(head), _LINE) and describe_format(head) is None


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents(path, problems), path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    published = _PUBLISHED.match(name)
    language = None if published is None else normalise_language(published[1])
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        fields = line.split("||", 2)
        if len(fields) < 2 or not fields[1].strip():
            problems.reject(path, number, "not of the form id||mention or id||mention||context")
            continue
        surface, ids = fields[1].strip(), split_ids(fields[0], "|")
        text, start, end = "", None, None
        if len(fields) == 3:
            text = _TAG.sub("", fields[2])
            tagged = fields[2].find("<tgt>"), fields[2].find("</tgt>") - len("<tgt>")
            if 0 <= tagged[0] <= tagged[1]:
                start, end = check_offsets(text, surface, *tagged, path=path, line=number, problems=problems)
            else:
                problems.repair(path, number, f"no <tgt> tags in the context: {surface!r} kept without offsets")
        mention = Mention(surface, start=start, end=end, concept_ids=ids, language=language)
        yield Document(f"{name}:{number}", text, (mention,))


FORMAT: Final[CorpusFormat] = Format(
    name="xlbel",
    description="XL-BEL: id||mention, with or without ||context in which <tgt>mention</tgt> stands",
    recognises=_recognises,
    read=_read,
    priority=10,
)
