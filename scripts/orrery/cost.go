package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/internal/cost"
)

type costCommand struct {
	RequestsPerDay []float64 `default:"1000000,100000000,1000000000" help:"Requests that the gateway records a day; may be several." placeholder:"N"`
	QueriesPerDay  float64   `default:"1000" help:"Questions a day to each data route." placeholder:"N"`
	PeriodHours    float64   `default:"24" help:"Hours that a question asks about." placeholder:"N"`
	RawDays        float64   `default:"30" help:"Days that raw logs are kept." placeholder:"N"`
	LakeDays       float64   `default:"365" help:"Days that queryable data is kept." placeholder:"N"`
	Region         string    `enum:"eu-central-1,us-east-1" default:"eu-central-1" help:"eu-central-1 or us-east-1."`
}

// costSample is how many records are weighed: enough for dictionaries to pay as they do in an hour's object.
const costSample = 50_000

// Run weighs generated records and prints the bill of a month for each number of requests, with what it assumes.
func (k *costCommand) Run(c console) error {
	for name, value := range map[string]float64{"--queries-per-day": k.QueriesPerDay, "--period-hours": k.PeriodHours, "--raw-days": k.RawDays, "--lake-days": k.LakeDays, "--requests-per-day": slices.Min(k.RequestsPerDay)} {
		if value < 0 {
			return &exitError{code: exitUsage, message: name + " is less than 0"}
		}
	}
	weighs, err := cost.Measure(costSample)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "A record: %.0f bytes as JSON, %.0f compressed, %.0f in Parquet. A query touches", weighs.JSON, weighs.Raw, weighs.Parquet)
	for i, route := range slices.Sorted(maps.Keys(weighs.Route)) {
		fmt.Fprintf(c.out, "%s %.1f (%s)", strings.Repeat(",", min(i, 1)), weighs.Route[route], route)
	}
	fmt.Fprintf(c.out, " bytes of each record of its period.\n\nUSD a month, %s, by recorded requests a day:\n\n", k.Region)
	if err := k.print(c, weighs); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "\nAssumed:\n- %.0f questions a day to each of %d routes, about %g hours; raw logs kept %g days, queryable data %g days.\n", k.QueriesPerDay, len(weighs.Route), k.PeriodHours, k.RawDays, k.LakeDays)
	for _, sentence := range cost.Assumptions {
		fmt.Fprintln(c.out, "-", sentence)
	}
	_, err = fmt.Fprintln(c.out, "- Prices:", cost.PricesOf+".")
	return err
}

// print writes one column per number of requests.
func (k *costCommand) print(c console, weighs cost.Bytes) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var bills [][]cost.Item
	for _, requests := range k.RequestsPerDay {
		load := cost.Load{RequestsPerDay: requests, QueriesPerDay: k.QueriesPerDay, PeriodHours: k.PeriodHours, RawDays: k.RawDays, LakeDays: k.LakeDays}
		bills = append(bills, cost.Estimate(load, weighs, cost.Regions[k.Region]))
		fmt.Fprintf(w, "%s\t", grouped(requests))
	}
	fmt.Fprintln(w)
	for i, item := range bills[0] {
		for _, bill := range bills {
			fmt.Fprintf(w, "%s\t", grouped(bill[i].USD))
		}
		fmt.Fprintf(w, "  %s: %s\n", item.Service, item.What)
	}
	for _, bill := range bills {
		fmt.Fprintf(w, "%s\t", grouped(cost.Total(bill)))
	}
	fmt.Fprintln(w, "  in all")
	return w.Flush()
}

// grouped writes a number with a comma before every three digits; below 100 with cents.
func grouped(n float64) string {
	if n < 100 {
		return fmt.Sprintf("%.2f", n)
	}
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
