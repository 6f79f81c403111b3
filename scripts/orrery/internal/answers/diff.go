package answers

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/search"
)

// diffRow is a row of the table of a diff.
type diffRow struct {
	By            string          `json:"by"`
	Value         json.RawMessage `json:"value"`
	Selected      int64           `json:"selected"`
	Baseline      int64           `json:"baseline"`
	Score         float64         `json:"score"`
	ShareSelected string          `json:"share_of_selected"`
	ShareBaseline string          `json:"share_of_baseline"`
}

// diffRows returns a row for each finding. The bars show the shares of all requests of a side.
func diffRows(results []json.RawMessage) ([]json.RawMessage, error) {
	rows := make([]json.RawMessage, len(results))
	for i, text := range results {
		var f struct {
			search.DiffResult
			Value json.RawMessage `json:"value"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("a result is not one of a diff: %w", err)
		}
		row, err := json.Marshal(diffRow{
			f.By, f.Value, f.Selected.NumOfRequests, f.Baseline.NumOfRequests, f.Score,
			shareBar(f.Selected.Share), shareBar(f.Baseline.Share),
		})
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}

func shareBar(share float64) string {
	const whole = 1 << 40
	return terminal.Bar(int64(share*whole), whole)
}

// reportSides prints the definitions of the two sides of a diff, and when the data begins if that is within one of
// them.
func reportSides(w io.Writer, d *search.DiffMeta, oldest *string) {
	begins, known := instantOf(oldest)
	for _, side := range []struct {
		name string
		search.DiffSideMeta
	}{{"selected", d.Selected}, {"baseline", d.Baseline}} {
		text := fmt.Sprintf("%s: %s, %s", side.name, terminal.Counted(side.NumOfRequests, "request"), side.Filter)
		if side.Except != "" {
			text += ", without those of " + side.Except
		}
		from, _ := instantOf(&side.Period.From)
		to, _ := instantOf(&side.Period.To)
		period := report.Period{FromMs: from.UnixMilli(), ToMs: to.UnixMilli()}
		if known && period.BeginsBefore(begins) {
			text += fmt.Sprintf("; the data begins at %s UTC", begins.Format(time.DateTime))
		}
		fmt.Fprintln(w, text)
	}
	if d.Small {
		fmt.Fprintln(w, "few requests are selected, so the findings may be chance")
	}
}
