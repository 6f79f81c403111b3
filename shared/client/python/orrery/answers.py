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
    fingerprint: str  # The same for every spelling of the same filter
    period: MetaPeriod
    segment_seconds: NotRequired[int]  # Length of a segment
    tz: NotRequired[str]  # The zone by whose clock segments, today and yesterday begin
    num_of_requests: NotRequired[int]  # Matching requests, for facets and diff
    engine: Literal["scan", "duckdb", "rows", "athena", "trino", "lists"]  # The method that answered
    elapsed_ms: float  # Milliseconds from request to answer, waiting included
    engine_ms: float  # Milliseconds of them in the engine
    objects: NotRequired[int]  # Parquet objects read; absent if the engine does not know it
    # Further objects of the period that were not read, because the same had been counted in them before; absent if
    # there are none, or for a key that is limited to branches
    objects_reused: NotRequired[int]
    bytes_scanned: int  # Compressed bytes of the columns read
    rows_considered: NotRequired[int]  # Records in the objects read; absent like objects
    skipped: NotRequired[list[str]]  # Objects that could not be read; their records are missing
    truncated: NotRequired[Truncated]  # Present if the answer is not complete
    # Time of the newest record when the request began; for a key that is limited to branches, its minute
    newest: str | None
    # Time of the oldest record when the request began; null if there is none, or for a key that is limited to branches
    oldest: str | None
    complete_through: str | None  # Every log handed in before this time is in the data, or was refused; null if unknown
    lists: NotRequired[list[ListMeta]]  # The lists of values that the filters name, in the versions that were used
    demo: NotRequired[bool]  # The records are those of a demo, because there are no others
    diff: NotRequired[DiffMeta]  # The two sides of a diff
    effect: NotRequired[EffectMeta]  # Of an effect: the moment, and the two periods that are compared
    next: NotRequired[str | None]  # Of logs: the parameter cursor of the next page; null on the last page
    head: NotRequired[str]  # Of logs: the parameter since of a later request for newer records
    # Of logs with since: matching records that arrived after the token was made and are older than its place; null if
    # not known
    late: NotRequired[int | None]
    percentiles: NotRequired[PercentilesMeta]  # Present if percentiles were asked for
    dry_run: NotRequired[bool]  # The query did not run; there is only an estimate
    estimate: NotRequired[Estimate]  # What was known before the query ran
    marks: NotRequired[list[Mark]]  # Of timeline and histogram with marks: changes of settings in the period, by time
    series: NotRequired[list[SeriesMeta]]  # Of a histogram, in the order of the results of a segment
    # Whether every figure is exact: no object was skipped, no time is rounded, no sum is saturated, and, of values, all
    # data of the period was looked at; absent in a dry run
    exact: NotRequired[bool]
    # Members of the results whose sums may exceed 64 bits: some values are the largest or smallest 64-bit integer, or a
    # mean computed from it
    saturated: NotRequired[list[str]]
    scope: NotRequired[LookedAt]  # Of values; absent for keys limited to branches
    unavailable: NotRequired[str]  # Of values: the reason why there is nothing to look at
    queue_ms: NotRequired[float]  # Milliseconds in the engine's own queue
    cost_usd: NotRequired[float]  # Price of the query; absent if the engine charges nothing
    cached: NotRequired[Cached]  # Present if the answer of an earlier equal query was reused
    split: NotRequired[bool]  # The engine ran the query in parts for lack of resources


