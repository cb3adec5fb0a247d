"""What every corpus reader promises, checked on each that is registered."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus import Document, Mention, read_corpus, read_documents
from nymlink.corpus.readers import CORPUS_FORMATS

Gold = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Sample:
    """A format in small.

    Attributes:
        unit: the i-th piece of a file, complete lines, and the mentions and gold ids that stand in it.
        header: what comes before the pieces.
        broken: a line that cannot be used.
        folder: name of the file inside a folder, for a format that is one.
        streams: whether documents come before the whole file is read.
        footer: what comes after the pieces.
        beside: a file that lies beside it in the folder, and its content.
        has_lines: whether what is broken spoils no more than its line.
        has_blank_lines: whether empty lines mean something.
    """

    unit: Callable[[int], tuple[str, list[Gold]]]
    header: str = ""
    broken: str = "nothing to be read in this"
    folder: str = ""
    streams: bool = True
    footer: str = ""
    beside: tuple[str, str] | None = None
    has_lines: bool = True
    has_blank_lines: bool = False


def noise(i: int) -> str:
    """Letters that do not compress."""
    return "".join(random.Random(i).choices("abcdefghijklmnopqrstuvwxyz", k=40))


def pubtator(i: int) -> tuple[str, list[Gold]]:
    title = f"Ménière's disease and {noise(i)} cancer."
    lines = [
        f"{i}|t|{title}",
        f"{i}|a|Of cancer.",
        f"{i}\t0\t17\tMénière's disease\tDisease\tD008575",
        f"{i}\t{len(title) + 4}\t{len(title) + 10}\tcancer\tDisease\tD009369|c|SUB|G|Ex2+860|C",
    ]
    gold: list[Gold] = [("Ménière's disease", ("D008575",)), ("cancer", ("D009369", "c|SUB|G|Ex2+860|C"))]
    return "\n".join([*lines, "", ""]), gold


def biosyn(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    return f"{i}||3|11||Disease||{mention}||D008575|D1\n", [(mention, ("D008575", "D1"))]


def xlbel(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    return f"C0025281|C1||{mention}||über <tgt>{mention}</tgt> da\n", [(mention, ("C0025281", "C1"))]


def askapatient(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    return f"{13445001 + i}\tMénière's disease\t{mention}\n", [(mention, (str(13445001 + i),))]


def table(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière, {noise(i)}"
    return f'"{mention}",D008575|D1,"über {mention}"\n', [(mention, ("D008575", "D1"))]


def lines(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    return f"{mention}\n", [(mention, ())]


def gsc(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    return f"[3::51]\tHP_00{i} | {mention}\n", [(mention, (f"HP:00{i}",))]


def bioc_passages(i: int) -> tuple[str, str]:
    return "über Ménière's disease", f"and {noise(i)} cancer"


def bioc_xml(i: int) -> tuple[str, list[Gold]]:
    first, second = bioc_passages(i)
    text = f"""<document><id>{i}</id><passage><infon key="type">title</infon><offset>0</offset><text>{first}</text>
