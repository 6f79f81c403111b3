package logs

import (
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
)

func TestReportSaysWhereAnImportContinued(t *testing.T) {
	var out strings.Builder
	err := PrintReport(&out, ingest.Report{
		Name: "big.log", Format: "combined", Records: 14_000_000, Known: 20, Resumed: 12_400_000, Elapsed: 95 * time.Second,
	})
	want := "big.log: 14000000 records, 0 rejected, 95.0 s (combined); 20 lines imported before; " +
		"continued after 12400000 lines that an interrupted import had read\n"
	if err != nil || out.String() != want {
		t.Errorf("got %q, %v; want %q", out.String(), err, want)
	}
}
