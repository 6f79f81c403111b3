package writing

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// TestRowsInMemory: the more rows a function may have in memory, the fewer objects a log becomes.
func TestRowsInMemory(t *testing.T) {
	var log strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%d,"request_id":"r%d","path":"/%0500d"}`+"\n", 1767261600+i/60, i, i)
	}
	objects := func(megabytes string) int64 {
		memory := rowsWithin(func(name string) (string, bool) {
			return megabytes, name == "AWS_LAMBDA_FUNCTION_MEMORY_SIZE"
		})
		raw := &blobtest.Memory{}
		if err := raw.Put(t.Context(), "raw/log.json", strings.NewReader(log.String()), blob.Always); err != nil {
			t.Fatal(err)
		}
		p, err := newParts(lambdas.Function{Name: "ingest"}, function.Environment{}, slog.New(slog.DiscardHandler), nil, Stores{
			Raw: raw, Lake: &blobtest.Memory{}, Table: lakestate.Over(&tabletest.Memory{}), Scratch: t.TempDir(), Rows: memory,
		}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.cloud.Import(t.Context(), rawlog.Log{Key: "raw/log.json"})
		if err != nil {
			t.Fatal(err)
		}
		return int64(report.Objects)
	}
	if few, many := objects("3008"), objects("60"); few != 1 || many < 2 {
		t.Errorf("%d and %d objects", few, many)
	}
}
