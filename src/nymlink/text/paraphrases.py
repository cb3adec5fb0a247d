"""Other words for the same in medical English: adjectives as nouns, organs by another word, what ails an organ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

_NOUNS: Final = (
    ("etic", ("esis", "esia")),
    ("otic", ("osis",)),
    ("matic", ("ma",)),
    ("matous", ("ma",)),
    ("atic", ("asis",)),
    ("itic", ("itis",)),
    ("ytic", ("ysis",)),
    ("ptic", ("psy", "psis", "psia")),
    ("ic", ("ia", "y", "e", "ism")),
    ("ive", ("ion",)),
)
"""Ends of adjectives, and of the nouns that they are made of; the first that fits counts."""

_SHORTEST: Final = 6
"""Letters of such adjectives: "toxic" and "optic" are made of no disease."""

_DISEASE: Final = ("disease", "diseases", "disorder", "disorders")

_AILING: Final = frozenset(
    "abnormality abnormalities complication complications damage defect defects disturbance disturbances "
    "dysfunction dysfunctions involvement lesion lesions".split()
)
"""What is said of a part that something is wrong with, and not what. An injury or a failure is something."""

_FAILING: Final = frozenset(
    "abnormality abnormalities defect defects disturbance disturbances dysfunction dysfunctions".split()
)
"""Those of them that are said of what is no part, too ("sleep disturbance"). A lesion that is granulomatous, or a
complication that is hemorrhagic, is no disease of that name."""

_NAMESAKES: Final = frozenset(("conduct", "coronary artery", "motor neuron", "personality"))
"""What gave its name to one certain disease, and may have others."""

_TOXICITY: Final = ("toxicity", "toxicities", "toxic")

_ORGANS: Final = (
    # The combining form, and the words: adjectives, noun.
    ("angio", "vascular", "blood vessel"),
    ("arthro", "articular", "joint"),
    ("broncho", "bronchial", "bronchus"),
    ("cardio", "cardiac", "heart"),
    ("colo", "colonic", "colon"),
    ("cysto", "vesical", "bladder"),
    ("dermato", "cutaneous", "dermal", "skin"),
    ("encephalo", "cerebral", "brain"),
    ("entero", "intestinal", "intestine"),
    ("esophago", "esophageal", "esophagus"),
    ("gastro", "gastric", "stomach"),
    ("hemato", "hematologic", "hematological", "blood"),
    ("hepato", "hepatic", "liver"),
    ("hystero", "uterine", "uterus"),
    ("masto", "mammary", "breast"),
    ("myo", "muscular", "muscle"),
    ("nephro", "renal", "kidney"),
    ("neuro", "neurologic", "neurological", "nervous system"),
    ("oophoro", "ovarian", "ovary"),
    ("ophthalmo", "ocular", "eye"),
    ("orchido", "testicular", "testis"),
    ("osteo", "osseous", "bone"),
    ("oto", "otic", "ear"),
    ("pancreato", "pancreatic", "pancreas"),
    ("pneumo", "pulmonary", "lung"),
    ("prostato", "prostatic", "prostate"),
    ("retino", "retinal", "retina"),
    ("spleno", "splenic", "spleen"),
)

_PARTS: Final = frozenset(
    (
        "adrenal",
        "aortic",
        "autonomic nervous system",
        "biliary",
        "bone marrow",
        "cardiovascular",
        "central nervous system",
        "cerebrovascular",
        "corneal",
        "gastrointestinal",
        "heart valve",
        "lymph node",
        "macular",
        "myocardial",
        "optic nerve",
        "peripheral nerve",
        "peripheral nervous system",
        "pituitary",
        "respiratory",
        "respiratory tract",
        "spinal cord",
        "thyroid",
        "urinary tract",
        "urogenital",
        "valvular",
        "vestibular",
        "white matter",
    )
)
"""Further parts, of which there is but one word."""

_FORM: Final = {word: form for form, *words in _ORGANS for word in words}
_WORDS: Final = {form: tuple(words) for form, *words in _ORGANS}
_NERVES: Final = "neuro"
"""Of which a -pathy is a disease of the nerves outside brain and spinal cord, and what is toxic, to either."""


def paraphrases(text: str) -> Iterator[str]:
    """Other words for the same or, where a vocabulary is coarser, for what it is a case of, the likeliest first.

    They are to be looked up: what is no name is to be passed over.

    - An adjective becomes the noun it is made of ("cholestatic", "cholestasis").
    - Another word for an organ ("hepatic failure", "liver failure").
    - A part that something is wrong with has a disease ("cardiac dysfunction", "heart disease"; "nephropathy",
      "kidney disease"), or an abnormality ("skin lesion", "abnormality of the skin").
    - Toxicity to an organ is what is induced by drugs there ("hepatotoxic", "drug induced liver injury"), else a
      disease of it.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
            British words for organs are not known.
    """
    part, _, head = text.rpartition(" ")
    yield from _nouns(part, head)
    if not part:
        yield from _compound(head)
        return
    others = _other_words(part)
    if head in _AILING and (part in _FORM or part in _PARTS or (head in _FAILING and part not in _NAMESAKES)):
        # Before the other word for the organ: "heart abnormalities" are malformations.
        yield from _diseases(part, *others)
    yield from (f"{word} {head}" for word in others)
    if head in _TOXICITY and part in _FORM:
        yield from _toxicity(_FORM[part])
    elif head in _DISEASE:
        yield from _diseases(part, *others)


def _nouns(part: str, head: str) -> Iterator[str]:
    end, others = next(((end, others) for end, others in _NOUNS if head.endswith(end)), ("", ()))
    if len(head) < _SHORTEST or not others:
        return
    if end == "otic" and not part:
        # What is nephrotic is no nephrosis.
        yield f"{head} syndrome"
    for other in others:
        yield f"{part} {head.removesuffix(end)}{other}".lstrip()


def _compound(word: str) -> Iterator[str]:
    """Of a word that begins with an organ's combining form."""
    for end in (*_TOXICITY, "pathy", "pathies", "pathic"):
        form = word.removesuffix(end)
        if form in _WORDS and form != word:
            yield from _toxicity(form) if end in _TOXICITY else _pathy(form)


def _toxicity(form: str) -> Iterator[str]:
    yield f"{form}toxicity"
    for word in _WORDS[form]:
        yield from (f"drug induced {word} injury", f"drug induced {word} disease", f"toxic {word} disease")
    yield from _pathy(form)


def _pathy(form: str) -> Iterator[str]:
    if form != _NERVES:
        yield f"{form}pathy"
        yield from _diseases(*_WORDS[form])


def _diseases(*parts: str) -> Iterator[str]:
    """Of something, the names that vocabularies have for whatever is wrong with it."""
    yield from (" ".join(words) for words in product(parts, _DISEASE))
    yield from (f"abnormality of the {part}" for part in parts)


def _other_words(part: str) -> list[str]:
    """Other words for an organ."""
    return [word for word in _WORDS.get(_FORM.get(part, ""), ()) if word != part]