MetaPeriod = TypedDict(
    "MetaPeriod",
    {
        "from": "str",  # RFC 3339, UTC
        "to": "str",  # RFC 3339, UTC
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
    method: str  # nearest rank: the smallest time that is not exceeded by so many percent
    digits: int  # Significant digits to which times are rounded down before
    error: float  # Largest relative error due to rounding; a percentile is never too long


class Estimate(TypedDict):
    # Hours of the data; absent for a key that is limited to branches, like objects, rows and the sizes of columns
    partitions: NotRequired[int]
    objects: NotRequired[int]  # Parquet objects; absent if not known
    objects_reused: NotRequired[int]  # As meta.objects_reused: further objects that need not be read
    rows: NotRequired[int]  # Records in these objects; absent if not known
    # What meta.bytes_scanned will be; null if not known; rounded up to 10 MB for a key that is limited to branches
    bytes: BytesEstimate | None
    columns: list[ColumnSize]  # The columns that are read
    # What meta.cost_usd will be; absent if the engine charges nothing or the bytes are not known
    cost_usd: NotRequired[PriceEstimate]
    # Milliseconds to the answer, by the median speed of the last 100 answers of this process; null if there are none,
    # the bytes are not known, or values are not counted
    wait_ms: MillisEstimate | None
    warnings: list[str]  # What is not known, and why
    # Columns that some of the objects do not have, because an earlier version wrote them: their fields are absent in
    # the records there; absent for a key that is limited to branches
    lacking: NotRequired[list[LackingColumn]]


class Mark(TypedDict):
    # Of a revision, the minute of the first request with it; of a planet, when the version was written. RFC 3339, UTC
    at: str
    # What has changed: the revision of the settings in security_config, or a planet
    kind: Literal["revision", "planet"]
    before: NotRequired[str]  # Of a revision: the earlier one
    after: NotRequired[str]  # Of a revision: the later one
    config: NotRequired[str]  # Of a planet: its configuration
    version: NotRequired[int]  # Of a planet: the number of the new version
    by: NotRequired[str]  # Of a planet: the name of the key that wrote the version


class SeriesMeta(TypedDict):
    series: str | None  # The value of a series of kind value, otherwise null
    kind: Literal["value", "other", "absent", "all"]  # other: the sum over all other values
    total: int  # Sum over the segments
    series_truncated: NotRequired[bool]  # series is cut and ends with its hash


class LookedAt(TypedDict):
    objects: int  # Objects that were looked at, the newest first
    of: int  # Objects of the period


class Cached(TypedDict):
    age_seconds: int  # At most


class Timeline(TypedDict):
    array_origin_status_codes: list[StatusCount]  # Origin statuses, most frequent first
    array_status_codes: list[StatusCount]  # Responses by status, most frequent first
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_human_requests: int
    num_of_ip: int  # Client addresses, exact
    num_of_origin_blocked_requests: int
    num_of_requests: int
    num_of_sessions: int  # Sessions, exact
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
    p50_total_time: NotRequired[float | None]  # null when no request has it
    p90_total_time: NotRequired[float | None]
    p99_total_time: NotRequired[float | None]
    p50_origin_time: NotRequired[float | None]  # null when no request has it
    p90_origin_time: NotRequired[float | None]
    p99_origin_time: NotRequired[float | None]
    p50_svc_time: NotRequired[float | None]  # null when no request has it
    p90_svc_time: NotRequired[float | None]
    p99_svc_time: NotRequired[float | None]


class TopX(TypedDict):
    label: Literal["country", "host", "ip", "organization", "origin_time", "reason", "referer", "svc_time", "svcid", "total_time", "url", "user_agent"]
    key: str
    avg_origin_time: float | None  # null when no request reached the origin
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
    p50_total_time: NotRequired[float | None]  # null when no request has it
    p90_total_time: NotRequired[float | None]
    p99_total_time: NotRequired[float | None]
    p50_origin_time: NotRequired[float | None]  # null when no request has it
    p90_origin_time: NotRequired[float | None]
    p99_origin_time: NotRequired[float | None]
    p50_svc_time: NotRequired[float | None]  # null when no request has it
    p90_svc_time: NotRequired[float | None]
    p99_svc_time: NotRequired[float | None]
    key_truncated: NotRequired[bool]  # The key was too long: it is cut and ends with its hash


class Facet(TypedDict):
    by: str  # The field, with its key if it has members
    type: Literal["string", "integer", "boolean"]  # Type of the values
    num_of_requests: int  # Requests that have a value
    num_of_absent: int  # Requests without one
    distinct: int  # Different values, exact
    values: list[FacetValue]  # A request counts once for each different value
    rest: FacetRest | None  # The other values; null if a request can have several


class Bar(TypedDict):
    time_period: int  # Segment start, Unix seconds
    timeperiod_string: str  # Segment start, UTC
    timeperiod_local: NotRequired[str]  # Segment start by the clock of tz
    series: str | None  # The value of a series of kind value, otherwise null
    kind: Literal["value", "other", "absent", "all"]  # Kind of the series
    value: int  # The measure
    series_truncated: NotRequired[bool]  # series is cut and ends with its hash


class Finding(TypedDict):
    by: str  # The field, with its key if it has members
    value: Any  # Text, an integer or a boolean
    selected: DiffSide
    baseline: DiffSide
    lift: float | None  # Share of the selected requests, divided by that of the baseline; null if the baseline has none
    score: float  # Of the G-test; negative if the share of the selected requests is the smaller one
    condition: NotRequired[str]  # Selects the requests with the value, if a filter can
    excluded: NotRequired[str]  # Selects all other requests
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class Value(TypedDict):
    value: Any  # Text, an integer or a boolean
    num_of_requests: NotRequired[int]  # With counts, like the following
    num_of_blocked_requests: NotRequired[int]
    num_of_challenges: NotRequired[int]
    num_of_monitored_requests: NotRequired[int]
    num_of_human_requests: NotRequired[int]
    condition: NotRequired[str]  # Selects the requests with the value, if a filter can
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class Explanation(TypedDict):
    record_ref: str
    timestamp: str
    request: str
    result: Literal["passed", "blocked", "challenged", "monitored", "refused"]
    sentence: str  # What happened to the request, with the names of rules and tags as the log has them
    cause: NotRequired[str]  # What caused a rule to act, in words of people; absent if none did
    verdict: NotRequired[Assessment]  # Absent if no rule acted
    stages: list[Stage]  # The way through the gateway; empty if the log does not have it
    matches: list[Match]  # The parts of the request that rules matched
    steps: list[Step]  # What to do
    exemption: NotRequired[Exemption]  # Absent if the rule has no exemptions
    ticket: str  # Plain text for a ticket
    customer: NotRequired[str]  # Plain text for the person who sent the request; absent if it passed


class Incident(TypedDict):
    id: str  # Hash of the target, the first minute and the kind
    # By the rules and paths that dominate; unusual if none does
    kind: Literal["password guessing", "injection", "scan", "flood", "scraping", "unusual"]
    target: str  # The host, with a prefix of the path if most of the incident is below it; – for logs without hosts
    host: str | None  # null for logs without hosts
    path: NotRequired[str]  # The prefix of the path
    begin: str  # The first minute, RFC 3339, UTC
    end: str | None  # The end of the last minute; null if the incident is still going on
    sentence: str  # The incident in words, with times in the zone of the request
    details: str  # Its numbers in words
    begins_earlier: bool  # The period cuts the incident: it begins earlier
    ends_later: bool  # The period cuts the incident: it ends later
    # Whether the gateway stopped the requests; otherwise the incident is concluded from what the origin answered
    certain: bool
    why: str  # Why it is an incident, and why it is less certain
    num_of_requests: int  # Requests that the filter of the incident selects, like the following
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_monitored_requests: int
    num_of_passed_requests: int  # Neither blocked nor challenged
    num_of_blocked_human_requests: int | None  # null if no request says whether its client is human
    num_of_ip: int  # Client addresses
    num_of_networks: int | None  # Organizations of the addresses; null if no request has one
    addresses: list[IncidentValue]  # The five with the most requests
    networks: list[IncidentValue]  # The five organizations with the most requests
    reasons: list[IncidentValue]  # The five reasons that blocked the most requests
    held: IncidentHeld  # Whether the origin served others as before
    filter: str  # Selects exactly these requests, in the query-string form


class Effect(TypedDict):
    # What is compared: all blocked requests, the requests that a rule blocked, or the requests blocked for a reason
    by: Literal["all", "rule", "reason"]
    value: str | None  # The rule or the reason; null for all, and for blocked requests without a reason
    sentence: str  # The comparison in words, with times in the zone of the request
    difference: int  # Blocked requests after the moment, minus those before it
    # What the number of requests explains: the difference if the same share of the requests had been blocked as before
    from_requests: int
    # What the rule explains: the rest of the difference, if it is too large to be chance, otherwise 0; of all, the sum
    # over the rules
    from_rules: int
    rest: int  # The part of the difference that neither explains
    before: EffectSide
    after: EffectSide


class WhatIf(TypedDict):
    # The rule in the shorter form, or in JSON if that cannot express it; all rules in the result of several together
    rule: str
    place: int | None  # Place of the rule in rules, from 0 on; null in the result of one rule, and of several together
    name: str | None  # null if the rule has no name
    action: Literal["block", "challenge", "monitor"]
    sentence: str  # The outcome in words, with times in the zone of the request
    num_of_requests: int  # Requests on which the rule would have acted
    num_of_blocked_requests: int  # Of these, the requests that the gateway blocked anyway
    # Of the others, the requests that rules before it would have stopped; 0 unless several rules are tried
    num_of_earlier_requests: int
    num_of_new_requests: int  # The rest: what the rule would change. The following figures are about them
    num_of_ip: int  # Client addresses
    num_of_sessions: int
    num_of_human_requests: int | None  # null if no request of the rule's says whether its client is human
    num_of_human_ip: int | None  # Client addresses of humans; null as above
    first: str | None  # The first of them, RFC 3339, UTC; null if there is none
    last: str | None
    threshold: int | None  # Of a limit
    num_of_keys: int | None  # Of a limit: keys with a request on which it would have acted
    # Of a limit: keys whose first window may have begun at another time, because their requests of the 24 hours before
    # the period have no pause
    num_of_phase_unknown: int | None
    segment_seconds: int  # Length of the segments
    segments: list[WhatIfSegment]  # Segments with requests on which the rule would have acted
    facets: list[WhatIfFacet]  # What the newly stopped requests have in common
    # At most twenty keys of a limit, or addresses: first those with the most newly stopped requests of humans, then
    # those with the most requests
    affected: list[WhatIfClient]
    # Of a limit that counts requests and has no ban: what other thresholds would do; otherwise empty
    curve: list[WhatIfPoint]
    # What a limit does to the attack that the request names; null if it names none, or too many requests would have to
    # be read
    attack: WhatIfAttack | None
    unknown: list[str]  # What the log does not tell
    json: str | None  # A limit as the API of the gateway has it; null if its conditions need more than a limit
    # The rule as the gateway has it, in the order in which its parts are added; empty if the gateway cannot have such
    # conditions or fields
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
        "except": "NotRequired[str]",  # Requests for which all of these conditions hold are not on this side
    },
)


