// The command calls a client that oapi-codegen has made, at the address of its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	client "example.com/client/orrery"
)

const period = "timestamp between 2026-01-01 and 2026-01-02"

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	c, err := client.NewClientWithResponses(os.Args[1])
	check(err)

	status, err := c.StatusWithResponse(ctx)
	check(err)
	fmt.Println("status", *status.JSON200.Data.Records)

	timeline, err := c.TimelineWithResponse(ctx, &client.TimelineParams{Filters: period, Segment: new("1h")})
	check(err)
	var requests int64
	for _, segment := range timeline.JSON200.Data.Results {
		requests += segment.NumOfRequests
	}
	fmt.Println("timeline", len(timeline.JSON200.Data.Results), requests)

	stats, err := c.StatsWithResponse(ctx, &client.StatsParams{Filters: period, Segment: new("1h")})
	check(err)
	var bytes int64
	for _, segment := range stats.JSON200.Data.Results {
		bytes += segment.SumOfBandwidth
	}
	fmt.Println("stats", len(stats.JSON200.Data.Results), bytes)

	topx, err := c.TopxWithResponse(ctx, &client.TopxParams{Filters: period, Limit: new(1)})
	check(err)
	first := topx.JSON200.Data.Results[0]
	fmt.Println("topx", first.Label, first.Key, first.NumOfRequests)

	logs, err := c.LogsWithResponse(ctx, &client.LogsParams{
		Filters: period, Limit: new(2), Fields: new("status,method,blocked"),
	})
	check(err)
	for _, record := range logs.JSON200.Data.Results {
		code, err := record.Status.AsRecordedInteger0()
		check(err)
		method, err := record.Method.AsRecordedText0()
		check(err)
		blocked, err := record.Blocked.AsRecordedBoolean0()
		check(err)
		fmt.Println("logs", code, method, blocked)
	}

	export, err := c.LogsWithResponse(ctx, &client.LogsParams{
		Filters: period, Limit: new(2), Fields: new("status,method"), Format: new(client.LogsParamsFormat("csv")),
	})
	check(err)
	fmt.Println("export", strings.Join(strings.Fields(string(export.Body)), " "))

	refused, err := c.TopxWithResponse(ctx, &client.TopxParams{Filters: period + ", hots=x"})
	check(err)
	mistake := (*refused.JSON400.Errors)[0]
	fmt.Println("error", refused.StatusCode(), mistake.Code, *mistake.Suggestion)

	saved, err := c.FilterGetWithResponse(ctx, "prod", "errors", nil)
	check(err)
	fmt.Println("filter", saved.JSON200.Filters, saved.HTTPResponse.Header.Get("ETag") == saved.JSON200.Etag)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
