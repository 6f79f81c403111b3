"""Calls a client that openapi-generator has made, at the address of the first argument."""

import json
import sys

from openapi_client import ApiClient, ApiException, Configuration
from openapi_client.api import DataApi, FiltersApi, ServiceApi

period = "timestamp between 2026-01-01 and 2026-01-02"

with ApiClient(Configuration(host=sys.argv[1])) as client:
    data = DataApi(client)
    print("status", ServiceApi(client).status().data.records)
    segments = data.timeline(period, segment="1h").data.results
    print("timeline", len(segments), sum(s.num_of_requests for s in segments))
    segments = data.stats(period, segment="1h").data.results
    print("stats", len(segments), sum(s.sum_of_bandwidth for s in segments))
    first = data.topx(period, limit=1).data.results[0]
    print("topx", first.label, first.key, first.num_of_requests)
    for record in data.logs(period, limit=2, fields="status,method,blocked").data.results:
        print("logs", record.status.actual_instance, record.method.actual_instance, str(record.blocked.actual_instance).lower())
    answer = data.logs_without_preload_content(period, limit=2, fields="status,method", format="csv")
    print("export", *answer.read().decode().split())
    try:
        data.topx(period + ", hots=x")
    except ApiException as error:
        body = json.loads(error.body)
        print("error", error.status, body["errors"][0]["code"], body["errors"][0]["suggestion"])
    saved = FiltersApi(client).filter_get_with_http_info("prod", "errors")
    headers = {name.lower(): value for name, value in saved.headers.items()}
    print("filter", saved.data.filters, str(headers["etag"] == saved.data.etag).lower())