class DiffTermMeta(TypedDict):
    by: str
    distinct: int  # Different values on both sides, exact
    num_of_absent_selected: int  # Selected requests without a value
    num_of_absent_baseline: int  # Requests of the baseline without a value


class EffectSideMeta(TypedDict):
    period: MetaPeriod
    num_of_requests: int
    num_of_human_requests: int | None  # null if no request says whether its client is human
    filter: str  # Selects exactly these requests, in the query-string form


class BytesEstimate(TypedDict):
    low: int
    high: int


class ColumnSize(TypedDict):
    name: str
    bytes: NotRequired[int]  # Compressed; absent if not known


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
    value: int  # Responses with it


class FacetValue(TypedDict):
    value: Any  # Text, an integer or a boolean
    num_of_requests: int
    num_of_blocked_requests: int
    num_of_challenges: int
    num_of_monitored_requests: int
    num_of_human_requests: int
    condition: NotRequired[str]  # Selects these requests, if a filter can
    value_truncated: NotRequired[bool]  # The value is cut and ends with its hash


class FacetRest(TypedDict):
    distinct: int
    num_of_requests: int
    num_of_blocked_requests: int


class DiffSide(TypedDict):
    num_of_requests: int
    share: float  # Of all requests of this side


class Assessment(TypedDict):
    verdict: Literal["mistake", "right", "unknown"]
    text: Literal["Probably a mistake", "Probably right", "Cannot be told"]
    points: int  # Sum over the reasons: 2 or more is a mistake, -3 or less is right
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
    text: str  # What it does
    parts: list[ExemptionPart]  # The changes, in order


