"""List every regular expression of the package, and try each with strings made of its own parts.

The lists are made from the source: every call of ``re`` in every module, its pattern computed from the names of
the module, or from ``_locals`` where a function makes it. An expression is tried with the methods that the package
calls on it, at growing lengths: its time must grow no faster than the text. Expressions of Arrow are not listed,
because its engine (RE2) takes linear time for all.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import pkgutil
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise, product, zip_longest
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

import nymlink
from benchmarks.campaigns.hostile import Row
from nymlink.tables import foreign_formats
from nymlink.text.contradictions import opposites
from nymlink.text.english import composite

Pattern = re.Pattern[str] | re.Pattern[bytes]

_CALLS: Final = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_METHODS: Final = frozenset(_CALLS[1:])
_LONG: Final = 9
"""Repeats of at least so many, counted as without end."""
_FLOOR: Final = 2e-3
"""Seconds below which a time says nothing."""
_FLOOR_OF_SHORT: Final = 0.1
"""The same of texts that are never long."""
_FURTHEST: Final = 0.25
"""Seconds after which no longer text is tried."""
_SHORT: Final = {"nymlink.core.store.atomic": 255, "nymlink.text.english.readings": 80}
"""Modules whose expressions see short texts alone, and how long these are: names of files, and of genes."""
_TOKENS: Final = (
    "nymlink.vocabulary.readers.owl.functional",
    "nymlink.vocabulary.readers.owl.turtle",
)
"""Modules with expressions that another one, of all that is read by tokens, matches where a token begins."""
EXPONENT: Final = 1.5
"""Times that grow faster than with this power of the length are not linear: noise and caches of the processor add
some tenths, and the next kind is quadratic."""


class Expression(NamedTuple):
    """A regular expression, and what is done with it.

    Attributes:
        place: module and line of the call that makes it.
        pattern: the expression.
        methods: the methods that are called on it; where it is handed on, those that are called there, or all of
            ``match``, ``fullmatch`` and ``search`` where that is not known.
    """

    place: str
    pattern: Pattern
    methods: frozenset[str]


class Finding(NamedTuple):
    """The worst time of an expression.

    Attributes:
        expression: what was tried.
        exponent: power of the length with which the time grows.
        method: with what method.
        attack: the text, as beginning, what is repeated, and end.
        length: characters of the longest text tried.
        seconds: time for that.
    """

    expression: Expression
    exponent: float
    method: str
    attack: tuple[str, str, str]
    length: int
    seconds: float


_WITH_WORDS: Final = ("_dose", "_said_before", "_said_after")


def modules() -> Iterator[ModuleType]:
    """Import all modules of the package but those whose libraries are not installed."""
    for found in pkgutil.walk_packages(nymlink.__path__, "nymlink."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ImportError as error:
                if (error.name or "").startswith("nymlink"):
                    raise


def _locals() -> dict[str, list[dict[str, Any]]]:
    """Say what functions make expressions of: function -> sets of the local names that they use."""
    begins = ast.parse(Path(foreign_formats.__file__).read_text("utf-8"))
    patterns = [
        call.args[0].value
        for call in ast.walk(begins)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "_begins"
        and isinstance(call.args[0], ast.Constant)
    ]
    table = opposites("en")
    joined, phrases = list(table.plain["joined"]), list(table.phrases)
    return {
        "nymlink.annotation.finding_tables.read_tables": [{"ordered": ["heart rate", "CK"]}],
        "nymlink.annotation.quantities.unit_pattern": [{"patterns": ["mmol\\s?/\\s?l", "sd"]}],
        "nymlink.annotation.matcher.carry_through": [{"definition": SimpleNamespace(short="A-1")}],
        "nymlink.core.store.atomic._clear_abandoned": [{"name": "a", "own": "[0-9]+-[0-9a-f]+@host"}],
        "nymlink.tables.foreign_formats._begins": [{"pattern": pattern} for pattern in patterns],
        "nymlink.corpus.readers.common.split_ids": [{"separators": ",|"}],
        "nymlink.linking.context._Cues.__init__": [
            {
                "word": r"[^\W_]+(?:['’][^\W_]+)?",
                "no": "no|none",
                "yes": "yes|present",
                "conjunctions": ("and", "or"),
            }
        ],
        "nymlink.linking.cells._separator": [{"words": "and|or"}, {"words": "et|ou|(?-i:y|e)"}],
        "nymlink.text.drugs._pattern": [{"words": r"tablet|film\-coated\ tablet|tab\."}],
        "nymlink.text.contradictions._Comparison.__init__": [
            {"word": word, "phrase": phrase} for word, phrase in zip_longest(joined, phrases, fillvalue="a")
        ],
        "nymlink.text.english.composite._words.pattern": [
            {"text": made.pattern} for made in composite._words() if isinstance(made, re.Pattern)
        ],
        **{f"nymlink.text.english.readings.{name}": [{"words": "left|not known"}] for name in _WITH_WORDS},
        "nymlink.text.expansion.occurrences": [{"sizes": ["a", "b"], "letters": r"\w"}],
    }


def expressions() -> tuple[list[Expression], list[str]]:
    """List the expressions of the package, each once, and the places whose expression is not known."""
    found: dict[Pattern, tuple[str, set[str]]] = {}
    unknown: list[str] = []
    locals_of = _locals()
    trees = [(module, ast.parse(Path(module.__file__ or "").read_text("utf-8"))) for module in modules()]
    for module, tree in trees:
        for function, call in _calls(tree):
            assert isinstance(call.func, ast.Attribute)
            place = f"{module.__name__}:{call.lineno}"
            for known in locals_of.get(f"{module.__name__}.{function}", [{}]):
                try:
                    made = _made(call, vars(module) | known)
                except NameError:
                    unknown.append(f"{place} in {function}")
                    continue
                _, methods = found.setdefault(made, (place, set()))
                if call.func.attr in _METHODS:
                    methods.add(call.func.attr)
    for module, tree in trees:
        if module.__name__ not in _TOKENS:
            _add_methods(tree, vars(module), found)
    for place, methods in found.values():
        if place.partition(":")[0] in _TOKENS:
            methods.add("match")
    return [Expression(place, pattern, frozenset(methods)) for pattern, (place, methods) in found.items()], unknown


def _calls(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Find the calls of ``re``, each with the function in which it is."""
    for node in ast.iter_child_nodes(tree):
        within = function
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            within = f"{function}.{node.name}".strip(".")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {f"re.{name}" for name in _CALLS}:
            yield function, node
        yield from _calls(node, within)


