package ingest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

var (
	rowPattern  = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)
	namePattern = regexp.MustCompile("`([a-z_0-9]+)`")
)

// section gives a part of README.md, from its heading to the next.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("README.md has no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n#")
	return part
}

// namesIn lists the names in the first column of the tables of a text.
func namesIn(text string) []string {
	var names []string
	for _, row := range rowPattern.FindAllStringSubmatch(text, -1) {
		for _, name := range namePattern.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}

func TestTheReadmeTellsEveryCode(t *testing.T) {
	codes := []record.Code{logformat.BadLine, record.BadJSON, record.NotObject, record.NoTimestamp, record.BadTimestamp, TimeOutOfRange, record.TooLarge, ContinuedLine}
	told := namesIn(section(t, "## Rejected lines"))
	for _, code := range codes {
		if !slices.Contains(told, string(code)) {
			t.Errorf("%s is not told", code)
		}
	}
	if len(told) != len(codes) {
		t.Errorf("README.md tells %v", told)
	}
}
