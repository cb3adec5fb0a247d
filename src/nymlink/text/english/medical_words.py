"""Words of medical English that :mod:`~nymlink.text.english.paraphrases` knows: organs, functions, what ails them.

American spelling; in the form in which names are compared (:func:`~nymlink.text.normalise.normalise`).
"""

from __future__ import annotations

from typing import Final

NOUNS: Final = (
    ("betic", ("betes",)),
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

EVENTS: Final = frozenset(
    "attack attacks episode episodes event events lesion lesions state states symptom symptoms syndrome "
    "syndromes".split()
)
"""What stands beside an adjective that says it all ("embolic events")."""

COMPLICATIONS: Final = ("complication", "complications")

CONSEQUENCES: Final = ("embolic", "hemorrhagic", "thrombotic")
"""Ends of adjectives of what is itself the complication: diabetic complications are no diabetes."""

EVENTFUL: Final = tuple(
    "allergic asthmatic cholestatic convulsive depressive embolic emic epileptic hemorrhagic itic lytic matous "
    "metastatic otic penic tensive".split()
)
"""Ends of such adjectives: of others the noun is a field, a method or a process ("neurologic", "endoscopic")."""

UNEVENTFUL: Final = ("academic", "analytic", "biotic", "catalytic", "hypnotic", "narcotic")
"""Those of some that are of no event, too."""

DISEASE: Final = ("disease", "diseases", "disorder", "disorders")

AILING: Final = frozenset(
    "abnormality abnormalities complication complications condition conditions damage defect defects disturbance "
    "disturbances dysfunction dysfunctions involvement lesion lesions".split()
)
"""What is said of a part that something is wrong with, and not what. An injury or a failure is something."""

MISSHAPEN: Final = frozenset(
    "abnormality abnormalities anomaly anomalies defect defects disturbance disturbances malformation "
    "malformations".split()
)
"""What is said of anything that is not as it should be."""

CHANGED: Final = frozenset(
    "alteration alterations change changes finding findings involvement manifestation manifestations problem "
    "problems".split()
)
"""What is said of it when that need not be its shape."""

FAILING: Final = frozenset(
    "abnormality abnormalities defect defects disturbance disturbances dysfunction dysfunctions".split()
)
"""Those of them that are said of what is no part, too ("sleep disturbance"). A lesion that is granulomatous, or a
complication that is hemorrhagic, is no disease of that name."""

NAMESAKES: Final = frozenset(
    ("conduct", "coronary", "coronary artery", "mental", "motor neuron", "personality", "physical")
)
"""What gave its name to one certain disease, and may have others."""

TOXICITY: Final = ("toxicity", "toxicities", "toxic")

IMPAIRED: Final = (
    FAILING
    | frozenset((*DISEASE, *TOXICITY))
    | frozenset("decline deficit deficits deterioration impairment impairments retardation".split())
)
"""What is said of a function that has a disorder."""

INSUFFICIENT: Final = ("impairment", "impairments")
"""What is said of an organ that does too little."""

SUFFICING: Final = frozenset(
    "adrenal hepatic kidney liver ovarian ovary pancreas pancreatic pituitary renal respiratory thyroid".split()
)
"""Organs that are insufficient then. Of a vessel that would be said of its valve."""

LESS: Final = ("decreased", "diminished", "reduced")
WRONG: Final = ("abnormal", "impaired")
"""How a function may be ("impaired renal function")."""

FUNCTIONS: Final = (
    # The noun, where there is one, and adjectives.
    ("behavior", "behavioral"),
    ("cognition", "cognitive"),
    ("consciousness",),
    ("hearing", "auditory"),
    ("language",),
    ("memory",),
    ("menstruation", "menstrual"),
    ("mood", "affective"),
    ("olfaction", "olfactory"),
    ("perception", "perceptual"),
    ("psychomotor",),
    ("sensation", "sensory"),
    ("sleep",),
    ("speech",),
    ("taste", "gustatory"),
    ("vision", "visual"),
    ("voice",),
)
"""What a body does: it has disorders, where organs have diseases."""

SENSES: Final = {"oto": "hearing"}
"""Combining forms of organs of which a function suffers from what is toxic."""

INHERITED: Final = frozenset(
    "dominantly genetic hereditary heritable inherited mendelian monogenic recessive recessively".split()
)

INHERITANCE: Final = INHERITED | frozenset(("autosomal", "dominant", "human"))
"""How something is inherited. What is autosomal may be a chromosome, and what is dominant, many a thing."""

UNNAMED: Final = frozenset(
    "condition conditions defect defects disease diseases disorder disorders syndrome syndromes".split()
)
"""What is called after nothing but how it is inherited. An abnormality of genes may be a tumor's."""

GENETIC: Final = ("genetic disease", "genetic disorder", "hereditary disease", "hereditary disorder")

SPORADIC: Final = "sporadic"
"""Says no more than that nobody inherited it."""

WIDER: Final = {
    "adenocarcinoma": ("carcinoma", "cancer"),
    "adenocarcinomas": ("carcinomas", "cancers"),
    "anomalies": ("abnormalities",),
    "anomaly": ("abnormality", "abnormalities"),
    "malformation": ("abnormality", "abnormalities"),
    "malformations": ("abnormalities",),
    "malignancies": ("cancers",),
    "malignancy": ("cancer",),
}
"""Last words, and others that are as wide or wider."""

HISTOLOGIES: Final = ("basal cell", "small cell", "spindle cell", "squamous cell")
"""Of which an adenocarcinoma is another tumor than a carcinoma."""

PHRASES: Final = {
    **dict.fromkeys(
        ("enzyme deficiency", "enzyme deficiencies", "enzymopathy", "enzymopathies"),
        ("inborn error of metabolism", "inborn errors of metabolism"),
    ),
    **dict.fromkeys(
        ("immune deficiency", "immune deficiencies", "immunodeficiency", "immunodeficiencies"),
        ("immunodeficiency disease", "immunodeficiency disorder", "immunologic deficiency syndrome"),
    ),
    "neurodegeneration": ("neurodegenerative disease", "neurodegenerative disorder"),
}
"""Of which no rule can be made."""

ORGANS: Final = (
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
    ("odonto", "dental", "tooth"),
    ("oophoro", "ovarian", "ovary"),
    ("ophthalmo", "ophthalmic", "ophthalmologic", "ophthalmological", "ocular", "eye"),
    ("orchido", "testicular", "testis"),
    ("osteo", "osseous", "bone"),
    ("oto", "otic", "ear"),
    ("pancreato", "pancreatic", "pancreas"),
    ("pneumo", "pulmonary", "lung"),
    ("prosopo", "facial", "face"),
    ("prostato", "prostatic", "prostate"),
    ("retino", "retinal", "retina"),
    ("rhino", "nasal", "nose"),
    ("spleno", "splenic", "spleen"),
    ("stomato", "oral", "mouth"),
)

PARTS: Final = frozenset(
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

NERVES: Final = "neuro"
"""Of which a -pathy is a disease of the nerves outside brain and spinal cord, and what is toxic, to either."""