<annotation id="a"><infon key="type">Disease</infon><infon key="identifier">D008575|D1</infon>
<location offset="5" length="17"/><text>Ménière's disease</text></annotation></passage>
<passage><offset>{len(first) + 1}</offset><text>{second}</text><annotation id="b"><infon key="MESH">D2</infon>
<location offset="{len(first) + 46}" length="6"/><text>cancer</text></annotation></passage></document>
"""
    return text, [("Ménière's disease", ("D008575", "D1")), ("cancer", ("D2",))]


def bioc_json(i: int) -> tuple[str, list[Gold]]:
    first, second = bioc_passages(i)
    annotations = [
        {"id": "a", "text": "Ménière's disease", "infons": {"type": "Disease", "identifier": "D008575|D1"}},
        {"id": "b", "text": "cancer", "infons": {"MESH": "D2"}},
    ]
    places = [(0, first, 5, 17), (len(first) + 1, second, len(first) + 46, 6)]
    passages = [
        {
            "offset": offset,
            "text": text,
            "annotations": [{**annotation, "locations": [{"offset": start, "length": length}]}],
        }
        for annotation, (offset, text, start, length) in zip(annotations, places, strict=True)
    ]
    value = {"id": str(i), "passages": passages}
    return json.dumps(value, ensure_ascii=False) + "\n", bioc_xml(i)[1]


def bigbio(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    value = {
        "id": f"x{i}",
        "document_id": str(i),
        "passages": [{"id": "p", "type": "title", "text": [f"über {mention}"], "offsets": [[0, 53]]}],
        "entities": [
            {
                "id": "e",
                "type": "Disease",
                "text": [mention],
                "offsets": [[5, 53]],
                "normalized": [{"db_name": "MESH", "db_id": "D1"}, {"db_name": "MESH", "db_id": "MESH:D2"}],
            }
        ],
    }
    return json.dumps(value, ensure_ascii=False) + "\n", [(mention, ("MESH:D1", "MESH:D2"))]


def brat(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière {noise(i)}"
    place = f"{49 * i} {49 * i + 48}"
    lines = [f"T{i + 1}\tDisease {place}\t{mention}", f"N{i + 1}\tReference T{i + 1} MESH:D{i}\tx", ""]
    return "\n".join(lines), [(mention, (f"MESH:D{i}",))]


def conll(i: int) -> tuple[str, list[Gold]]:
    lines = ["ménière\t0\t7\tB-Disease\tD1|D2", f"{noise(i)}\t8\t48\tI-Disease\t_", "is\t50\t52\tO\t_"]
    return "\n".join([f"# newdoc id = {i}", *lines, ""]), [(f"ménière {noise(i)}", ("D1", "D2"))]


def usagi(i: int) -> tuple[str, list[Gold]]:
    mention = f"ménière, {noise(i)}"
    rest = "EQUAL,me,1600000000000,{},M,Condition,MAPS_TO,,<auto>,0,"
    rows = [f'{i},"{mention}",3,,0.5,APPROVED,{rest.format(concept)}' for concept in (44, 45)]
    # No one has approved of 46.
    other = f'x{i},"{mention}",3,,0.5,UNCHECKED,{rest.format(46)}'
    gold = [(mention, ("OMOP:44", "OMOP:45")), (mention, ())]
    return "\n".join([*rows, other, ""]), gold


USAGI_HEADER = (
    "sourceCode,sourceName,sourceFrequency,sourceAutoAssignedConceptIds,matchScore,mappingStatus,equivalence,"
    "statusSetBy,statusSetOn,conceptId,conceptName,domainId,mappingType,comment,createdBy,createdOn,"
    "assignedReviewer\n"
)

SAMPLES = {
    "askapatient": Sample(askapatient, streams=False),
    "bigbio": Sample(bigbio),
    "bioc-json": Sample(bioc_json),
    "bioc-xml": Sample(
        bioc_xml,
        header="<collection><source/><date/><key/>\n",
        footer="</collection>\n",
        has_lines=False,
    ),
    "biosyn": Sample(biosyn, folder="1.concept", streams=False),
    "brat": Sample(
        brat, folder="1.ann", streams=False, beside=("1.txt", "\n".join(f"ménière {noise(i)}" for i in range(3)))
    ),
    "conll": Sample(conll, has_blank_lines=True),
    "gsc": Sample(gsc, folder="1", streams=False),
    "lines": Sample(lines, broken="\0\0"),
    "pubtator": Sample(pubtator),
    "table": Sample(table, header="Mention,Concept ID,Sentence\n"),
    "usagi": Sample(usagi, header=USAGI_HEADER),
    "xlbel": Sample(xlbel),
}
BINARY = [name for name, format in CORPUS_FORMATS if format.is_binary]
"""Formats that are no text, which test_binary_corpora.py tries."""


def test_every_registered_format_has_a_sample() -> None:
    assert set(CORPUS_FORMATS.names()) == {*SAMPLES, *BINARY}


def make(name: str, count: int = 3) -> tuple[str, list[Gold]]:
    units = [SAMPLES[name].unit(i) for i in range(count)]
    text = SAMPLES[name].header + "".join(text for text, _ in units) + SAMPLES[name].footer
    return text, [gold for _, found in units for gold in found]


def write(folder: Path, name: str, content: bytes) -> Path:
    """Put content where the format wants it, under a name that tells nothing."""
    if not SAMPLES[name].folder:
        path = folder / "data.bin"
        path.write_bytes(content)
        return path
    path = folder / "corpus"
    path.mkdir(exist_ok=True)
    (path / SAMPLES[name].folder).write_bytes(content)
    if (beside := SAMPLES[name].beside) is not None:
        (path / beside[0]).write_text(beside[1], encoding="utf-8")
    return path


def gold_of(documents: tuple[Document, ...]) -> list[Gold]:
    return [(mention.text, mention.concept_ids) for document in documents for mention in document.mentions]


@pytest.fixture(scope="module", params=SAMPLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "gzip": lambda text: gzip.compress(text.encode()),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: text.encode("utf-8-sig"),
    "no last line end": lambda text: text.rstrip("\n").encode(),
    "blank lines": lambda text: ("\n" + text.replace("\n", "\n\n") + " \n").encode(),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_found_by_content_and_read_alike_however_it_is_packed(
    name: str, encode: Callable[[str], bytes], tmp_path: Path
) -> None:
    if SAMPLES[name].has_blank_lines and encode is ENCODINGS["blank lines"]:
        pytest.skip("an empty line ends a sentence")
    text, gold = make(name)
    path = write(tmp_path, name, encode(text))
    problems = Problems()
    corpus = read_corpus(path, problems=problems)
    assert find_format(CORPUS_FORMATS, path).name == name
    assert gold_of(corpus.documents) == gold
    assert corpus.name == path.stem
    assert problems.count == 0
    if encode in (ENCODINGS["gzip"], ENCODINGS["crlf"], ENCODINGS["bom"]):
        plain = read_corpus(write(tmp_path, name, text.encode()))
        assert corpus == plain


def test_other_encodings_are_mended_and_reported(name: str, tmp_path: Path) -> None:
    text, gold = make(name)
    problems = Problems()
    corpus = read_corpus(write(tmp_path, name, text.encode("cp1252")), problems=problems)
    assert gold_of(corpus.documents) == gold
    assert problems.rejected == 0
    assert problems.repaired == sum(not line.isascii() for line in text.split("\n"))


def test_a_broken_line_is_left_out_with_its_number_and_the_rest_is_read(name: str, tmp_path: Path) -> None:
    if not SAMPLES[name].has_lines:
        pytest.skip("nothing after a broken line can be read")
    text, gold = make(name)
    first = SAMPLES[name].header + SAMPLES[name].unit(0)[0]
    content = first + SAMPLES[name].broken + "\n" + text.removeprefix(first)
    problems = Problems()
    corpus = read_corpus(write(tmp_path, name, content.encode()), format=name, problems=problems)
    assert gold_of(corpus.documents) == gold
    assert (problems.rejected, problems.repaired) == (1, 0)
    assert problems.first[0].line == first.count("\n") + 1


@pytest.mark.parametrize(
    "content", [b"", b" \n\n", gzip.compress(b"")], ids=["nothing", "blanks", "gzip of nothing"]
)
def test_empty_input_is_an_error(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_corpus(write(tmp_path, name, content), format=name)


def test_input_without_one_usable_line_is_an_error(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, (SAMPLES[name].header + SAMPLES[name].broken + "\n").encode())
    with pytest.raises(InputError) as caught:
        read_corpus(path, format=name)
    assert str(path) in str(caught.value)


def test_missing_input_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_corpus(tmp_path / "absent", format=name)


def test_a_truncated_file_is_an_error(name: str, tmp_path: Path) -> None:
    content = gzip.compress(make(name)[0].encode())
    with pytest.raises(InputError, match="truncated"):
        read_corpus(write(tmp_path, name, content[: len(content) // 2]), format=name)


def test_documents_come_before_the_whole_is_read(name: str, tmp_path: Path) -> None:
    if not SAMPLES[name].streams:
        pytest.skip("all lines of a file are needed for its documents")
    text, gold = make(name, 2_000)
    content = gzip.compress(text.encode())
    documents = read_documents(write(tmp_path, name, content[: len(content) // 2]))
    first = next(documents)
    assert gold_of((first,)) == gold[: len(first.mentions)]
    with pytest.raises(InputError, match="truncated"):
        list(documents)


@given(
    st.lists(
        st.one_of(st.binary(max_size=30), st.text('|{"\t\n,;:1C<tgt>', max_size=30).map(str.encode)), max_size=8
    )
)
def test_whatever_comes_the_only_error_is_bad_input(
    tmp_path_factory: pytest.TempPathFactory, name: str, junk: list[bytes]
) -> None:
    pieces = [make(name, 1)[0].encode(), *junk]
    random.Random(0).shuffle(pieces)
    path = write(tmp_path_factory.mktemp("junk"), name, b"\n".join(pieces))
    try:
        corpus = read_corpus(path, format=name)
    except InputError:
        return
    assert len(corpus) > 0
    for document, mention in corpus.mentions():
        assert mention.text.strip()
        if document.text and mention.start is not None:
            assert document.surface(mention) == mention.text


def test_offsets_lead_to_the_mention(name: str, tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, name, make(name)[0].encode()))
    for document, mention in corpus.mentions():
        if document.text:
            assert mention.start is not None
            assert document.surface(mention) == mention.text


def test_documents_have_ids_of_their_own_and_plain_dictionaries(name: str, tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, name, make(name)[0].encode()))
    ids = [document.id for document in corpus.documents]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    first = corpus.documents[0].to_dict()
    assert Mention(**first["mentions"][0]) == corpus.documents[0].mentions[0]


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("pain\n", encoding="utf-8")
    with pytest.raises(UnknownNameError, match="pubtator"):
        read_corpus(path, format="nonsense")


def test_what_is_not_plain_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"PK\x03\x04\x00\x00\x00")
    with pytest.raises(InputError, match="unpack it first"):
        read_corpus(path)
