package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest/ingesttest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

func TestReadmeListsRejectCodes(t *testing.T) {
	codes := []record.Code{
		logformat.BadLine, record.BadJSON, record.NotObject, record.NoTimestamp, record.BadTimestamp,
		TimeOutOfRange, TooOld,
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

func TestReadmeListsTransitions(t *testing.T) {
	section := goldentest.Section(t, "README.md", "### Which files are one log")
	_, table, _ := strings.Cut(section, "| what happened | what is added |\n|---|---|\n")
	var documented, tested []string
	for line := range strings.Lines(table) {
		name, found := strings.CutPrefix(line, "| ")
		if !found {
			break
		}
		name, _, _ = strings.Cut(name, " |")
		documented = append(documented, name)
	}
	for _, transition := range ingesttest.Transitions {
		tested = append(tested, transition.Name)
	}
	if diff := cmp.Diff(tested, documented); diff != "" {
		t.Errorf("README.md lists other transitions than the suite (-suite +README.md):\n%s", diff)
	}
}

func TestReadmeNamesLogs(t *testing.T) {
	section := goldentest.Section(t, "README.md", "### Which files are one log")
	_, table, _ := strings.Cut(section, "| file or key | name |\n|---|---|\n")
	compared := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			break
		}
		want := strings.Trim(cells[1], "` |\n")
		for path := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
			compared++
			if got := ledger.LogName(strings.Trim(path, "`")); got != want {
				t.Errorf("LogName(%s) = %q, want %q", path, got, want)
			}
		}
	}
	if compared < 10 {
		t.Errorf("README.md has %d paths, want at least 10", compared)
	}
}
