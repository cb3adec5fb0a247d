"""Ask a chat model about doubtful links: which candidate a mention means, or none.

The model answers requests in the form of OpenAI's chat completions (``POST /v1/chat/completions``), as servers of
llama.cpp and vLLM do. Nothing is sent unless the caller gives an address.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from math import inf, prod
from pathlib import Path
from threading import Lock
from typing import IO, Any, Final, NamedTuple
from urllib.parse import urlsplit

from nymlink.core.environment import user_cache
from nymlink.core.errors import InputError
from nymlink.core.store.atomic import output_errors
from nymlink.core.terminal import tell
from nymlink.core.toml_settings import make_settings, read_toml
from nymlink.corpus.documents import Document
from nymlink.linking.chat_model import KEY, ChatModel, FailedRequestError
from nymlink.linking.context import sentence
from nymlink.linking.link import Candidate, Link
from nymlink.vocabulary.vocabulary import Vocabulary

_TOGETHER: Final = 4
"""Number of questions that wait for the model at the same time."""
_TRIES: Final = 3
_WAIT: Final = 1.0
"""Seconds before the second try. The wait doubles for each further try."""
_GIVE_UP: Final = 3
"""Number of questions without an answer, one after the other, after which the model is left alone for a while."""
_PAUSE: Final = 60.0
"""Seconds of that while."""
_DEFINITION: Final = 400
_SENTENCE: Final = 1000
"""Characters of a definition and of a sentence that are sent."""

_ORDER: Final = (
    "You link mentions in biomedical texts to concepts of a vocabulary. Choose the candidate that means the same "
    'as the mention does in its sentence. Answer with one JSON object and nothing else: {"answer": NUMBER}. The '
    "number is that of the candidate, or 0 if no candidate means the same."
)
_THOUGHT: Final = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_ANSWER: Final = re.compile(r'"answer"\s*:\s*"?(\d{1,3})\b')
_BARE: Final = re.compile(r"\W*(\d{1,3})\W*")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The settings of a :class:`Judge`.

    Attributes:
        url: address of the server ("http://localhost:8080"), with or without ``/v1`` or ``/v1/chat/completions``.
        model: name of the model; empty for the only model that the server lists.
        below: links with less confidence than this are doubtful.
        most_requests: largest number of requests, repeated ones included.
        seconds: time limit of a request.
        file: file of questions and answers (JSON lines). Answers in the file are used again. Empty for a file in
            the cache folder.

    Raises:
        ValueError: the address is none of http or https, or has a password; or a number is out of range.
    """

    url: str
    model: str = ""
    below: float = 0.5
    most_requests: int = 1000
    seconds: float = 30.0
    file: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address of a judge begins with http:// or https://, not {self.url!r}")
        if parts.username or parts.password:
            raise ValueError(f"the address of a judge has no password: put its key into {KEY}")
        if not 0 < self.below <= 1:
            raise ValueError(f"below must be above 0, at most 1, not {self.below}")
        if self.most_requests < 1 or not self.seconds > 0:
            raise ValueError("most_requests and seconds must be above 0")

    @classmethod
    def of(cls, where: str) -> JudgeSettings:
        """Make settings of an address, or read the table ``[judge]`` of a TOML file.

        Raises:
            InputError: the address is wrong, or the file is missing, or a setting in it is unknown or wrong.
        """
        if "://" in where:
            return make_settings(cls, {"url": where})
        path = Path(where)
        table = read_toml(path).get("judge")
        if not isinstance(table, Mapping):
            raise InputError("there is no table [judge] with the url of a model", path=path)
        settings = make_settings(cls, table, path=path, table=("judge",))
        # A relative file is beside the settings.
        return replace(settings, file=str(path.parent / settings.file)) if settings.file else settings

    @property
    def endpoint(self) -> str:
        """Address of chat completions."""
        base = self.url.rstrip("/").removesuffix("/chat/completions")
        return f"{base if urlsplit(base).path else f'{base}/v1'}/chat/completions"

    @property
    def log(self) -> Path:
        """Path of the file of questions and answers."""
        return Path(self.file) if self.file else user_cache() / "judge.jsonl"


