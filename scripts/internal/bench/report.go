package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report holds all measured figures.
type Report struct {
	Records int64  `json:"records"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"` // of the objects
	Cores   int    `json:"cores"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Runs    int    `json:"runs"`

	Import    Import       `json:"import"`
	Questions []Comparison `json:"questions"`
	Tried     []Tried      `json:"tried"`
	Export    Export       `json:"export"`
	Week      WeekReport   `json:"week_report"`
	Load      Load         `json:"load"`
	Neighbour Neighbour    `json:"neighbour"`

	Populations Populations `json:"populations"`
}

// Row is one row of the table: a figure, the figure it is compared with, and the goal. Met reports whether the goal is
// met. It is nil without a goal, or if the data does not have the size of the goals.
type Row struct {
	What  string `json:"what"`
	Ours  string `json:"ours"`
	Bare  string `json:"bare_duckdb"`
	Ratio string `json:"ratio"`
	Goal  string `json:"goal"`
	Met   *bool  `json:"met"`
}

// The goals that do not belong to one query.
const (
	overheadShare    = 0.05
	overheadMs       = 3
	bytesPerRecord   = 160
	perSecondPerCore = 45_000
	perSecondTwo     = 55_000
	importMemory     = 768e6
	linesPerSecond   = 60_000
	exportPerSecond  = 60_000
	exportMemory     = 512e6
)

// Rows returns the table.
func (r Report) Rows() []Row {
	var rows []Row
	for _, q := range r.Questions {
		rows = append(rows, r.timeRows(q)...)
	}
	for _, q := range r.Questions {
		limit := q.Engine.Median*overheadShare + overheadMs
		rows = append(rows, Row{
			What:  "overhead around the engine: " + q.Name,
			Ours:  q.Overhead.String(),
			Ratio: fmt.Sprintf("%.0f %%", 100*q.Overhead.Median/q.Engine.Median),
			Goal:  fmt.Sprintf("≤ 5 %% + 3 ms = %.1f ms", limit),
			Met:   r.met(q.Overhead.Median <= limit),
		})
	}
	for _, q := range r.Questions {
		if q.goal.mb > 0 {
			rows = append(rows, Row{
				What: "bytes of touched columns: " + q.Name,
				Ours: fmt.Sprintf("%.1f MB", mb(q.BytesScanned)),
				Goal: fmt.Sprintf("≤ %g MB", q.goal.mb),
				Met:  r.met(mb(q.BytesScanned) <= q.goal.mb),
			})
		}
	}
	for _, q := range r.Questions {
		if q.Estimated != nil {
			rows = append(rows, q.estimateRow())
		}
	}
	for _, q := range r.Questions {
		if q.goal.memory > 0 && q.MemoryBytes > 0 {
			rows = append(rows, Row{
				What: "memory for one answer: " + q.Name,
				Ours: fmt.Sprintf("%.0f MB", mb(q.MemoryBytes)),
				Goal: fmt.Sprintf("≤ %g MB", q.goal.memory),
				Met:  r.met(mb(q.MemoryBytes) <= q.goal.memory),
			})
		}
	}
	return slices.Concat(
		rows, r.triedRows(), r.exportRows(), r.weekRows(), r.populationRows(), r.storageRows(), r.loadRows(),
		r.neighbourRows(),
	)
}

func (r Report) exportRows() []Row {
	perSecond := float64(r.Export.Records) / r.Export.Seconds
	rows := []Row{{
		What: "export as CSV",
		Ours: fmt.Sprintf("%.0f records/s", perSecond),
		Goal: fmt.Sprintf("≥ %d records/s", exportPerSecond),
		Met:  r.met(perSecond >= exportPerSecond),
	}}
	if r.Export.PeakBytes > 0 {
		rows = append(rows, Row{
			What: "export as CSV, peak memory",
			Ours: fmt.Sprintf("%.0f MB", mb(r.Export.PeakBytes)),
			Goal: fmt.Sprintf("< %.0f MB", exportMemory/1e6),
			Met:  r.met(r.Export.PeakBytes < exportMemory),
		})
	}
	return rows
}

// estimateRow compares the bytes that an answer read with their estimate. The goal does not depend on the size of the
// data.
func (q Comparison) estimateRow() Row {
	e := *q.Estimated
	within := e.Low <= q.BytesScanned && q.BytesScanned <= e.High
	row := Row{
		What: "bytes read, estimated: " + q.Name,
		Ours: fmt.Sprintf("%.1f MB, %.1f…%.1f MB", mb(q.BytesScanned), mb(e.Low), mb(e.High)),
		Goal: "within",
		Met:  &within,
	}
	if q.BytesScanned > 0 {
		row.Ratio = fmt.Sprintf(
			"%.2f…%.2f", float64(e.Low)/float64(q.BytesScanned), float64(e.High)/float64(q.BytesScanned),
		)
	}
	return row
}

func (r Report) timeRows(q Comparison) []Row {
	row := Row{What: q.What, Ours: q.Ours.String(), Bare: q.Bare.String(), Ratio: fmt.Sprintf("%.2f", q.Ratio)}
	if q.goal.ratio > 0 {
		row.Goal, row.Met = fmt.Sprintf("≤ %.2f of DuckDB", q.goal.ratio), r.met(q.Ratio <= q.goal.ratio)
	} else {
		row.Goal, row.Met = fmt.Sprintf("≤ %.0f ms", q.goal.ms), r.met(q.Ours.Min <= q.goal.ms)
	}
	rows := []Row{row}
	if q.Naive != nil {
		usual := Row{
			What: q.Name + ", the usual way to write it", Bare: q.Naive.String(), Ratio: fmt.Sprintf("%.1f×", q.Faster),
		}
		if q.goal.naive > 0 {
			usual.Goal, usual.Met = fmt.Sprintf("≥ %.0f×", q.goal.naive), r.met(q.Faster >= q.goal.naive)
		}
		rows = append(rows, usual)
	}
	return rows
}

func (r Report) storageRows() []Row {
	stored := float64(r.Bytes) / float64(r.Records)
	rows := []Row{
		{
			What: "storage",
			Ours: fmt.Sprintf("%.1f of %.0f B/record", stored, r.Import.BytesPerRecord),
			Goal: fmt.Sprintf("≤ %d B/record", bytesPerRecord),
			Met:  r.met(stored <= bytesPerRecord),
		},
		{
			What: "storage before compaction",
			Ours: fmt.Sprintf(
				"%.1f B/record, %d objects", float64(r.Import.Bytes)/float64(r.Records), r.Import.Objects,
			),
		},
		{What: "compaction", Ours: fmt.Sprintf("%.1f s", r.Import.CompactSeconds)},
	}
	rows = append(rows, r.compactionRows()...)
	rows = append(rows,
		Row{
			What: "import, one core",
			Ours: fmt.Sprintf("%.0f records/s", r.Import.PerSecondOne),
			Goal: fmt.Sprintf("≥ %d", perSecondPerCore),
			Met:  r.met(r.Import.PerSecondOne >= perSecondPerCore),
		},
		Row{
			What: fmt.Sprintf("import, %d cores", r.Import.Cores),
			Ours: fmt.Sprintf("%.0f records/s", r.Import.PerSecond),
			Goal: fmt.Sprintf("≥ %d", perSecondTwo),
			Met:  r.met(r.Import.PerSecond >= perSecondTwo),
		},
	)
	for _, t := range r.Import.Texts {
		rows = append(rows, Row{
			What: "import of " + t.Name + ", one core",
			Ours: fmt.Sprintf("%.0f lines/s", t.PerSecond),
			Goal: fmt.Sprintf("≥ %d", linesPerSecond),
			Met:  r.met(t.PerSecond >= linesPerSecond),
		})
	}
	if r.Import.PeakBytes > 0 {
		rows = append(rows, Row{
			What: "import, peak memory",
			Ours: fmt.Sprintf("%.0f MB", mb(r.Import.PeakBytes)),
			Goal: fmt.Sprintf("< %.0f MB", importMemory/1e6),
			Met:  r.met(r.Import.PeakBytes < importMemory),
		})
	}
	return rows
}

func (r Report) loadRows() []Row {
	l := r.Load
	right := l.Errors == 0 && l.Different == 0
	rows := []Row{
		{
			What: fmt.Sprintf("%d clients, %.0f s: errors, answers unlike the single-client ones",
				l.Clients, l.Seconds),
			Ours: fmt.Sprintf("%d, %d of %d", l.Errors, l.Different, l.Answers),
			Goal: "0, 0", Met: &right,
		},
		{
			What: fmt.Sprintf("%d clients: answers/s, p50 / p99", l.Clients),
			Ours: fmt.Sprintf("%.1f, %.0f / %.0f ms", l.PerSecond, l.P50, l.P99),
		},
	}
	if l.PeakBytes > 0 {
		rows = append(rows, Row{
			What: fmt.Sprintf("%d clients: peak memory", l.Clients), Ours: fmt.Sprintf("%.0f MB", mb(l.PeakBytes)),
		})
	}
	return rows
}

// met returns yes, or nil if the data does not have the size of the goals.
func (r Report) met(yes bool) *bool {
	if r.Records != FullRecords {
		return nil
	}
	return &yes
}

// Err returns an error if answers are wrong or requests failed. It ignores the speed.
func (r Report) Err() error {
	var problems []error
	for _, q := range r.Questions {
		if q.Differs != "" {
			problems = append(problems, fmt.Errorf("the answers to %s differ: %s", q.Name, q.Differs))
		}
	}
	for _, q := range r.Week.RolledUp {
		if q.Differs != "" {
			problems = append(problems, fmt.Errorf("the answer to %s, %s, is wrong: %s", q.Question, q.Period, q.Differs))
		}
	}
	if r.Export.Records != r.Records {
		problems = append(problems, fmt.Errorf("the export has %d records, not %d", r.Export.Records, r.Records))
	}
	if r.Load.Errors > 0 {
		problems = append(problems,
			fmt.Errorf("%d requests failed under load; the first error: %s", r.Load.Errors, r.Load.Error))
	}
	if r.Load.Different > 0 {
		problems = append(problems,
			fmt.Errorf("%d answers under load differ from those for a single client", r.Load.Different))
	}
	if r.Neighbour.Errors > 0 {
		problems = append(problems, fmt.Errorf("%d requests failed beside large filters; the first error: %s",
			r.Neighbour.Errors, r.Neighbour.Error))
	}
	if r.Neighbour.Different > 0 {
		problems = append(problems,
			fmt.Errorf("%d answers beside large filters differ from the undisturbed ones", r.Neighbour.Different))
	}
	return errors.Join(problems...)
}

// MarshalJSON encodes the figures and the table.
func (r Report) MarshalJSON() ([]byte, error) {
	type figures Report
	return json.Marshal(struct {
		figures
		Table []Row `json:"table"`
	}{figures(r), r.Rows()})
}

// WriteTable prints the table for people.
func (r Report) WriteTable(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d records of one day in %d objects; %d cores, %s, %s\n"+
		"min / median of %d warm rounds; ratio: ours to bare DuckDB, of the minima; "+
		"×: so many times slower than ours\n\n",
		r.Records, r.Objects, r.Cores, r.Go, r.System, r.Runs)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	write := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) } // Flush returns the error
	write("what", "ours", "bare DuckDB", "ratio", "goal", "met?")
	for _, row := range r.Rows() {
		write(row.What, dash(row.Ours), dash(row.Bare), dash(row.Ratio), dash(row.Goal), verdict(row.Met))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if r.Records != FullRecords {
		_, err := fmt.Fprintf(w, "\nThe goals are for %d records: no verdict on other numbers.\n", FullRecords)
		return err
	}
	return nil
}

func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

func verdict(met *bool) string {
	switch {
	case met == nil:
		return "–"
	case *met:
		return "yes"
	}
	return "NO"
}

func (t Times) String() string { return fmt.Sprintf("%.1f / %.1f ms", t.Min, t.Median) }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