def _made(call: ast.Call, names: dict[str, Any]) -> Pattern:
    """Compile what a call compiles."""
    assert isinstance(call.func, ast.Attribute)
    stated = [each.value for each in call.keywords if each.arg == "flags"]
    if call.func.attr == "compile":
        stated += call.args[1:2]
    elif call.func.attr not in ("sub", "subn", "split"):
        stated += call.args[2:3]
    pattern, *flags = (eval(compile(ast.Expression(part), "", "eval"), names) for part in (call.args[0], *stated))
    return re.compile(pattern, *flags)


def _add_methods(tree: ast.AST, names: dict[str, Any], found: dict[Pattern, tuple[str, set[str]]]) -> None:
    """Find what a module calls on the expressions among its names, and functions on those that they are given."""
    seen: set[int] = set()
    handed: list[Pattern] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            seen.add(id(node.value))
            pattern = names.get(node.value.id)
            if isinstance(pattern, re.Pattern) and pattern in found and node.attr in _METHODS:
                found[pattern][1].add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = names.get(node.func.id)
            for argument in node.args:
                if inspect.isfunction(function) and isinstance(argument, ast.Name) and id(argument) not in seen:
                    seen.add(id(argument))
                    for pattern in _within(names.get(argument.id)):
                        if pattern in found:
                            found[pattern][1].update(_called(ast.parse(inspect.getsource(function)), {}))
        elif isinstance(node, ast.Name) and id(node) not in seen and isinstance(node.ctx, ast.Load):
            handed += (pattern for pattern in _within(names.get(node.id)) if pattern in found)
    for pattern in handed:
        found[pattern][1].update(_called(tree, names) or ("match", "fullmatch", "search"))


