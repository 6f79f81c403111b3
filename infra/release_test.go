package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// releasedExports is the file with the exports that the stacks of a release may import.
const releasedExports = "testdata/exports.txt"

// TestExportsOfReleasesStay: CloudFormation deletes no export that another stack imports. If an export of the last
// release went, the data stack could not be upgraded, and the API of that release could not be deployed over it again.
// TestGolden, which rewrites the stacks, runs before it.
func TestExportsOfReleasesStay(t *testing.T) {
	text, err := os.ReadFile(releasedExports)
	if err != nil {
		t.Fatal(err)
	}
	now := goldenExports(t)
	released := strings.Fields(string(text))
	if lost := lostExports(released, now); lost != nil {
		t.Fatal(lost)
	}
	if *update {
		if err := os.WriteFile(releasedExports, []byte(strings.Join(now, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		released = now
	}
	if diff := cmp.Diff(released, now); diff != "" {
		t.Errorf("%s differs (-file +stacks); to accept the change, run with -update\n%s", releasedExports, diff)
	}
}

// lostExports returns an error that names the exports of a release that are missing now.
func lostExports(released, now []string) error {
	lost := slices.DeleteFunc(slices.Clone(released), func(name string) bool { return slices.Contains(now, name) })
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("the release before may import %s. Retire an export in two releases: in the first one, stop using "+
		"it, but keep it by ExportValue in its stack. In the next one, remove that and its line in %s",
		strings.Join(lost, ", "), releasedExports)
}

func TestLostExports(t *testing.T) {
	if err := lostExports([]string{"a"}, []string{"a", "b"}); err != nil {
		t.Errorf("a new export is refused: %v", err)
	}
	err := lostExports([]string{"a", "b", "c"}, []string{"b"})
	if err == nil || !strings.Contains(err.Error(), "import a, c. Retire an export in two releases") {
		t.Errorf("a lost export is not refused as it should be: %v", err)
	}
}

// goldenExports returns the names of the exports of all stacks, sorted.
func goldenExports(t *testing.T) (names []string) {
	for _, stack := range []string{"data", "api", "ops"} {
		text, err := os.ReadFile("testdata/" + stack + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var golden template
		if err := json.Unmarshal(text, &golden); err != nil {
			t.Fatal(err)
		}
		for _, output := range golden.Outputs {
			if name := at(output, "Export.Name"); name != nil {
				names = append(names, flat(name))
			}
		}
	}
	slices.Sort(names)
	return names
}
