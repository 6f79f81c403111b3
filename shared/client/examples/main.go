// The command shows how programs use package client. Its arguments are the address of a server and, if not all of them,
// the numbers of the examples. python/examples.py is the same for Python.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/client"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: examples URL [NUMBER ...]")
	}
	ctx := context.Background()
	c := &client.Client{BaseURL: os.Args[1], Key: os.Getenv("ORRERY_API_KEY")}
	period, err := periodOf(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	for i, example := range examples {
		if number := strconv.Itoa(i + 1); len(os.Args) > 2 && !slices.Contains(os.Args[2:], number) {
			continue
		}
		if err := example(ctx, c, period); err != nil {
			log.Fatal(err)
		}
	}
}

var examples = []func(ctx context.Context, c *client.Client, period string) error{
	requestsByHour, slowestHosts, blockedAddresses, blockedCountries, blockedByReason, whatDiffers, allRecords,
	whyBlocked, incidents, mistakes,
}

// periodOf returns the condition for the period of all records.
func periodOf(ctx context.Context, c *client.Client) (string, error) {
	status, err := c.Status(ctx)
	if err != nil {
		return "", err
	}
	if status.Extent == nil || status.Extent.From == nil {
		return "", errors.New("the server has no records")
	}
	return fmt.Sprintf("timestamp between %s and %s", *status.Extent.From, status.Extent.To), nil
}

// 1. The requests of each hour, and how many were blocked.
func requestsByHour(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Timeline(ctx, client.Question{Filters: period, Segment: "1h"})
	if err != nil {
		return err
	}
	for _, hour := range answer.Results[:3] {
		fmt.Println(hour.TimeperiodString, hour.NumOfRequests, hour.NumOfBlockedRequests)
	}
	return nil
}

// 2. The requests of each host, and the time that 99 of 100 of them do not exceed.
func slowestHosts(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Stats(ctx, client.Question{
		Filters: period, Segment: "1d", GroupBy: "hostname", Figures: "percentiles",
	})
	if err != nil {
		return err
	}
	for _, host := range answer.Results[:3] {
		fmt.Printf("%s %d requests, %.3f s\n", host.Hostname, host.NumOfRequests, *host.P99TotalTime)
	}
	return nil
}

// 3. The addresses with the most blocked requests.
func blockedAddresses(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.TopX(ctx, client.Question{Filters: period, Limit: 3})
	if err != nil {
		return err
	}
	for _, top := range answer.Results {
		if top.Label == "ip" {
			fmt.Println(top.Key, top.NumOfBlockedRequests, "of", top.NumOfRequests)
		}
	}
	return nil
}

// 4. The countries of blocked requests.
func blockedCountries(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Facets(ctx, client.Question{Filters: period + ", blocked is true", By: "country", Limit: 3})
	if err != nil {
		return err
	}
	for _, country := range answer.Results[0].Values {
		fmt.Println(country.Value, country.NumOfRequests)
	}
	return nil
}

// 5. The reasons for which requests were blocked, with a series each.
func blockedByReason(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Histogram(ctx, client.Question{
		Filters: period + ", blocked is true", By: "reason", Segment: "1h", Limit: 2,
	})
	if err != nil {
		return err
	}
	for _, series := range answer.Meta.Series {
		if series.Kind == "value" {
			fmt.Println(*series.Series, series.Total)
		}
	}
	return nil
}

// 6. What the blocked requests have in common, compared with all others.
func whatDiffers(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Diff(ctx, client.Question{
		Filters: period, Select: "blocked is true", By: "country,method", Limit: 2,
	})
	if err != nil {
		return err
	}
	for _, finding := range answer.Results {
		fmt.Println(finding.By, finding.Value)
	}
	return nil
}

// 7. All records that match a filter, page by page.
func allRecords(ctx context.Context, c *client.Client, period string) error {
	n := 0
	for record, err := range c.Records(ctx, client.Question{Filters: period + ", status>=500", Limit: 10}) {
		if err != nil {
			return err
		}
		var of struct {
			Method string `json:"method"`
			Status int    `json:"status"`
		}
		if err := json.Unmarshal(record, &of); err != nil {
			return err
		}
		if n++; n == 1 {
			fmt.Println(of.Method, of.Status)
		}
	}
	fmt.Println(n, "records")
	return nil
}

// 8. Why the newest blocked request was stopped.
func whyBlocked(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Logs(ctx, client.Question{Filters: period + ", blocked is true", Limit: 1, Fields: "record_ref"})
	if err != nil {
		return err
	}
	var record struct {
		Reference string `json:"record_ref"`
	}
	if err := json.Unmarshal(answer.Results[0], &record); err != nil {
		return err
	}
	why, err := c.Why(ctx, record.Reference, false)
	if err != nil {
		return err
	}
	fmt.Println(why.Results[0].Sentence)
	return nil
}

// 9. The attacks of the period.
func incidents(ctx context.Context, c *client.Client, period string) error {
	answer, err := c.Incidents(ctx, client.Question{Filters: period})
	if err != nil {
		return err
	}
	for _, incident := range answer.Results {
		fmt.Println(incident.Kind, incident.Target, incident.NumOfRequests)
	}
	return nil
}

// 10. A mistake in a filter, with its place and the correction.
func mistakes(ctx context.Context, c *client.Client, period string) error {
	_, err := c.Timeline(ctx, client.Question{Filters: period + ", hots=shop.example"})
	var wrong *client.Error
	if !errors.As(err, &wrong) {
		return err
	}
	for _, mistake := range wrong.Errors {
		fmt.Println(wrong.Status, mistake.Code, mistake.Offset-len(period), mistake.Length)
	}
	fmt.Println(strings.TrimPrefix(wrong.Fixed, period))
	return nil
}
