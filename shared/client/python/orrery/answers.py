"""What the API answers. Times are texts in RFC 3339 format. The file is generated:
go test ./shared/client -run PythonTypes -update
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Record = dict[str, Any]  # of the logs; its members depend on the request


class Question(TypedDict):
    filters: NotRequired[str]
    limit: NotRequired[int]
    fields: NotRequired[str]
    segment: NotRequired[str]
    tz: NotRequired[str]
    group_by: NotRequired[str]
    figures: NotRequired[str]
    by: NotRequired[str]
    measure: NotRequired[str]
    order: NotRequired[str]
    cursor: NotRequired[str]
    since: NotRequired[str]
    select: NotRequired[str]
    against: NotRequired[str]
    least: NotRequired[int]
    field: NotRequired[str]
    prefix: NotRequired[str]
    contains: NotRequired[str]
    counts: NotRequired[bool]
    at: NotRequired[str]
    length: NotRequired[str]
    rule: NotRequired[str]
    rules: NotRequired[list[str]]
    attack: NotRequired[str]
    marks: NotRequired[bool]
    max_bytes: NotRequired[int]
    dry_run: NotRequired[bool]


class Meta(TypedDict):
    filter: str  # Canonical filter, in the query-string form
    fingerprint: str  # Fingerprint of the filter, which is the same for every spelling
    period: MetaPeriod
    segment_seconds: NotRequired[int]  # Length of a segment
    tz: NotRequired[str]  # Time zone of the segments, of today and of yesterday
    num_of_requests: NotRequired[int]  # Matching requests, for facets and diff
    engine: Literal["scan", "duckdb", "rows", "athena", "trino", "lists"]  # The method that answered
    elapsed_ms: float  # Milliseconds from request to answer, waiting included
    engine_ms: float  # Milliseconds in the engine, which elapsed_ms includes
    objects: NotRequired[int]  # Parquet objects read; absent if the engine does not know it
    # Further objects of the period that were not read, because an earlier query had counted the same in them; absent if
    # there are none, or for a key that is limited to branches
    objects_reused: NotRequired[int]
    bytes_scanned: int  # Compressed bytes of the columns read
    rows_considered: NotRequired[int]  # Records in the objects read; absent if objects is absent
    skipped: NotRequired[list[str]]  # Objects that could not be read; their records are missing
    truncated: NotRequired[Truncated]  # Present if the answer is not complete
    # Time of the newest record when the request began; for a key that is limited to branches, only its minute
    newest: str | None
    # Time of the oldest record when the request began; null if there is none, or for a key that is limited to branches
    oldest: str | None
    complete_through: str | None  # Every log handed in before this time is in the data, or was refused; null if unknown
    lists: NotRequired[list[ListMeta]]  # The lists of values that the filters name, in the versions that were used
    demo: NotRequired[bool]  # The records come from the demo, because there are no others
    diff: NotRequired[DiffMeta]  # The two sides of a diff
    effect: NotRequired[EffectMeta]  # For an effect: the moment and the two periods that are compared
    next: NotRequired[str | None]  # For logs: the parameter cursor of the next page; null on the last page
    head: NotRequired[str]  # For logs: the parameter since of a later request for newer records
    # For logs with since: number of matching records that arrived after the token was made, but are too old to be
    # returned; null if not known
    late: NotRequired[int | None]
    percentiles: NotRequired[PercentilesMeta]  # Present if percentiles were asked for
    dry_run: NotRequired[bool]  # The query did not run; there is only an estimate
    estimate: NotRequired[Estimate]  # The estimate that was made before the query ran
    # For timeline and histogram with marks: changes of settings in the period, in the order of time
    marks: NotRequired[list[Mark]]
    series: NotRequired[list[SeriesMeta]]  # The series of a histogram, in the order of the results of a segment
    # Whether every figure is exact: no object was skipped, no time is rounded, no sum is saturated, and, for values,
    # all data of the period was searched; absent in a dry run
    exact: NotRequired[bool]
    # Members of the results whose sums may exceed 64 bits: some values are the largest or smallest 64-bit integer, or a
    # mean computed from it
    saturated: NotRequired[list[str]]
    scope: NotRequired[LookedAt]  # For values: how much of the data was searched; absent for keys limited to branches
    unavailable: NotRequired[str]  # For values: why there is nothing to search
    queue_ms: NotRequired[float]  # Milliseconds in the engine's own queue
    cost_usd: NotRequired[float]  # Price of the query; absent if the engine charges nothing
    cached: NotRequired[Cached]  # Present if the answer of an earlier equal query was reused
    split: NotRequired[bool]  # The engine ran the query in parts for lack of resources


MetaPeriod = TypedDict(
    "MetaPeriod",
    {
        "from": "str",  # Beginning of the period, RFC 3339, UTC
        "to": "str",  # End of the period, RFC 3339, UTC
    },
)


class Truncated(TypedDict):
    reason: Literal["limit", "bytes"]  # limit: more records match; bytes: the answer is too large


class ListMeta(TypedDict):
    list: str  # CONFIGURATION/NAME, or only the name if the configuration is prod
    version: int
    num_of_values: int


class DiffMeta(TypedDict):
    selected: DiffSideMeta
    baseline: DiffSideMeta
    small: NotRequired[bool]  # Present if fewer than 30 requests are selected: findings may be chance
    fields: list[DiffTermMeta]  # The fields that were compared, in the order of the request


class EffectMeta(TypedDict):
    at: str  # The moment, RFC 3339, UTC
    length_seconds: int  # Length of each of the two periods
    shortened: NotRequired[bool]  # The periods are shorter than asked for, because there is no later data
    before: EffectSideMeta
    after: EffectSideMeta


class PercentilesMeta(TypedDict):
    # nearest rank: p90, for example, is the smallest time that at least 90 percent of the requests do not exceed
    method: str
    digits: int  # Significant digits to which times are rounded down before percentiles are computed
    error: float  # Largest relative error due to rounding; a percentile is never larger than the exact one


class Estimate(TypedDict):
    # Number of hours of data to read; like objects, rows and the sizes of columns, absent for a key that is limited to
    # branches
    partitions: NotRequired[int]
    objects: NotRequired[int]  # Number of Parquet objects to read; absent if not known
    objects_reused: NotRequired[int]  # Further objects that need not be read, as in meta.objects_reused
    rows: NotRequired[int]  # Records in these objects; absent if not known
    # The expected range of meta.bytes_scanned; null if not known; rounded up to 10 MB for a key that is limited to
    # branches
    bytes: BytesEstimate | None
    columns: list[ColumnSize]  # The columns that are read
    # The expected range of meta.cost_usd; absent if the engine charges nothing or the bytes are not known
    cost_usd: NotRequired[PriceEstimate]
    # Milliseconds until the answer, computed from the median speed of the last 100 answers of this process; null if
    # there are none, the bytes are not known, or values are not counted
    wait_ms: MillisEstimate | None
    warnings: list[str]  # What is not known, and why
    # Columns that some objects lack, because an earlier version wrote these objects: the fields are absent in their
    # records; absent for a key that is limited to branches
    lacking: NotRequired[list[LackingColumn]]


class Mark(TypedDict):
    # When the settings changed, RFC 3339, UTC: the minute of the first request with the new revision, or the time when
    # the version of the planet was written
    at: str
    # What changed: the revision of the gateway's settings, as in security_config, or a planet
    kind: Literal["revision", "planet"]
    before: NotRequired[str]  # The earlier revision; absent for a planet
    after: NotRequired[str]  # The later revision; absent for a planet
    config: NotRequired[str]  # Configuration of the planet; absent for a revision
    version: NotRequired[int]  # Number of the planet's new version; absent for a revision
    by: NotRequired[str]  # Name of the key that wrote the version; absent for a revision


class SeriesMeta(TypedDict):
    series: str | None  # The value, if the kind of the series is value; otherwise null
    kind: Literal["value", "other", "absent", "all"]  # other: the sum over all other values
    total: int  # Sum over the segments
    series_truncated: NotRequired[bool]  # series is cut and ends with its hash


class LookedAt(TypedDict):
    objects: int  # Objects that were searched, the newest first
    of: int  # Objects of the period


class Cached(TypedDict):
    age_seconds: int  # Age of the reused answer in seconds, rounded up


class Timeline(TypedDict):
    array_origin_status_codes: list[StatusCount]  # Origin statuses, most frequent first
    array_status_codes: list[StatusCount]  # Responses by status, most frequent first
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_human_requests: int
    num_of_ip: int  # Exact number of client addresses
    num_of_origin_blocked_requests: int
    num_of_requests: int
    num_of_sessions: int  # Exact number of sessions
    sum_of_sent_bytes: int
    time_period: int  # Segment start, Unix seconds
    timeperiod_string: str  # Segment start, UTC
    timeperiod_local: NotRequired[str]  # Segment start by the clock of tz


class Stats(TypedDict):
    avg_latency: float | None  # Mean request_time in seconds; null if no request has one, 0 if there are no requests
    hostname: NotRequired[str]  # Busiest host of the segment, or the group's host; absent if grouped by a field
    num_of_requests: int
    sum_of_bandwidth: int  # Bytes sent and received
    time_period: int  # Segment start, Unix seconds
    timeperiod_string: str  # Segment start, UTC
    timeperiod_local: NotRequired[str]  # Segment start by the clock of tz
    value: NotRequired[Any]  # If grouped by a field: text, an integer or a boolean; absent for requests without a value
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash
    p50_total_time: NotRequired[float | None]  # null if no request has a total time
    p90_total_time: NotRequired[float | None]
    p99_total_time: NotRequired[float | None]
    p50_origin_time: NotRequired[float | None]  # null if no request has an origin time
    p90_origin_time: NotRequired[float | None]
    p99_origin_time: NotRequired[float | None]
    p50_svc_time: NotRequired[float | None]  # null if no request has a service time
    p90_svc_time: NotRequired[float | None]
    p99_svc_time: NotRequired[float | None]


class TopX(TypedDict):
    label: Literal["country", "host", "ip", "organization", "origin_time", "reason", "referer", "svc_time", "svcid", "total_time", "url", "user_agent"]
    key: str
    avg_origin_time: float | None  # null if no request reached the origin
    max_origin_time: float | None
    min_origin_time: float | None
    avg_svc_time: float | None
    max_svc_time: float | None
    min_svc_time: float | None
    avg_total_time: float | None
    max_total_time: float | None
    min_total_time: float | None
    first_asn: str
    first_geo_country: str
    first_organization: str
    num_of_blocked_requests: int
    num_of_bot_requests: int
    num_of_challenges: int
    num_of_human_requests: int
    num_of_monitored_requests: int
    num_of_requests: int
    sum_of_bytes_sent: int
    sum_of_request_length: int
    p50_total_time: NotRequired[float | None]  # null if no request has a total time
    p90_total_time: NotRequired[float | None]
    p99_total_time: NotRequired[float | None]
    p50_origin_time: NotRequired[float | None]  # null if no request has an origin time
    p90_origin_time: NotRequired[float | None]
    p99_origin_time: NotRequired[float | None]
    p50_svc_time: NotRequired[float | None]  # null if no request has a service time
    p90_svc_time: NotRequired[float | None]
    p99_svc_time: NotRequired[float | None]
    key_truncated: NotRequired[bool]  # The key was too long: it is cut and ends with its hash


class Facet(TypedDict):
    by: str  # The field, with its key if it has members
    type: Literal["string", "integer", "boolean"]  # Type of the values
    num_of_requests: int  # Requests that have a value
    num_of_absent: int  # Requests without a value
    distinct: int  # Exact number of different values
    values: list[FacetValue]  # The most frequent values; a request counts once for each different value
    rest: FacetRest | None  # The values that are not listed; null if a request can have several values


class Bar(TypedDict):
    time_period: int  # Segment start, Unix seconds
    timeperiod_string: str  # Segment start, UTC
    timeperiod_local: NotRequired[str]  # Segment start by the clock of tz
    series: str | None  # The value, if the kind of the series is value; otherwise null
    kind: Literal["value", "other", "absent", "all"]  # Kind of the series
    value: int  # Value of the measure in the segment
    series_truncated: NotRequired[bool]  # series is cut and ends with its hash


class Finding(TypedDict):
    by: str  # The field, with its key if it has members
    value: Any  # Text, an integer or a boolean
    selected: DiffSide
    baseline: DiffSide
    # Share of the value in the selected requests, divided by its share in the baseline; null if the baseline has none
    lift: float | None
    score: float  # Score of the G-test; negative if the share of the selected requests is the smaller one
    condition: NotRequired[str]  # A condition that selects the requests with the value; absent if no filter can
    excluded: NotRequired[str]  # A condition that selects all other requests
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class Value(TypedDict):
    value: Any  # Text, an integer or a boolean
    # Requests with the value; this and the following numbers are present only if the request asks for counts
    num_of_requests: NotRequired[int]
    num_of_blocked_requests: NotRequired[int]
    num_of_challenges: NotRequired[int]
    num_of_monitored_requests: NotRequired[int]
    num_of_human_requests: NotRequired[int]
    condition: NotRequired[str]  # A condition that selects the requests with the value; absent if no filter can
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class Explanation(TypedDict):
    record_ref: str
    timestamp: str
    request: str
    result: Literal["passed", "blocked", "challenged", "monitored", "refused"]
    sentence: str  # What happened to the request, with the names of rules and tags as the log has them
    cause: NotRequired[str]  # What caused a rule to act, in plain words; absent if none did
    verdict: NotRequired[Assessment]  # Whether the decision was a mistake; absent if no rule acted
    stages: list[Stage]  # The way through the gateway; empty if the log does not have it
    matches: list[Match]  # The parts of the request that rules matched
    steps: list[Step]  # What to do
    exemption: NotRequired[Exemption]  # An exemption from the rule; absent if the rule has no exemptions
    ticket: str  # Plain text for a ticket
    customer: NotRequired[str]  # Plain text for the person who sent the request; absent if it passed


class Incident(TypedDict):
    id: str  # Hash of the target, the first minute and the kind
    # Kind of the incident, according to the rules and paths that dominate; unusual if none does
    kind: Literal["password guessing", "injection", "scan", "flood", "scraping", "unusual"]
    target: str  # The host, with a prefix of the path if most of the incident is below it; – for logs without hosts
    host: str | None  # The host; null for logs without hosts
    path: NotRequired[str]  # The prefix of the path
    begin: str  # The first minute, RFC 3339, UTC
    end: str | None  # The end of the last minute; null if the incident is still going on
    sentence: str  # The incident in words, with times in the zone of the request
    details: str  # The numbers of the incident in words
    begins_earlier: bool  # The incident begins before the period
    ends_later: bool  # The incident ends after the period
    # Whether the gateway stopped the requests; otherwise the incident is inferred from the answers of the origin
    certain: bool
    why: str  # Why this is an incident, and why it is less certain
    # Requests that the filter of the incident selects; the following numbers are about these requests, too
    num_of_requests: int
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_monitored_requests: int
    num_of_passed_requests: int  # Requests that were neither blocked nor challenged
    # Blocked requests of humans; null if no request says whether its client is human
    num_of_blocked_human_requests: int | None
    num_of_ip: int  # Client addresses
    num_of_networks: int | None  # Organizations of the addresses; null if no request has one
    addresses: list[IncidentValue]  # The five addresses with the most requests
    networks: list[IncidentValue]  # The five organizations with the most requests
    reasons: list[IncidentValue]  # The five reasons that blocked the most requests
    held: IncidentHeld  # Whether the origin served others as before
    filter: str  # A filter that selects exactly these requests, in the query-string form


class Effect(TypedDict):
    # What is compared: all blocked requests, the requests that a rule blocked, or the requests blocked for a reason
    by: Literal["all", "rule", "reason"]
    value: str | None  # The rule or the reason; null for all, and for blocked requests without a reason
    sentence: str  # The comparison in words, with times in the zone of the request
    difference: int  # Blocked requests after the moment, minus those before it
    # The part of the difference that the number of requests explains: the difference if the same share of the requests
    # had been blocked as before
    from_requests: int
    # The part of the difference that the rule explains: what remains of the difference, if that is too large to be
    # chance, otherwise 0. For all, the sum over the rules
    from_rules: int
    rest: int  # The part of the difference that neither the number of requests nor the rules explain
    before: EffectSide
    after: EffectSide


class WhatIf(TypedDict):
    # The rule in the shorter form, or in JSON if the shorter form cannot express it. The result of all rules together
    # has all rules
    rule: str
    # Index of the rule in rules, from 0; null if the request has rule instead of rules, and in the result of all rules
    # together
    place: int | None
    name: str | None  # Name of the rule; null if it has none
    action: Literal["block", "challenge", "monitor"]
    sentence: str  # The outcome in words, with times in the zone of the request
    num_of_requests: int  # Requests on which the rule would have acted
    num_of_blocked_requests: int  # How many of these requests the gateway blocked anyway
    # How many of the others the rules before it would have stopped; 0 unless several rules are tried
    num_of_earlier_requests: int
    # The remaining requests, for which the rule would change the outcome. The following numbers are about them
    num_of_new_requests: int
    num_of_ip: int  # Client addresses
    num_of_sessions: int
    # Requests of humans; null if no request on which the rule would have acted says whether its client is human
    num_of_human_requests: int | None
    num_of_human_ip: int | None  # Client addresses of humans; null if num_of_human_requests is null
    first: str | None  # Time of the first of these requests, RFC 3339, UTC; null if there is none
    last: str | None
    threshold: int | None  # Threshold of a limit; null for other rules
    num_of_keys: int | None  # Keys that have a request on which the limit would have acted; null for other rules
    # Keys whose first window may have begun at another time, because their requests of the 24 hours before the period
    # have no pause; null for other rules
    num_of_phase_unknown: int | None
    segment_seconds: int  # Length of the segments
    segments: list[WhatIfSegment]  # Segments with requests on which the rule would have acted
    facets: list[WhatIfFacet]  # What the newly stopped requests have in common
    # At most twenty keys of a limit, or addresses; the most newly stopped requests of humans come first, then the most
    # newly stopped requests
    affected: list[WhatIfClient]
    # What other thresholds would do; empty unless the rule is a limit that counts requests and has no ban
    curve: list[WhatIfPoint]
    # What the limit does to the attack in the request; null if the request has none, or too many requests would have to
    # be read
    attack: WhatIfAttack | None
    unknown: list[str]  # What the log does not tell
    # The limit in the form of the gateway's API; null for other rules, and if its conditions need more than a limit
    json: str | None
    # The parts of the rule in the forms of the gateway, in the order in which they are added; empty if the gateway has
    # no such conditions or fields
    forms: list[WhatIfForm]


class Status(TypedDict):
    version: str
    engine: str
    extent: Extent | None
    complete_through: str | None
    kept: Kept | None
    records: int | None
    objects: int | None
    bytes: int | None
    hours: list[Hour]
    demo: bool
    ingest: Ingest | None
    price: Price | None
    limits: Limits
    features: list[str]
    key: Key | None


DiffSideMeta = TypedDict(
    "DiffSideMeta",
    {
        "num_of_requests": "int",
        "period": "MetaPeriod",
        "filter": "str",  # Canonical filter of this side
        "except": "NotRequired[str]",  # Conditions; requests for which all of them hold are not on this side
    },
)


class DiffTermMeta(TypedDict):
    by: str
    distinct: int  # Exact number of different values on both sides
    num_of_absent_selected: int  # Selected requests without a value
    num_of_absent_baseline: int  # Requests of the baseline without a value


class EffectSideMeta(TypedDict):
    period: MetaPeriod
    num_of_requests: int
    num_of_human_requests: int | None  # Requests of humans; null if no request says whether its client is human
    filter: str  # A filter that selects exactly these requests, in the query-string form


class BytesEstimate(TypedDict):
    low: int
    high: int


class ColumnSize(TypedDict):
    name: str
    bytes: NotRequired[int]  # Compressed size of the column; absent if not known


class PriceEstimate(TypedDict):
    low: float
    high: float


class MillisEstimate(TypedDict):
    low: float
    high: float


class LackingColumn(TypedDict):
    name: str
    objects: int


class StatusCount(TypedDict):
    key: str  # Status code
    value: int  # Number of responses with this status


class FacetValue(TypedDict):
    value: Any  # Text, an integer or a boolean
    num_of_requests: int
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_monitored_requests: int
    num_of_human_requests: int
    condition: NotRequired[str]  # A condition that selects these requests; absent if no filter can
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class FacetRest(TypedDict):
    distinct: int
    num_of_requests: int
    num_of_blocked_requests: int


class DiffSide(TypedDict):
    num_of_requests: int
    share: float  # Share of all requests of this side


class Assessment(TypedDict):
    verdict: Literal["mistake", "right", "unknown"]
    text: Literal["Probably a mistake", "Probably right", "Cannot be told"]
    # Sum of the points of all reasons: with 2 or more, the decision was a mistake; with -3 or less, it was right
    points: int
    reasons: list[Reason]


class Stage(TypedDict):
    name: Literal["global filter", "rate limit", "acl", "content filter", "origin"]
    state: Literal["passed", "stopped", "not reached"]


class Match(TypedDict):
    field: str  # The part, as filters name it
    part: str  # The part in words
    text: NotRequired[str]  # What the rule matched there; covered if it is sensitive


class Step(TypedDict):
    text: str  # A sentence; it names rules and parts of the request, but no values
    filter: NotRequired[str]  # Conditions of the requests to look at, without a period
    planets: NotRequired[bool]  # The settings are in a planet


class Exemption(TypedDict):
    text: str  # What the exemption does
    parts: list[ExemptionPart]  # The changes, in order


class IncidentValue(TypedDict):
    value: str
    num_of_requests: int


class IncidentHeld(TypedDict):
    # look: the origin served others as before, but humans were blocked; unknown: there were too few requests of others
    # to tell
    state: Literal["held", "look", "not held", "unknown"]
    sentence: str
    # Requests to the same host, before the incident, that passed and that the filter does not select. The time is as
    # long as the incident, but at least ten minutes and at most an hour
    before: IncidentOthers
    during: IncidentOthers
    after: IncidentOthers  # Such requests during an equally long time after the incident


class EffectSide(TypedDict):
    num_of_blocked_requests: int
    # Blocked requests of humans; null if no blocked request says whether its client is human
    num_of_blocked_human_requests: int | None
    filter: str  # A filter that selects exactly these blocked requests, in the query-string form


class WhatIfSegment(TypedDict):
    time_period: int  # Segment start, Unix seconds
    num_of_requests: int
    num_of_new_requests: int


class WhatIfFacet(TypedDict):
    field: str
    values: list[WhatIfValue]  # The most frequent values, at most ten


class WhatIfClient(TypedDict):
    key: list[WhatIfPart]
    num_of_new_requests: int
    num_of_human_requests: int | None
    first: str  # Time of the first newly stopped request, RFC 3339, UTC
    last: str
    # A filter that selects all requests of the client to which the rule applies, in the query-string form; it leaves
    # out conditions of which only one must hold
    filter: str
    # Reference to a request of the client in the same millisecond as the first newly stopped request; null if no filter
    # can select it, and in the result of one of several rules
    record_ref: str | None


class WhatIfPoint(TypedDict):
    threshold: int
    num_of_requests: int
    num_of_new_requests: int
    num_of_ip: int  # Addresses with newly stopped requests
    num_of_human_requests: int | None  # Newly stopped requests of humans
    num_of_human_ip: int | None
    # Requests of the attack on which the limit acts at this threshold; null if the request has no attack
    num_of_attack_requests: int | None
    # Others that the limit newly stops at this threshold; null if the request has no attack
    num_of_stopped_other_ip: int | None


class WhatIfAttack(TypedDict):
    filter: str  # The conditions of the attack's requests, in the query-string form
    sentence: str
    num_of_requests: int  # Requests of the attack to which the limit applies
    num_of_acted_requests: int  # How many of these requests the limit would have acted on
    # What the others are: people if the log says which requests humans sent, otherwise addresses of any client
    others: Literal["people", "addresses"]
    # Number of others: addresses with a request that is neither part of the attack nor blocked today
    num_of_other_ip: int
    num_of_stopped_other_ip: int  # Others with such a request that the limit newly stops
    # The best threshold; null if there is no curve, or no threshold stops a larger share of the attack than of the
    # others
    knee: WhatIfKnee | None


class WhatIfForm(TypedDict):
    to: str  # What this part of the rule adds
    json: str  # The JSON that the API of the gateway takes
    terraform: str  # A resource for the provider link11dev/link11waap
    curl: str  # The command that sends the JSON to the gateway, with variables for domain, configuration and key


Extent = TypedDict(
    "Extent",
    {
        "from": "str | None",
        "to": "str",
    },
)


Kept = TypedDict(
    "Kept",
    {
        "hours": "int",
        "from": "str",
    },
)


class Hour(TypedDict):
    partition: str
    objects: int
    records: int | None
    bytes: int
    compacted: bool


class Ingest(TypedDict):
    watching: bool
    last_source: str | None
    last_at: str | None
    quarantined: Quarantined


class Price(TypedDict):
    usd_per_tb: float
    minimum_bytes: int


class Limits(TypedDict):
    filter_bytes: int
    body_bytes: int
    answer_bytes: int
    segments: int
    by: int
    limit: dict[str, int]
    wait_seconds: float | None


class Key(TypedDict):
    name: str
    scopes: list[str]
    branches: list[str]
    expires: str | None


class Reason(TypedDict):
    # rule: others on whom the same rule acted; session: what the client sent before; path: other people at the same
    # path
    reason: Literal["rule", "session", "path"]
    text: str
    points: int  # Positive if the reason suggests a mistake, negative if it suggests the opposite
    counts: list[Count]  # The numbers in the text, each with its filter


class ExemptionPart(TypedDict):
    to: str  # The setting to change
    # The JSON that the API of the gateway takes: a whole global filter, or members to add to a profile or rule
    json: str
    terraform: str  # The Terraform code: a resource, or a block or attribute to add to the existing resource


class IncidentOthers(TypedDict):
    num_of_requests: int
    num_of_errors: int  # Requests that were answered with a status of 500 or more
    # Mean request_time, in seconds, of the requests that took at most ten seconds; null if there are none
    avg_time: float | None


class WhatIfValue(TypedDict):
    value: str
    num_of_new_requests: int


class WhatIfPart(TypedDict):
    field: str
    value: str


class WhatIfKnee(TypedDict):
    threshold: int
    sentence: str
    num_of_attack_requests: int  # Requests of the attack on which the limit acts at this threshold
    num_of_stopped_other_ip: int  # Others that the limit newly stops at this threshold
    rule: str  # The rule with this threshold, in the shorter form
    forms: list[WhatIfForm]  # The rule with this threshold in the forms of the gateway


class Quarantined(TypedDict):
    lines: int | None
    newest_code: str | None
    unreadable: str | None


class Count(TypedDict):
    name: Literal["requests", "people", "passed", "blocked"]
    filter: str  # The filter in the query-string form, with its period
    num_of_requests: int