class IncidentValue(TypedDict):
    value: str
    num_of_requests: int


class IncidentHeld(TypedDict):
    # look: it held, but humans were blocked; unknown: too few requests of others to tell
    state: Literal["held", "look", "not held", "unknown"]
    sentence: str
    # Requests to the same host that passed and that the filter does not select, in the time before the incident: as
    # long as the incident, at least ten minutes and at most an hour
    before: IncidentOthers
    during: IncidentOthers
    after: IncidentOthers  # Such requests in an equally long time after the incident


class EffectSide(TypedDict):
    num_of_blocked_requests: int
    num_of_blocked_human_requests: int | None  # null if none of them says whether its client is human
    filter: str  # Selects exactly these blocked requests, in the query-string form


class WhatIfSegment(TypedDict):
    time_period: int  # Start, Unix seconds
    num_of_requests: int
    num_of_new_requests: int


class WhatIfFacet(TypedDict):
    field: str
    values: list[WhatIfValue]  # At most ten


class WhatIfClient(TypedDict):
    key: list[WhatIfPart]
    num_of_new_requests: int
    num_of_human_requests: int | None
    first: str  # The first newly stopped request, RFC 3339, UTC
    last: str
    # Selects all requests of the client to which the rule applies, in the query-string form; conditions of which only
    # one must hold are left out
    filter: str
    # A request of the client in the same millisecond as the first one; null if no filter can select it, or in the
    # result of one of several rules
    record_ref: str | None


