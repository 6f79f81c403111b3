package why

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// saidByConsole is what the modules of the console say about a record, with the reference r and without a link.
type saidByConsole struct {
	Sentence string  `json:"sentence"`
	Covered  string  `json:"covered"` // the sentence without sensitive values
	Stages   []Stage `json:"stages"`
	Steps    []Step  `json:"steps"`
	Ticket   string  `json:"ticket"`
}

// TestConsoleSaysTheSame compares explanations with those of the console, of 200 records: generated ones of every rule
// and result, hostile ones, and lines of every log format. A test of scripts/console runs the modules over the same file.
func TestConsoleSaysTheSame(t *testing.T) {
	text, err := os.ReadFile("testdata/console.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	compared, results := 0, map[Result]int{}
	for line := range bytes.Lines(text) {
		compared++
		var golden struct {
			Record  json.RawMessage
			Console saidByConsole
		}
		if err := json.Unmarshal(line, &golden); err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord(golden.Record)
		if err != nil {
			t.Fatal(err)
		}
		safe := Explain(r, Evidence{}, Options{Reference: "r"})
		safe.Verdict = nil // which the console does not have
		got := saidByConsole{
			Sentence: Explain(r, Evidence{}, Options{Uncover: true}).Sentence, Covered: safe.Sentence,
			Stages: safe.Stages, Steps: safe.Steps, Ticket: ticket(r, covered(r), safe, ""),
		}
		if diff := cmp.Diff(golden.Console, got); diff != "" {
			t.Errorf("record %d, %s (-console +why):\n%s", compared, safe.Request, diff)
		}
		results[r.Result()]++
	}
	if compared != 200 || len(results) != len(resultWords) {
		t.Errorf("compared %d records with the results %v", compared, results)
	}
}
