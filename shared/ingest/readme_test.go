package ingest

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/goldentest"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

func TestReadmeListsRejectCodes(t *testing.T) {
	codes := []record.Code{
		logformat.BadLine, record.BadJSON, record.NotObject, record.NoTimestamp, record.BadTimestamp, TimeOutOfRange, TooOld,
		record.TooLarge, ContinuedLine,
	}
	documented := goldentest.NamesIn(goldentest.Section(t, "README.md", "## Rejected lines"))
	for _, code := range codes {
		if !slices.Contains(documented, string(code)) {
			t.Errorf("README.md does not list %s", code)
		}
	}
	if len(documented) != len(codes) {
		t.Errorf("README.md lists %v, want %v", documented, codes)
	}
}