class _Question(NamedTuple):
    """A question about a link, and the digest by which an earlier answer is found."""

    text: str
    mention: str
    candidates: tuple[str, ...]
    digest: str


class _Answer(NamedTuple):
    """An answer of the model.

    Attributes:
        place: the candidate, from 1; 0 for none; ``None`` without a usable answer.
        problem: why there is no usable answer.
        said: what the model wrote.
        tries: number of requests.
    """

    place: int | None
    problem: str = ""
    said: str | None = None
    tries: int = 0


class Judge:
    """Asks a chat model about doubtful links.

    A link is doubtful if it has candidates, and its confidence is below ``settings.below`` or unknown. The model
    gets the mention, its sentence, and up to ten candidates with their definitions. The candidate that it chooses
    comes first. If it chooses none, the link is NIL. A link stays as it was if the model gives no usable answer.
    :attr:`Link.judged <nymlink.linking.link.Link.judged>` says what happened.

    Before the first request, the address is printed on standard error. Each question and its answer is appended to
    the file of the settings. Threads may share a judge.

    Args:
        settings: the address of the model, and limits.

    Raises:
        OutputError: the file of questions and answers cannot be written.
    """

    candidates: Final = 10
    """Number of candidates that the model chooses from."""

    def __init__(self, settings: JudgeSettings) -> None:
        self.settings = settings
        self.requests = 0
        """Number of requests so far."""
        self._lock, self._log_lock = Lock(), Lock()
        self._begun = False
        self._model = settings.model
        self._failed, self._paused_until = 0, 0.0
        self._known = _read_log(settings.log)
        self._server = ChatModel(settings.endpoint)
        with output_errors(settings.log), _open_log(settings.log):
            pass

    def __reduce__(self) -> tuple[Any, ...]:
        raise InputError("a judge cannot be passed to another process: make one in each process (Judge(settings))")

    def is_doubtful(self, link: Link) -> bool:
        """Whether the model is asked about a link, or about a part of a composite one."""
        confidence = link.confidence
        return bool(link.candidates) and (confidence is None or confidence < self.settings.below)

    def judge(
        self,
        documents: Sequence[Document],
        links: Sequence[Sequence[Link]],
        vocabulary: Vocabulary,
        *,
        until: float = inf,
    ) -> list[list[Link]]:
        """Ask about the doubtful links of documents.

        Args:
            documents: D documents.
            links: the links of each document, with at least ten candidates if the search found so many.
            vocabulary: the vocabulary of the candidates.
            until: time of :func:`time.monotonic` after which no answer is waited for.

        Returns:
            The links of each document, judged.

        Raises:
            OutputError: an answer cannot be written to the file.
        """
        if any(self.is_doubtful(single) for own in links for link in own for single in link.singles):
            self.begin()
        asked = {
            (number, place, part): self._question(document, link, single, vocabulary)
            for number, (document, own) in enumerate(zip(documents, links, strict=True))
            for place, link in enumerate(own)
            for part, single in enumerate(link.singles)
            if self.is_doubtful(single)
        }
        distinct = list({question.digest: question for question in asked.values()}.values())
        answers = dict(zip((each.digest for each in distinct), self._answers(distinct, until), strict=True))
        judged = [list(own) for own in links]
        for number, place in dict.fromkeys((number, place) for number, place, _ in asked):
            singles = list(judged[number][place].singles)
            for part, single in enumerate(singles):
                question = asked.get((number, place, part))
                if question is not None:
                    singles[part] = self._judged(single, answers[question.digest])
            judged[number][place] = joined(judged[number][place], singles)
        return judged

    def _judged(self, link: Link, answer: _Answer) -> Link:
        if answer.place is None:
            return replace(link, judged=f"not judged: {answer.problem}")
        return chosen(link, answer.place, self._model or "the model")

    def _question(self, document: Document, link: Link, single: Link, vocabulary: Vocabulary) -> _Question:
        around = ""
        if link.mention.start is not None and document.text:
            around = _cut(sentence(document.text, link.mention), link.mention.text)
        candidates = single.candidates[: self.candidates]
        lines = [f"Mention: {' '.join(single.mention.text.split())}"]
        lines += [f"Sentence: {around}"] if around else []
        described = (_described(at, each, vocabulary) for at, each in enumerate(candidates, start=1))
        lines += ["Candidates:", *described]
        text = "\n".join(lines)
        digest = sha256(f"{self._model}\n{_ORDER}\n{text}".encode("utf-8", "replace")).hexdigest()
        return _Question(text, single.mention.text, tuple(each.concept_id for each in candidates), digest)

    def _answers(self, questions: Sequence[_Question], until: float) -> list[_Answer]:
        new = [question for question in questions if question.digest not in self._known]
        with ThreadPoolExecutor(_TOGETHER) as pool:
            answered = pool.map(partial(self._answer, until=until), new)
            found = dict(zip((each.digest for each in new), answered, strict=True))
        return [found.get(each.digest) or _Answer(self._known[each.digest]) for each in questions]

    def begin(self) -> None:
        """Say where texts go before the first goes there, and learn the name of the model.

        Raises:
            InputError: the server has several models, and the settings name none.
        """
        with self._lock:
            if self._begun:
                return
            self._begun = True
            settings = self.settings
            tell(
                f"judge: nymlink sends doubtful mentions, their sentences and candidates to {settings.endpoint}, "
                f"and keeps questions and answers in {settings.log}",
                level="notice",
            )
            if not self._model:
                try:
                    self._model = _only(self._server.models(settings.seconds), settings.url)
                except FailedRequestError as error:
                    warnings.warn(f"{settings.url}: the judge does not name its model: {error}", stacklevel=2)

    def _answer(self, question: _Question, until: float) -> _Answer:
        started = time.monotonic()
        if self._failed >= _GIVE_UP and started < self._paused_until:
            return _Answer(None, f"the judge did not answer {_GIVE_UP} questions in a row")
        answer = self._asked(question, until)
        with self._lock:
            if answer.tries:
                # Nonsense is an answer, and no reason to stop.
                self._failed = self._failed + 1 if answer.said is None else 0
                self._paused_until = time.monotonic() + _PAUSE
            if answer.place is not None:
                self._known[question.digest] = answer.place
        if answer.tries:
            self._write(question, answer, time.monotonic() - started)
        return answer

    def _asked(self, question: _Question, until: float) -> _Answer:
        messages = [{"role": "system", "content": _ORDER}, {"role": "user", "content": question.text}]
        for number in range(1, _TRIES + 1):
            seconds = min(self.settings.seconds, until - time.monotonic())
            if seconds <= 0:
                return _Answer(None, "no time was left for it", tries=number - 1)
            with self._lock:
                if self.requests >= self.settings.most_requests:
                    return _Answer(None, f"{self.settings.most_requests} requests were made", tries=number - 1)
                self.requests += 1
            try:
                said = self._server.complete(self._model, messages, seconds)
            except FailedRequestError as error:
                if not error.again or number == _TRIES:
                    return _Answer(None, str(error), tries=number)
                time.sleep(min(_WAIT * 2 ** (number - 1), max(until - time.monotonic(), 0)))
                continue
            place = read_answer(said, len(question.candidates))
            return _Answer(place, "" if place is not None else "the answer names no candidate", said, number)
        raise AssertionError("the last try returns")

    def _write(self, question: _Question, answer: _Answer, seconds: float) -> None:
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "url": self.settings.endpoint,
            "model": self._model,
            "digest": question.digest,
            "mention": question.mention,
            "order": _ORDER,
            "question": question.text,
            "candidates": question.candidates,
            "answer": answer.said,
            "choice": answer.place,
            "concept_id": question.candidates[answer.place - 1] if answer.place else None,
            "problem": answer.problem or None,
            "tries": answer.tries,
            "seconds": round(seconds, 3),
        }
        written = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        log = self.settings.log
        with self._log_lock, output_errors(log), _open_log(log) as file:
            file.write(written)