def _called(tree: ast.AST, names: Collection[str]) -> set[str]:
    """Find what is called on other names than these."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    others = (node for node in nodes if not (isinstance(node.value, ast.Name) and node.value.id in names))
    return {node.attr for node in others if node.attr in _METHODS - {"split"}}


def _within(value: object) -> Iterator[Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _within(part)
    elif isinstance(value, Mapping):
        yield from _within(list(value.values()))


_SAMPLES: Final = "a1 -A_,.(\"'/:[{<|\t\n;)]}>=@#%&*+!?\\xié中α\x01"
_ENDS: Final = ("\x00", "\n", "a")


def _characters(node: Any) -> str:
    """Characters that a set has, the commonest first."""
    kind, value = node
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return "".join(each for each in _SAMPLES if ord(each) != value)
    if kind is op.ANY:
        return _SAMPLES.replace("\n", "")
    members = list(value)
    negated = members[0][0] is op.NEGATE
    stated = [
        chr(at)
        for what, of in members
        if what in (op.LITERAL, op.RANGE)
        for at in (of if what is op.RANGE else (of,))
    ]
    chosen = [*_SAMPLES, *stated]
    return "".join(dict.fromkeys(each for each in chosen if _has(members[negated:], each) is not negated))


def _has(members: Sequence[Any], character: str) -> bool:
    for kind, value in members:
        if kind is op.LITERAL and ord(character) == value:
            return True
        if kind is op.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if kind is op.CATEGORY and re.match(_CATEGORIES[value], character):
            return True
    return False


_CATEGORIES: Final = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _parts(node: Any) -> list[Any]:
    """The sequences inside a node."""
    kind, value = node
    if kind in _REPEATS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [part for part in value[1:] if part is not None]
    return []


def _sample(sequence: Any, *, choice: int = 0) -> str:
    """Write a text that a sequence matches, looking around left out; another one for another choice."""
    text = ""
    for kind, value in sequence:
        if kind in _REPEATS:
            text += _sample(value[2], choice=choice) * max(value[0], min(1, value[1]))
        elif kind is op.SUBPATTERN:
            text += _sample(value[3], choice=choice)
        elif kind is op.BRANCH:
            text += _sample(value[1][choice % len(value[1])], choice=choice)
        elif kind is op.ATOMIC_GROUP:
            text += _sample(value, choice=choice)
        elif kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            among = _characters((kind, value))
            text += among[choice % len(among)] if among else ""
    return text


def _pumps(sequence: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Find what is repeated, and a text that leads there."""
    for node in sequence:
        kind, value = node
        for part in _parts(node):
            yield from _pumps(part, before)
        if kind in _REPEATS and value[1] >= _LONG:
            bodies = value[2]
            count = max(3, *(len(part[1][1]) for part in bodies if part[0] is op.BRANCH), 0)
            for choice in range(min(count, 12)):
                yield before, _sample(bodies, choice=choice)
        before += _sample([node])


def attacks(pattern: Pattern) -> list[tuple[str, str, str]]:
    """Make texts (beginning, what is repeated, end) of the parts of an expression."""
    source = pattern.pattern
    tree = parser.parse(source, pattern.flags)
    pumps = list(dict.fromkeys(_pumps(tree)))
    whole = _sample(tree)
    single = list(dict.fromkeys([*_alphabet(tree)[:10], *(pump for _, pump in pumps), " ", "a"]))
    repeated = [("", each) for each in single]
    repeated += [("", "".join(pair)) for pair in product(_alphabet(tree)[:6], repeat=2) if pair[0] != pair[1]]
    repeated += [("", unit) for before, pump in pumps for unit in (before, before + pump)]
    repeated += [("", whole), ("", whole[:-1]), (whole, whole[-1:])]
    repeated += [(before, pump) for before, pump in pumps]
    repeated += [(before, one) for before, _ in pumps for one in single[:8]]
    return [
        (before, unit, end) for before, unit in dict.fromkeys(repeated) if unit for end in _ENDS if unit != end
    ]


