"""Shows how programs use the package orrery. The arguments are the address of a server and, if not all of them, the
numbers of the examples. ../examples/main.go is the same for Go."""

import os
import sys

import orrery


def period_of(client: orrery.Client) -> str:
    """Returns the condition for the period of all records."""
    extent = client.status()["extent"]
    if extent is None or extent["from"] is None:
        sys.exit("the server has no records")
    return f"timestamp between {extent['from']} and {extent['to']}"


# 1. The requests of each hour, and how many were blocked.
def requests_by_hour(client: orrery.Client, period: str) -> None:
    answer = client.timeline(filters=period, segment="1h")
    for hour in answer.results[:3]:
        print(hour["timeperiod_string"], hour["num_of_requests"], hour["num_of_blocked_requests"])


# 2. The requests of each host, and the time that 99 of 100 of them do not exceed.
def slowest_hosts(client: orrery.Client, period: str) -> None:
    answer = client.stats(filters=period, segment="1d", group_by="hostname", figures="percentiles")
    for host in answer.results[:3]:
        print(f"{host['hostname']} {host['num_of_requests']} requests, {host['p99_total_time']:.3f} s")


# 3. The addresses with the most blocked requests.
def blocked_addresses(client: orrery.Client, period: str) -> None:
    answer = client.topx(filters=period, limit=3)
    for top in answer.results:
        if top["label"] == "ip":
            print(top["key"], top["num_of_blocked_requests"], "of", top["num_of_requests"])


# 4. The countries of blocked requests.
def blocked_countries(client: orrery.Client, period: str) -> None:
    answer = client.facets(filters=period + ", blocked is true", by="country", limit=3)
    for country in answer.results[0]["values"]:
        print(country["value"], country["num_of_requests"])


# 5. The reasons for which requests were blocked, with a series each.
def blocked_by_reason(client: orrery.Client, period: str) -> None:
    answer = client.histogram(filters=period + ", blocked is true", by="reason", segment="1h", limit=2)
    for series in answer.meta["series"]:
        if series["kind"] == "value":
            print(series["series"], series["total"])


# 6. What the blocked requests have in common, compared with all others.
def what_differs(client: orrery.Client, period: str) -> None:
    answer = client.diff(filters=period, select="blocked is true", by="country,method", limit=2)
    for finding in answer.results:
        print(finding["by"], finding["value"])


# 7. All records that match a filter, page by page.
def all_records(client: orrery.Client, period: str) -> None:
    n = 0
    for record in client.records(filters=period + ", status>=500", limit=10):
        n += 1
        if n == 1:
            print(record["method"], record["status"])
    print(n, "records")


# 8. Why the newest blocked request was stopped.
def why_blocked(client: orrery.Client, period: str) -> None:
    answer = client.logs(filters=period + ", blocked is true", limit=1, fields="record_ref")
    why = client.why(answer.results[0]["record_ref"])
    print(why.results[0]["sentence"])


# 9. The attacks of the period.
def incidents(client: orrery.Client, period: str) -> None:
    answer = client.incidents(filters=period)
    for incident in answer.results:
        print(incident["kind"], incident["target"], incident["num_of_requests"])


# 10. A mistake in a filter, with its place and the correction.
def mistakes(client: orrery.Client, period: str) -> None:
    try:
        client.timeline(filters=period + ", hots=shop.example")
    except orrery.Error as wrong:
        for mistake in wrong.errors:
            print(wrong.status, mistake.code, mistake.offset - len(period), mistake.length)
        print(wrong.fixed_filter.removeprefix(period))


EXAMPLES = [
    requests_by_hour, slowest_hosts, blocked_addresses, blocked_countries, blocked_by_reason, what_differs, all_records,
    why_blocked, incidents, mistakes,
]

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: examples.py URL [NUMBER ...]")
    to = orrery.Client(sys.argv[1], key=os.environ.get("ORRERY_API_KEY", ""))
    all_of_it = period_of(to)
    for number, example in enumerate(EXAMPLES, 1):
        if len(sys.argv) == 2 or str(number) in sys.argv[2:]:
            example(to, all_of_it)
