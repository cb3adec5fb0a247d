from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.english.composite import split_composite


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ("breast and ovarian cancer", "breast cancer|ovarian cancer"),
        ("A, B, and C cancers", "A cancers|B cancers|C cancers"),
        ("Ocular and auditory toxicity", "Ocular toxicity|auditory toxicity"),
        ("pulmonary and renal insufficiency", "pulmonary insufficiency|renal insufficiency"),
        ("liver and/or kidney toxicity", "liver toxicity|kidney toxicity"),
        ("Becker and Duchenne muscular dystrophy", "Becker muscular dystrophy|Duchenne muscular dystrophy"),
        ("Duchenne/Becker muscular dystrophy", "Duchenne muscular dystrophy|Becker muscular dystrophy"),
        ("cleft lip/palate", "cleft lip|cleft palate"),
        ("cleft lip/cleft palate", "cleft lip|cleft palate"),
        ("cleft lip and palate", "cleft lip|cleft palate"),
        # longer modifiers of the last
        ("bone and soft tissue tumors", "bone tumors|soft tissue tumors"),
        ("craniofacial and central nervous system defects", "craniofacial defects|central nervous system defects"),
        (
            "ventricular septal (VSD) and midline (MD) defects",
            "ventricular septal (VSD) defects|midline (MD) defects",
        ),
        (
            "colorectal, breast and head and neck cancers",
            "colorectal cancers|breast cancers|head and neck cancers",
        ),
        # numbers
        ("type 1 and type 2 diabetes", "type 1 diabetes|type 2 diabetes"),
        ("type 1 and 2 diabetes", "type 1 diabetes|type 2 diabetes"),
        ("diabetes type 1 and 2", "diabetes type 1|diabetes type 2"),
        ("hepatitis B or C", "hepatitis B|hepatitis C"),
        ("type 1, 2 and 3 diabetes", "type 1 diabetes|type 2 diabetes|type 3 diabetes"),
        (
            "factor V, VIII and IX deficiency",
            "factor V deficiency|factor VIII deficiency|factor IX deficiency",
        ),
        ("hepatitis A, B and C", "hepatitis A|hepatitis B|hepatitis C"),
        ("hepatitis A, B, D and cirrhosis", "hepatitis A|hepatitis B|hepatitis D|cirrhosis"),
        (
            "deficiency of factor V, VIII or IX",
            "deficiency of factor V|deficiency of factor VIII|deficiency of factor IX",
        ),
        # a common beginning
        ("T-cell leukaemia or lymphoma", "T-cell leukaemia|T-cell lymphoma"),
        ("endometrial hyperplasia or cancer", "endometrial hyperplasia|endometrial cancer"),
        ("hypo- and hyperthyroidism", "hypothyroidism|hyperthyroidism"),
        # prepositions
        ("cancer of the breast and ovaries", "cancer of breast|cancer of ovaries"),
        (
            "cancer of the renal pelvis, ureter or bladder",
            "cancer of renal pelvis|cancer of ureter|cancer of bladder",
        ),
        ("Deficits in learning and memory", "Deficits in learning|Deficits in memory"),
        ("pain and visual loss in the left eye", "pain in the left eye|visual loss in the left eye"),
        # names complete in themselves
        ("anemia and renal failure", "anemia|renal failure"),
        ("renal failure and anemia", "renal failure|anemia"),
        ("acute renal failure and hepatic failure", "acute renal failure|hepatic failure"),
        ("carcinoma of the breast and leukaemia", "carcinoma of breast|leukaemia"),
        ("nausea, vomiting, and diarrhoea", "nausea|vomiting|diarrhoea"),
        ("breast\tand  ovarian cancer", "breast cancer|ovarian cancer"),
    ],
)
def test_composite(mention: str, parts: str) -> None:
    assert split_composite(mention) == tuple(parts.split("|"))


@pytest.mark.parametrize(
    "mention",
    [
        "hearing loss",
        "squamous cell carcinoma of the head and neck",
        "hand, foot and mouth disease",
        "muscular dystrophy with cataracts and deafness",
        "complement deficiencies (C2 and C7)",
        "A/B antigen",
        "deficiency, familial",
        "n/a",
        "and",
        "and/or",
        "a and",
        "or b",
        "",
        "  ",
        "\0 and b c",
    ],
)
def test_not_composite(mention: str) -> None:
    assert split_composite(mention) == (mention,)


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ("a and " * 19 + "b cancers", 20),
        ("a and " * 20 + "b cancers", 1),
        ("cancer and " * 3 + "pain of the " + "b, " * 3 + "c and d", 20),
        ("cancer and " * 4 + "pain of the " + "b, " * 3 + "c and d", 1),
        ("a and " * 400 + "x of " + "b and " * 400 + "c", 1),
    ],
)
def test_a_mention_of_very_many_things_is_no_composite_name(mention: str, parts: int) -> None:
    assert len(split_composite(mention)) == parts


PIECES = st.lists(
    st.sampled_from(
        [
            "and",
            "or",
            "and/or",
            "a",
            "b,",
            "of",
            "the",
            "in",
            "type",
            "1",
            "(c)",
            "(",
            "lip/palate",
            "hypo-",
            "head",
        ]
    ),
    max_size=12,
)


@given(st.one_of(st.text(max_size=60), PIECES.map(" ".join)))
def test_parts_are_made_of_the_mention(mention: str) -> None:
    parts = split_composite(mention)
    assert parts
    if len(parts) > 1:
        assert all(part.strip() for part in parts)
        assert set("".join(parts)) <= set(mention) | {" "}
    else:
        assert parts == (mention,)
