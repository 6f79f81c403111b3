package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/cost"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
)

func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	var out, errs bytes.Buffer
	c := terminal.Console{Out: &out, Err: &errs}
	if code := run(t.Context(), []string{"cost"}, c); code != exit.Done {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"1,000,000  100,000,000  1,000,000,000",
		"Athena: scanned by topx, TB", "Athena: scanned by diff, TB",
		"Athena: scanned by exports of logs, TB", "Athena: scanned by scheduled reports, TB", "SES: mails of reports", "S3: listings for estimates and the status, 1,000",
		"  total\n", "  total if Athena answered all queries\n", "S3: old versions kept, GB", "Assumptions:", "bytes of each record",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	_, last, _ := strings.Cut(out.String(), "\nA daily report costs ")
	var million, hundred, thousand float64
	if _, err := fmt.Sscanf(last, "$%f at 1,000,000, $%f at 100,000,000, $%f at 1,000,000,000 requests a day.\n",
		&million, &hundred, &thousand); err != nil {
		t.Fatalf("the cost of a daily report: %v in:\n%s", err, out.String())
	}
	page, err := os.ReadFile("../../infra/README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("a daily report then costs about $%.3f, $%.2f and $%.2f.", million, hundred, thousand)
	if !strings.Contains(string(page), want) {
		t.Errorf("the README about deployments does not say that %s", want)
	}
	costOfREADME(t, string(page))
	if code := run(t.Context(), []string{"cost", "--queries-per-day=-1"}, c); code != exit.Usage {
		t.Errorf("a negative number of queries: exit %d", code)
	}
	if code := run(t.Context(), []string{"cost", "--repeated=25"}, c); code != exit.Usage {
		t.Errorf("a share of 25: exit %d", code)
	}
	if code := run(t.Context(), []string{"cost", "--exports-per-day=-1"}, c); code != exit.Usage {
		t.Errorf("a negative number of exports: exit %d", code)
	}
}

// costOfREADME runs the command of the page about deployments, and compares what the page says about its output.
func costOfREADME(t *testing.T, page string) {
	t.Helper()
	command := regexp.MustCompile(`(?m)^orrery (cost .*)$`).FindStringSubmatch(page)
	if command == nil {
		t.Fatal("the page has no such command")
	}
	out, errs, code := inProcess(t, split(t, command[1])...)
	if code != exit.Done {
		t.Fatal(errs)
	}
	sums := map[string]float64{}
	for _, line := range regexp.MustCompile(`(?m)^ +([0-9.,]+)  (Lambda|S3|total.*)`).FindAllStringSubmatch(out, -1) {
		usd, err := strconv.ParseFloat(strings.ReplaceAll(line[1], ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[line[2]] += usd
	}
	tens := func(name string) float64 { return math.Round(sums[name]/10) * 10 }
	for _, want := range []string{
		fmt.Sprintf("The total is about $%.0f a month", tens("total")),
		fmt.Sprintf("$%.0f for S3, $%.0f for Lambda,", tens("S3"), tens("Lambda")),
		fmt.Sprintf("If Athena answered all queries, the total would be about $%.0f.", tens("total if Athena answered all queries")),
	} {
		if !strings.Contains(strings.Join(strings.Fields(page), " "), want) {
			t.Errorf("the page does not say: %s\n%s", want, out)
		}
	}
}

// TestReportsCostWhatIsEstimated: what the questions of a daily report read according to the bill is what the estimates
// of the questions say about the same records.
func TestReportsCostWhatIsEstimated(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	const records = 2_000
	size, err := cost.Measure(records)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	_, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(records), "--seed", "1",
		"--from", "2026-01-01 12:00", "--to", "2026-01-01 13:00", "--data", data)
	if code != exit.Done {
		t.Fatal(stderr)
	}
	s := startServer(t, data, "--no-demo")
	day := report.Day.Last(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	before := day.Previous(time.UTC)
	setting := report.Setting{Template: report.Traffic, Period: day, Previous: &before, Zone: time.UTC}
	source := clientSource{&client.Client{BaseURL: s.base}}
	for i, one := range asking.DryRun(t.Context(), source, setting, inquiry.Few) {
		if one.Err != nil {
			t.Fatal(one.Err)
		}
		if strings.HasSuffix(string(one.Part), " before") {
			continue // the day before has no records
		}
		got, billed := one.Meta.Estimate.Bytes, size.Report[i].Columns*records
		if one.Part == report.Changes || one.Part == report.Incidents {
			billed /= 2 // of one of the two days
		}
		t.Logf("%s: billed %.0f, estimated %d to %d bytes", one.Part, billed, got.Low, got.High)
		further := one.Part == report.Marks // who may read planets is also asked for branches
		if size.Report[i].Part != one.Part || float64(got.Low) > billed*1.1 && !further || float64(got.High) < billed*0.9 {
			t.Errorf("%s: billed %.0f, estimated %d to %d bytes", one.Part, billed, got.Low, got.High)
		}
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
	mail, stderr, code := orrery(t, "", "report", "run", "--data", data, "--format", "mail", "--to", "ops@example.com",
		"timestamp between 2026-01-01 and 2026-01-02")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	if len(mail) < 75_000 || len(mail) > 125_000 {
		t.Errorf("the mail has %d bytes; the bill assumes 100,000", len(mail))
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0.00", 12.345: "12.35", 100: "100", 1234: "1,234", 1e9: "1,000,000,000",
	} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%v) = %s, want %s", n, got, want)
		}
	}
}
