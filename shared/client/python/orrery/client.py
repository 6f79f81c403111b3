"""The client. It reads all pages of records, waits for queries that outlive their requests, and repeats requests that a
busy server refuses."""

from __future__ import annotations

import gzip
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from typing import Unpack

    import pandas

    from . import answers
    from .answers import Question

_BASE_PATH = "/api/v4.0"
_LONGEST_PAUSE = 60.0  # seconds, whatever the server asks for

Result = TypeVar("Result")


@dataclass
class FilterMistake:
    """A mistake in a filter. Offset and length are in bytes of the filter in UTF-8."""

    code: str
    message: str
    offset: int
    length: int
    parameter: str = ""  # the parameter with the filter, if that is not filters


@dataclass
class Invalid:
    """An invalid parameter or member of a body."""

    loc: list[Any]
    msg: str


class Error(Exception):
    """An answer that reports a failure."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.message: str = body["message"]
        self.errors = [
            FilterMistake(e["code"], e["message"], e["offset"], e["length"], e.get("parameter", ""))
            for e in body.get("errors") or []
        ]
        self.fixed_filter: str = body.get("fixed_filter") or ""  # the corrected filter, if the server knows one
        self.detail = [Invalid(d["loc"], d["msg"]) for d in body.get("detail") or []]
        self.request_id: str = body.get("request_id") or ""  # finds the failure in the log of the server
        super().__init__(self.message)

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  {'.'.join(str(part) for part in d.loc)}: {d.msg}" for d in self.detail]
        if self.status >= 500 and self.request_id:
            lines.append("  request id: " + self.request_id)
        return "\n".join(lines)


@dataclass
class Response:
    """The answer to a request that succeeded."""

    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer(Generic[Result]):
    """The answer to a question."""

    results: list[Result]
    meta: answers.Meta

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the results as a data frame with a row each. Members of members have names such as before.filter."""
        return _frame(self.results)


def records_to_pandas(records: Iterable[answers.Record]) -> pandas.DataFrame:
    """Returns records, such as those of Client.records, as a data frame with a row each."""
    return _frame(list(records))


