package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// The records of this package happened from Start on, over a few hours.
var Start = time.Date(2026, 1, 1, 21, 0, 0, 0, time.UTC)

const Length = 6 * time.Hour

// Records are generated records, half of them hostile, as rows of two sources: every field is there and
// every field is missing somewhere. A tenth shares its instant with the one before.
func Records(t testing.TB, n int, seed uint64) []lake.Row {
	t.Helper()
	rows := make([]lake.Row, 0, n)
	for source, nasty := range []bool{false, true} {
		g := gen.New(gen.Options{Records: n/2 + n%2*source, Seed: seed, From: Start, To: Start.Add(Length), Nasty: nasty})
		d := record.NewDecoder()
		for line := int64(1); ; line++ {
			text, ok := g.Next(nil)
			if !ok {
				break
			}
			var row lake.Row
			if _, err := d.Decode(text, &row); err != nil {
				t.Fatalf("generated record %d does not decode: %v\n%s", line, err, text)
			}
			row.Source, row.Line = fmt.Sprintf("source-%d", source), line
			if len(rows) > 0 && line%10 == 0 {
				row.TsMs, row.TsNanos = rows[len(rows)-1].TsMs, rows[len(rows)-1].TsNanos
			}
			tame(&row)
			rows = append(rows, row)
		}
	}
	return rows
}

// tame keeps figures that are summed up so small that no sum passes 64 bits, which is an error of its own.
func tame(r *lake.Row) {
	for _, figure := range []**int64{&r.BytesSent, &r.RequestLength, &r.TotalUs, &r.SvcUs, &r.OriginUs} {
		if *figure != nil && (**figure > 1<<50 || **figure < -1<<50) {
			small := **figure % (1 << 50)
			*figure = &small
		}
	}
}