def _only(models: Sequence[str], url: str) -> str:
    """Return the only model of a server; empty if it lists none.

    Raises:
        InputError: there are several.
    """
    if len(models) > 1:
        raise InputError(
            f"{url} has several models ({', '.join(models[:10])}): name one as `model` in the table [judge] of a "
            "settings file"
        )
    return models[0] if models else ""


def chosen(link: Link, place: int, who: str) -> Link:
    """Apply a choice to a link.

    The confidence belongs to the first candidate; it is removed if another candidate becomes first.

    Args:
        link: a link with candidates.
        place: the chosen candidate, from 1; 0 for none of them.
        who: name of the model.
    """
    if place == 0:
        return replace(link, nil=True, judged=f"{who} chose no candidate")
    first = link.candidates[place - 1]
    others = (*link.candidates[: place - 1], *link.candidates[place:])
    return replace(link.reordered((first, *others)), nil=False, judged=f"{who} chose candidate {place}")


def read_answer(said: str, count: int) -> int | None:
    """Read the number in an answer of a model: 0 to ``count``; ``None`` if there is no such number."""
    said = _THOUGHT.sub("", said)
    found = _ANSWER.findall(said) or ([bare[1]] if (bare := _BARE.fullmatch(said)) else [])
    return int(found[-1]) if found and int(found[-1]) <= count else None