def _frame(rows: list[Any]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("data frames need pandas: pip install pandas") from missing
    frame = pandas.json_normalize(rows)
    if "time_period" in frame:  # the start of a segment
        frame["time_period"] = pandas.to_datetime(frame["time_period"], unit="s", utc=True)
    if "timestamp" in frame:  # of a record
        frame["timestamp"] = pandas.to_datetime(frame["timestamp"], utc=True, format="ISO8601")
    return frame


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects are failures: following one would send the key to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class Client:
    """Sends requests to a server.

    base_url is the address of the server, such as https://example.com or, behind a stage of a gateway,
    https://example.com/live. It may end with the base path of the API.
    """

    base_url: str
    key: str = field(default="", repr=False)
    retries: int = 4  # how often a request is repeated that the server refuses with 429 or 503
    timeout: float = 90.0  # seconds of a request; longer than the time limit of the server
    pause: Callable[[float], None] = time.sleep  # waits so many seconds

    def __post_init__(self) -> None:
        address = urllib.parse.urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise ValueError(f"the address of the server is {self.base_url!r}, not one such as https://example.com")
        base = self.base_url.rstrip("/")
        before, mark, version = base.rpartition("/api/v")
        self._base = (before if mark and "/" not in version else base) + _BASE_PATH
        self._opener = urllib.request.build_opener(_NoRedirects)

    def do(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Sends a request and returns the answer. path is below the base path of the API, such as /data/logs.

        It waits for a query that outlives its request, and repeats requests that the server refused because it was busy,
        unless they change something. An answer that reports a failure is an Error.
        """
        at = self._base + path
        changes = method not in ("GET", "HEAD") and not path.startswith(("/data/", "/filters/"))
        attempt = 0
        while True:
            response = self._send(method, at, body, headers)
            location = response.headers.get("Location")
            if location and response.status in (202, 504):
                return self._await(at, location, _pause_of(response, attempt))
            if response.status // 100 == 2 or response.status == 304:
                return response
            if response.status not in (429, 503) or changes or attempt >= self.retries:
                raise _error_of(response, at)
            self.pause(_pause_of(response, attempt))
            attempt += 1

    def _await(self, at: str, location: str, wait: float) -> Response:
        """Asks for the answer of a running query until it has ended."""
        to = urllib.parse.urljoin(at, location)
        if urllib.parse.urlsplit(to)[:2] != urllib.parse.urlsplit(at)[:2]:
            raise ValueError(f"the server answers with the location {location!r}, which is not its own")
        refused = 0
        while True:
            self.pause(wait)
            response = self._send("GET", to, None, None)
            if response.status == 202:
                refused = 0
            elif response.status // 100 == 2:
                return response
            elif "Retry-After" not in response.headers:  # the query has failed
                raise _error_of(response, to)
            elif response.status == 504:
                refused = 0
            elif response.status in (429, 503) and refused < self.retries:
                refused += 1
            else:
                raise _error_of(response, to)
            wait = _pause_of(response, refused)

    def _send(self, method: str, to: str, body: bytes | None, headers: Mapping[str, str] | None) -> Response:
        request = urllib.request.Request(to, data=body, method=method)
        request.add_header("Accept-Encoding", "gzip")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if self.key:
            request.add_header("Authorization", "Bearer " + self.key)
        try:
            answer = self._opener.open(request, timeout=self.timeout)
        except urllib.error.HTTPError as failure:
            answer = failure
        with answer:
            content = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                content = gzip.decompress(content)
            return Response(answer.status, answer.headers, content)

    def _ask(self, route: str, question: Question) -> Answer[Any]:
        # POST accepts filters of any length.
        answer = self.do("POST", "/data/" + route, json.dumps(question).encode()).json()
        return Answer(answer["data"]["results"], answer["meta"])

    def logs(self, **question: Unpack[Question]) -> Answer[answers.Record]:
        """Returns the newest records."""
        return self._ask("logs", question)

    def records(self, **question: Unpack[Question]) -> Iterator[answers.Record]:
        """Returns all records, newest first, and reads one page after the other. limit is the length of a page."""
        while True:
            page = self.logs(**question)
            yield from page.results
            cursor = page.meta.get("next")
            if cursor is None:
                return
            if cursor == question.get("cursor"):
                raise ValueError(f"the server answers with the same cursor again: {cursor!r}")
            question["cursor"] = cursor

    def stats(self, **question: Unpack[Question]) -> Answer[answers.Stats]:
        """Returns the traffic of each segment."""
        return self._ask("stats", question)

    def timeline(self, **question: Unpack[Question]) -> Answer[answers.Timeline]:
        """Returns the security statistics of each segment."""
        return self._ask("timeline", question)

    def topx(self, **question: Unpack[Question]) -> Answer[answers.TopX]:
        """Returns the most blocked keys of each label."""
        return self._ask("topx", question)

    def facets(self, **question: Unpack[Question]) -> Answer[answers.Facet]:
        """Returns the most frequent values of fields."""
        return self._ask("facets", question)

    def histogram(self, **question: Unpack[Question]) -> Answer[answers.Bar]:
        """Returns counts for each segment, split by the values of a field."""
        return self._ask("histogram", question)

    def diff(self, **question: Unpack[Question]) -> Answer[answers.Finding]:
        """Returns the values whose shares differ between two sides, see meta["diff"]."""
        return self._ask("diff", question)

    def values(self, **question: Unpack[Question]) -> Answer[answers.Value]:
        """Returns values of a field. filters is a period, or absent."""
        return self._ask("values", question)

    def why(self, record_ref: str, secrets: bool = False) -> Answer[answers.Explanation]:
        """Returns why the request of a record was stopped; the only result is the explanation. With secrets, values that
        may identify a person or give access are not covered."""
        query = {"record_ref": record_ref}
        if secrets:
            query["secrets"] = "true"
        answer = self.do("GET", "/data/why?" + urllib.parse.urlencode(query)).json()
        return Answer(answer["data"]["results"], answer["meta"])

    def incidents(self, **question: Unpack[Question]) -> Answer[answers.Incident]:
        """Returns the incidents of a period of at most 31 days."""
        return self._ask("incidents", question)

    def effect(self, **question: Unpack[Question]) -> Answer[answers.Effect]:
        """Compares the blocked requests before and after the moment at. filters is absent, or has no period."""
        return self._ask("effect", question)

    def whatif(self, **question: Unpack[Question]) -> Answer[answers.WhatIf]:
        """Returns what the rule would have done. Of several rules, the first result is about all together, and each
        further one about a rule."""
        return self._ask("whatif", question)

    def status(self) -> answers.Status:
        """Returns the data, limits and routes of the server."""
        data: answers.Status = self.do("GET", "/status").json()["data"]
        return data


def _pause_of(response: Response, attempt: int) -> float:
    """Returns the seconds that the server asks to wait, or without Retry-After a time that doubles with each attempt."""
    asked = response.headers.get("Retry-After", "")
    return min(float(asked) if asked.isdecimal() else 2.0**attempt, _LONGEST_PAUSE)


def _error_of(response: Response, at: str) -> Error:
    try:
        body = response.json()
        return Error(response.status, body)
    except (ValueError, KeyError, TypeError, AttributeError):  # not an answer of the API
        host = urllib.parse.urlsplit(at).netloc
        return Error(response.status, {"message": f"{host} answered {response.status}"})
