package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Row is one row of the table: a figure and its goal.
type Row struct {
	What string `json:"what"`
	Ours string `json:"ours"`
	Goal string `json:"goal"`
	Met  bool   `json:"met"`
}

// The goals.
const (
	paintMs     = 300
	dashboardMs = 1000
	frameMs     = 35
	growth      = 1.1
)

// Rows returns the table.
func (r Report) Rows() []Row {
	ratio := float64(r.After.Bytes) / float64(r.Before.Bytes)
	return []Row{
		{
			What: "first contentful paint", Ours: r.Paint.String(),
			Goal: fmt.Sprintf("≤ %d ms", paintMs), Met: r.Paint.Median <= paintMs,
		},
		{
			What: "dashboard complete", Ours: r.Dashboard.String(),
			Goal: fmt.Sprintf("≤ %d ms", dashboardMs), Met: r.Dashboard.Median <= dashboardMs,
		},
		{
			What: fmt.Sprintf("%d events scrolled, p95 of %d frames", r.Frames.Rows, r.Frames.Frames),
			Ours: fmt.Sprintf("%.1f ms (median %.1f, longest %.1f)", r.Frames.P95, r.Frames.Median, r.Frames.Max),
			Goal: fmt.Sprintf("≤ %d ms", frameMs), Met: r.Frames.P95 <= frameMs,
		},
		{
			What: fmt.Sprintf("memory after %d navigations", r.Navigations),
			Ours: fmt.Sprintf("%.2f× (%s, then %s)", ratio, r.Before, r.After),
			Goal: fmt.Sprintf("≤ %.1f×", growth), Met: ratio <= growth,
		},
	}
}

func (t Times) String() string { return fmt.Sprintf("%.0f / %.0f ms", t.Min, t.Median) }

func (m Memory) String() string {
	return fmt.Sprintf("%.1f MB, %d nodes, %d listeners", float64(m.Bytes)/1e6, m.Nodes, m.Listeners)
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
	if _, err := fmt.Fprintf(
		w, "the console in a browser; min / median of %d loads with an empty cache\n\n", r.Loads,
	); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	write := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) } // Flush returns the error
	write("what", "ours", "goal", "met?")
	for _, row := range r.Rows() {
		met := "NO"
		if row.Met {
			met = "yes"
		}
		write(row.What, row.Ours, row.Goal, met)
	}
	return table.Flush()
}
