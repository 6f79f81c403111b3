package writing

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// TestIngestMovesSources imports a log that begins with the line of an old family, which has one source.
func TestIngestMovesSources(t *testing.T) {
	const text = `{"timestamp":"2026-03-01T10:00:00Z","ip":"192.0.2.7","method":"GET","path":"/","status":200}` + "\n"
	const emptyGzip = "H4sIAAAAAAAAAwMAAAAAAAAAAAA="
	family := ledger.Family([]byte(text))
	for name, test := range map[string]struct{ head, want string }{
		"moved":     {emptyGzip, `msg="sources of the ledger moved" family=` + family + " sources=1 left=0"},
		"not moved": {"AAAA", `level=WARN msg="sources of the ledger not moved" family=` + family},
	} {
		t.Run(name, func(t *testing.T) {
			table, raw := lakestate.Over(&tabletest.Memory{}), &blobtest.Memory{}
			for sort, body := range map[string]any{
				"family":          map[string]any{"imports": "moving"},
				"source#a":        map[string]any{"id": "a", "log": "raw/other.log", "head_length": 1},
				"head#a":          map[string]any{"gzip": test.head},
				"import#a#000001": map[string]any{"source": "a", "generation": 1, "log": "raw/other.log"},
			} {
				key := lakestate.Key{Partition: "ingest#" + family, Sort: sort}
				body, err := json.Marshal(body)
				if err == nil {
					err = table.Write(t.Context(), lakestate.Change{Key: key, Body: body})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := raw.Put(t.Context(), "raw/a.log", strings.NewReader(text), blob.Always); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			stores := Stores{Raw: raw, Lake: &blobtest.Memory{}, Table: table, Scratch: t.TempDir()}
			now := func() time.Time { return time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC) }
			p, err := newParts(lambdas.Function{}, function.Environment{}, slog.New(slog.NewTextHandler(&log, nil)), nil,
				stores, now)
			if err != nil {
				t.Fatal(err)
			}
			report, err := p.cloud.Import(t.Context(), rawlog.Log{Key: "raw/a.log"})
			if err != nil || report.Records != 1 {
				t.Errorf("%d records, %v", report.Records, err)
			}
			if !strings.Contains(log.String(), test.want) {
				t.Errorf("the log lacks %s:\n%s", test.want, &log)
			}
		})
	}
}
