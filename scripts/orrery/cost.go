package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/internal/cost"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type costCommand struct {
	RequestsPerDay []float64 `default:"1000000,100000000,1000000000" help:"Recorded requests per day; may be a list."`
	QueriesPerDay  float64   `default:"1000" help:"Queries per day on each data route." placeholder:"N"`
	ExportsPerDay  float64   `default:"1" help:"Exports of records per day." placeholder:"N"`
	ExportRecords  float64   `default:"100000" help:"Records in each export." placeholder:"N"`
	ReportsPerDay  float64   `default:"1" help:"Reports that are scheduled daily." placeholder:"N"`
	PeriodHours    float64   `default:"24" help:"Length of the period of a query, in hours." placeholder:"N"`
	RawDays        float64   `default:"30" help:"Days that raw logs are kept." placeholder:"N"`
	LakeDays       float64   `default:"365" help:"Days that queryable data is kept." placeholder:"N"`
	LogsPerDay     float64   `help:"Raw logs per day; default: one for each 100,000 requests." placeholder:"N"`
	Filtered       float64   `help:"Share of the queries, from 0 to 1, that have conditions besides the period. " default:"0.33" placeholder:"SHARE"`
	Repeated       float64   `help:"Share of the queries, from 0 to 1, that repeat a query of the last few minutes." placeholder:"SHARE"`
	Region         string    `enum:"eu-central-1,us-east-1" default:"eu-central-1" help:"eu-central-1 or us-east-1."`
}

// costSample is the number of records that are measured: enough for dictionaries to save as much as in an hour's
// object.
const costSample = 50_000

// Run measures generated records and prints the cost of a month for each number of requests, with its assumptions.
func (k *costCommand) Run(c terminal.Console) error {
	for name, value := range map[string]float64{
		"--requests-per-day": slices.Min(k.RequestsPerDay), "--queries-per-day": k.QueriesPerDay,
		"--exports-per-day": k.ExportsPerDay, "--export-records": k.ExportRecords, "--reports-per-day": k.ReportsPerDay,
		"--period-hours": k.PeriodHours, "--raw-days": k.RawDays, "--lake-days": k.LakeDays, "--logs-per-day": k.LogsPerDay,
		"--filtered": k.Filtered, "--repeated": k.Repeated,
	} {
		if value < 0 {
			return exit.With(exit.Usage, name+" must not be negative")
		}
	}
	for name, share := range map[string]float64{"--filtered": k.Filtered, "--repeated": k.Repeated} {
		if share > 1 {
			return exit.With(exit.Usage, name+" is a share: write 0.25 for a quarter of the queries")
		}
	}
	size, err := cost.Measure(costSample)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "A record has %.0f bytes as JSON, %.0f compressed, %.0f in Parquet. A query reads",
		size.JSON, size.Raw, size.Parquet)
	for i, route := range slices.Sorted(maps.Keys(size.Route)) {
		fmt.Fprintf(c.Out, "%s %.1f (%s)", strings.Repeat(",", min(i, 1)), size.Route[route], route)
	}
	fmt.Fprint(c.Out, " bytes of each record of its period. Percentiles read")
	for i, route := range slices.Sorted(maps.Keys(size.Percentiles)) {
		fmt.Fprintf(c.Out, "%s %.1f (%s)", strings.Repeat(",", min(i, 1)), size.Percentiles[route], route)
	}
	fmt.Fprint(c.Out, " more.\n\n")
	fmt.Fprintf(c.Out, "USD per month in %s, by recorded requests per day:\n\n", k.Region)
	if err := k.print(c, size); err != nil {
		return err
	}
	fmt.Fprint(c.Out, "\nA daily report costs")
	for i, requests := range k.RequestsPerDay {
		fmt.Fprintf(c.Out, "%s $%.4f at %s", strings.Repeat(",", min(i, 1)),
			cost.OfReport(requests, size, cost.Regions[k.Region]), grouped(requests))
	}
	fmt.Fprintln(c.Out, " requests a day.")
	fmt.Fprintf(c.Out, "\nAssumptions:\n- %.0f queries per day on each of %d routes, each over %g hours, %g exports "+
		"of %s records, and %g daily reports. A share of %g of the queries has conditions besides the period, and a "+
		"share of %g repeats a query of the last few minutes. Raw logs are kept for %g days, queryable data for %g "+
		"days.\n",
		k.QueriesPerDay, len(size.Route), k.PeriodHours, k.ExportsPerDay, grouped(k.ExportRecords), k.ReportsPerDay,
		k.Filtered, k.Repeated, k.RawDays, k.LakeDays)
	if k.LogsPerDay > 0 {
		fmt.Fprintf(c.Out, "- %s raw logs arrive per day.\n", grouped(k.LogsPerDay))
	}
	for _, sentence := range cost.Assumptions {
		fmt.Fprintln(c.Out, "-", sentence)
	}
	_, err = fmt.Fprintln(c.Out, "- Prices:", cost.PricesOf+".")
	return err
}

// print prints one column for each number of requests.
func (k *costCommand) print(c terminal.Console, size cost.Bytes) error {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var bills, alone [][]cost.Item
	for _, requests := range k.RequestsPerDay {
		load := cost.Load{
			RequestsPerDay: requests, QueriesPerDay: k.QueriesPerDay, PeriodHours: k.PeriodHours,
			ExportsPerDay: k.ExportsPerDay, ExportRecords: k.ExportRecords, ReportsPerDay: k.ReportsPerDay,
			RawDays: k.RawDays, LakeDays: k.LakeDays, LogsPerDay: k.LogsPerDay,
			Filtered: k.Filtered, Repeated: k.Repeated, Parts: true,
		}
		bills = append(bills, cost.Estimate(load, size, cost.Regions[k.Region]))
		load.AthenaAlone = true
		alone = append(alone, cost.Estimate(load, size, cost.Regions[k.Region]))
		fmt.Fprintf(w, "%s\t", grouped(requests))
	}
	fmt.Fprintln(w)
	for i, item := range bills[0] {
		for _, bill := range bills {
			fmt.Fprintf(w, "%s\t", grouped(bill[i].USD))
		}
		fmt.Fprintf(w, "  %s: %s\n", item.Service, item.What)
	}
	for _, one := range []struct {
		bills [][]cost.Item
		name  string
	}{{bills, "total"}, {alone, "total if Athena answered all queries"}} {
		for _, bill := range one.bills {
			fmt.Fprintf(w, "%s\t", grouped(cost.Total(bill)))
		}
		fmt.Fprintln(w, " ", one.name)
	}
	return w.Flush()
}

// grouped returns a number with commas between groups of three digits. A number below 100 has two decimals.
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
