//go:build !noparquet

package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lambdas"
)

var update = flag.Bool("update", false, "write the responses of events instead of comparing")

const (
	eventFolder    = "../../../events"
	responseSuffix = ".response.json"
)

// TestEvents sends every event of the folder events to its function and compares the response.
func TestEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(eventFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, responseSuffix) {
			if _, err := os.Stat(strings.TrimSuffix(file, responseSuffix) + ".json"); err != nil {
				t.Errorf("%s is of no event", file)
			}
			continue
		}
		event := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(event, func(t *testing.T) {
			f := functionOf(t, event)
			sent[f.Name]++
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			response, err := worldFunction(t, f, event).Invoke(t.Context(), payload)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, strings.TrimSuffix(file, ".json")+responseSuffix, response)
		})
	}
	for _, f := range lambdas.All {
		if sent[f.Name] == 0 {
			t.Errorf("there is no event for the function %s", f.Name)
		}
	}
}

// functionOf is the function that an event is for: <function>-<case>.
func functionOf(t *testing.T, event string) lambdas.Function {
	t.Helper()
	var found lambdas.Function
	for _, f := range lambdas.All {
		if strings.HasPrefix(event, f.Name+"-") && len(f.Name) > len(found.Name) {
			found = f
		}
	}
	if found.Name == "" {
		t.Fatalf("the event %s is for no function", event)
	}
	return found
}

func compare(t *testing.T, file string, response []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, response, "", "  "); err != nil {
		t.Fatalf("%s: %v", response, err)
	}
	indented.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), indented.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRunbooksAreThoseThatAlarmsName holds the sections that alarms lead to, and the files that runbooks and the
// README speak of.
func TestRunbooksAreThoseThatAlarmsName(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(eventFolder, "RUNBOOKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"empty-results", "cost-spike", "lag", "corrupted-file", "5xx", "dlq"} {
		_, body, found := strings.Cut(string(text), "\n## "+section+"\n")
		body, _, _ = strings.Cut(body, "\n## ")
		if !found || !strings.Contains(body, "**How it shows.**") || !strings.Contains(body, "**Verify.**") {
			t.Errorf("the section %s is not whole", section)
		}
	}
	readme, err := os.ReadFile(filepath.Join(eventFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`[a-z-]+\.json`).FindAllString(string(text)+string(readme), -1) {
		if strings.HasPrefix(name, "-") || name == "response.json" {
			continue // after <function> or <case>
		}
		if _, err := os.Stat(filepath.Join(eventFolder, name)); err != nil {
			t.Error(err)
		}
	}
}
