// The command calls a client that openapi-generator has made, at the address of its argument.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

const period = "timestamp between 2026-01-01 and 2026-01-02"

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	c := client.NewAPIClient(configuration)

	status, _, err := c.ServiceAPI.Status(ctx).Execute()
	check(err)
	fmt.Println("status", *status.Data.Records.Get())

	timeline, _, err := c.DataAPI.Timeline(ctx).Filters(period).Segment("1h").Execute()
	check(err)
	var requests int64
	for _, segment := range timeline.Data.Results {
		requests += segment.NumOfRequests
	}
	fmt.Println("timeline", len(timeline.Data.Results), requests)

	stats, _, err := c.DataAPI.Stats(ctx).Filters(period).Segment("1h").Execute()
	check(err)
	var bytes int64
	for _, segment := range stats.Data.Results {
		bytes += segment.SumOfBandwidth
	}
	fmt.Println("stats", len(stats.Data.Results), bytes)

	topx, _, err := c.DataAPI.Topx(ctx).Filters(period).Limit(1).Execute()
	check(err)
	first := topx.Data.Results[0]
	fmt.Println("topx", first.Label, first.Key, first.NumOfRequests)

	logs, _, err := c.DataAPI.Logs(ctx).Filters(period).Limit(2).Fields("status,method,blocked").Execute()
	check(err)
	for _, record := range logs.Data.Results {
		fmt.Println("logs", *record.Status.Get().Int64, *record.Method.Get().String, *record.Blocked.Get().Bool)
	}

	// The client takes the type of every answer for JSON, but it also returns the answer itself.
	_, export, _ := c.DataAPI.Logs(ctx).Filters(period).Limit(2).Fields("status,method").Format("csv").Execute()
	text, err := io.ReadAll(export.Body)
	check(err)
	fmt.Println("export", strings.Join(strings.Fields(string(text)), " "))

	_, refused, err := c.DataAPI.Topx(ctx).Filters(period + ", hots=x").Execute()
	mistake := err.(*client.GenericOpenAPIError).Model().(client.Error).Errors[0]
	fmt.Println("error", refused.StatusCode, mistake.Code, *mistake.Suggestion)

	saved, answer, err := c.FiltersAPI.FilterGet(ctx, "prod", "errors").Execute()
	check(err)
	fmt.Println("filter", saved.Filters, answer.Header.Get("ETag") == saved.Etag)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