class WhatIfPoint(TypedDict):
    threshold: int
    num_of_requests: int
    num_of_new_requests: int
    num_of_ip: int  # Addresses with newly stopped requests
    num_of_human_requests: int | None  # Newly stopped requests of humans
    num_of_human_ip: int | None
    num_of_attack_requests: int | None  # Requests of the attack on which it acts; null without attack
    num_of_stopped_other_ip: int | None  # Others that it newly stops; null without attack


class WhatIfAttack(TypedDict):
    filter: str  # The conditions of its requests, in the query-string form
    sentence: str
    num_of_requests: int  # Requests of the attack to which the limit applies
    num_of_acted_requests: int  # Of these, the requests on which the limit would have acted
    # Whose addresses the others are: people if the log tells which requests humans sent, otherwise addresses of any
    # client
    others: Literal["people", "addresses"]
    num_of_other_ip: int  # Others: addresses with a request that is neither of the attack nor blocked today
    num_of_stopped_other_ip: int  # Others with such a request that is newly stopped
    # The best threshold; null if there is no curve, or no threshold stops a larger share of the attack than of the
    # others
    knee: WhatIfKnee | None


class WhatIfForm(TypedDict):
    to: str  # What it adds
    json: str  # As the API of the gateway has it
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
    points: int  # Above 0 for a mistake, below 0 against one
    counts: list[Count]  # The numbers in the text, each with its filter


class ExemptionPart(TypedDict):
    to: str  # The setting
    json: str  # As the API of the gateway has it: a whole global filter, or members to add to a profile or rule
    terraform: str  # As Terraform has it: a resource, or a block or attribute to add to the resource that there is


class IncidentOthers(TypedDict):
    num_of_requests: int
    num_of_errors: int  # Answered with a status of 500 or more
    avg_time: float | None  # Mean request_time in seconds of requests of at most ten seconds; null if there are none


class WhatIfValue(TypedDict):
    value: str
    num_of_new_requests: int


class WhatIfPart(TypedDict):
    field: str
    value: str


class WhatIfKnee(TypedDict):
    threshold: int
    sentence: str
    num_of_attack_requests: int  # Requests of the attack on which it acts
    num_of_stopped_other_ip: int  # Others that it newly stops
    rule: str  # The rule with this threshold, in the shorter form
    forms: list[WhatIfForm]  # The rule with this threshold as the gateway has it


class Quarantined(TypedDict):
    lines: int | None
    newest_code: str | None
    unreadable: str | None


class Count(TypedDict):
    name: Literal["requests", "people", "passed", "blocked"]
    filter: str  # In the query-string form, with its period
    num_of_requests: int
