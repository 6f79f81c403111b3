"""Calls a client that openapi-python-client has made, at the address of the first argument."""

import sys

from orrery_api_client import Client
from orrery_api_client.api.data import logs, stats, timeline, topx
from orrery_api_client.api.filters import filter_get
from orrery_api_client.api.service import status

period = "timestamp between 2026-01-01 and 2026-01-02"

with Client(base_url=sys.argv[1]) as client:
    print("status", status.sync(client=client).data.records)
    segments = timeline.sync(client=client, filters=period, segment="1h").data.results
    print("timeline", len(segments), sum(s.num_of_requests for s in segments))
    segments = stats.sync(client=client, filters=period, segment="1h").data.results
    print("stats", len(segments), sum(s.sum_of_bandwidth for s in segments))
    first = topx.sync(client=client, filters=period, limit=1).data.results[0]
    print("topx", first.label.value, first.key, first.num_of_requests)
    for record in logs.sync(client=client, filters=period, limit=2, fields="status,method,blocked").data.results:
        print("logs", record.status, record.method, str(record.blocked).lower())
    export = {"filters": period, "limit": 2, "fields": "status,method", "format": "csv"}
    print("export", *client.get_httpx_client().get("/data/logs", params=export).text.split())  # it takes all answers for JSON
    answer = topx.sync_detailed(client=client, filters=period + ", hots=x")
    print("error", answer.status_code.value, answer.parsed.errors[0].code, answer.parsed.errors[0].suggestion)
    answer = filter_get.sync_detailed("prod", "errors", client=client)
    print("filter", answer.parsed.filters, str(answer.headers["ETag"] == answer.parsed.etag).lower())