def _alphabet(sequence: Any) -> str:
    """Characters that matter to an expression: of each of its sets the first."""
    found: dict[str, None] = {}
    waiting = deque([sequence])
    while waiting:
        for node in waiting.popleft():
            waiting.extend(_parts(node))
            if node[0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
                found.update(dict.fromkeys(_characters(node)[:2]))
    return "".join(found)


def _use(pattern: Any, method: str, text: str | bytes) -> None:
    if method in ("sub", "subn"):
        getattr(pattern, method)(text[:0], text)
    elif method == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    else:
        getattr(pattern, method)(text)


def worst(expression: Expression, longest: int = 1 << 14) -> Finding:
    """Try an expression with all its methods on all its attacks.

    Args:
        expression: what is tried.
        longest: characters of the longest text.

    Returns:
        The first attack whose time grows faster than the text; else that whose time grows the fastest.
    """
    short = _SHORT.get(expression.place.partition(":")[0])
    longest, floor = (longest, _FLOOR) if short is None else (short, _FLOOR_OF_SHORT)
    found = Finding(expression, 0.0, "", ("", "", ""), 0, 0.0)
    for attack in attacks(expression.pattern):
        for method in sorted(expression.methods or ("match", "fullmatch", "search")):
            exponent, length, seconds = _growth(expression.pattern, method, attack, longest, floor)
            if exponent > found.exponent:
                found = Finding(expression, exponent, method, attack, length, seconds)
            if exponent > EXPONENT:
                return found
    return found


def _growth(
    pattern: Pattern, method: str, attack: tuple[str, str, str], longest: int, floor: float
) -> tuple[float, int, float]:
    """Measure how the time grows with the length: the power, the last length and its time."""
    before, unit, end = attack

    def seconds(length: int, times: int = 1) -> float:
        text: Any = before + unit * (length // len(unit)) + end
        if isinstance(pattern.pattern, bytes):
            text = text.encode("utf-8")
        return min(_measured(lambda: _use(pattern, method, text)) for _ in range(times))

    taken = 0.0
    lengths = [*range(8, 32, 4), 32, 64, 128, 256, 1024, 4096]
    lengths = [length for length in lengths if length < longest] + [longest]
    for earlier, length in pairwise(lengths):  # noqa: B007 - the last pair is used below
        if (taken := seconds(length)) > (_FURTHEST if length == longest else _FURTHEST / 8):
            break
    if taken < floor:
        return 0.0, length, taken
    taken, shorter = seconds(length, 3), seconds(earlier, 3)
    return math.log(taken / max(shorter, 1e-6)) / math.log(length / earlier), length, taken


def _measured(do: Callable[[], None]) -> float:
    start = time.thread_time()
    do()
    return time.thread_time() - start


def run(folder: Path, *, long: bool = False) -> list[Row]:  # noqa: ARG001 - a campaign is given a folder
    """Try every expression of the package; longer texts if asked."""
    found, unknown = expressions()
    worsts = [worst(expression, 1 << 16 if long else 1 << 14) for expression in found]
    fell = sorted((each for each in worsts if each.exponent > EXPONENT), key=lambda each: -each.exponent)
    return [
        Row(
            kind="regular expressions whose time grows faster than the text",
            tried=len(found),
            fell=len(fell),
            note="; ".join(f"{each.expression.place}: power {each.exponent:.1f}" for each in fell[:1]),
        ),
        Row(
            kind="regular expressions that the list does not have",
            tried=len(found),
            fell=len(unknown),
            note=", ".join(unknown),
        ),
    ]