def joined(link: Link, singles: Sequence[Link]) -> Link:
    """Put judged parts into a link."""
    if not link.parts:
        return singles[0]
    confidences = [part.confidence for part in singles]
    known = [each for each in confidences if each is not None]
    return replace(
        link,
        parts=tuple(singles),
        confidence=round(prod(known), 6) if len(known) == len(confidences) else None,
        nil=any(part.nil for part in singles),
    )


def _described(number: int, candidate: Candidate, vocabulary: Vocabulary) -> str:
    matched = "" if candidate.matched.text == candidate.concept_name else f", also called {candidate.matched.text}"
    definition = vocabulary[candidate.concept_id].definition or ""
    if len(definition) > _DEFINITION:
        definition = f"{definition[:_DEFINITION]}…"
    described = f"{number}. {candidate.concept_name}{matched}{f': {definition}' if definition else ''}"
    return " ".join(described.split())


def _cut(text: str, mention: str) -> str:
    """Cut a long sentence to the characters around its mention."""
    if len(text) <= _SENTENCE:
        return text
    middle = max(text.find(" ".join(mention.split())), 0)
    start = max(0, min(middle - _SENTENCE // 2, len(text) - _SENTENCE))
    return text[start : start + _SENTENCE]


def _open_log(path: Path) -> IO[bytes]:
    """Open the file of questions and answers to append to it; only its owner may read it, because it has texts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a+b", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    if file.seek(0, os.SEEK_END):
        # A killed run may have left half a line.
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def _read_log(path: Path) -> dict[str, int]:
    """Read the usable answers of earlier runs: digest of the question → choice. Damaged lines are skipped."""
    known: dict[str, int] = {}
    if path.is_file():
        with output_errors(path), open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    value = json.loads(line)
                    choice, digest = value["choice"], value["digest"]
                    if type(choice) is int and 0 <= choice <= len(value["candidates"]):
                        known[str(digest)] = choice
                except (ValueError, LookupError, TypeError, RecursionError):
                    continue
    return known
