package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestQueryByReference: the references of records are printed in every form, and each leads back to its record.
func TestQueryByReference(t *testing.T) {
	const records = 2_600 // two pages
	data := filepath.Join(t.TempDir(), "data")
	command := func(args ...string) (stdout, stderr string, code int) {
		t.Helper()
		var out, errs bytes.Buffer
		code = run(t.Context(), args, terminal.Console{In: strings.NewReader(""), Out: &out, Err: &errs})
		return out.String(), errs.String(), code
	}
	_, stderr, code := command("generate", "--records", "2600", "--data", data,
		"--from", "2026-01-01", "--to", "2026-01-02")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	query := func(filter string, more ...string) (stdout, stderr string, code int) {
		t.Helper()
		return command(append([]string{"query", "logs", filter, "--data", data}, more...)...)
	}
	type linked struct {
		Ref string `json:"record_ref"`
		ID  string `json:"request_id"`
	}
	ids := map[string]string{} // of requests, by reference
	var last linked
	t.Run("every record has its own", func(t *testing.T) {
		lines, stderr, code := query(tourDay, "--fields", "record_ref,request_id", "--all", "--format", "ndjson")
		if code != exit.Done {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for line := range strings.Lines(lines) {
			if err := json.Unmarshal([]byte(line), &last); err != nil || last.Ref == "" {
				t.Fatalf("%s: %v", line, err)
			}
			ids[last.Ref] = last.ID
		}
		if len(ids) != records {
			t.Errorf("%d different references of %d records", len(ids), records)
		}
	})
	t.Run("as CSV", func(t *testing.T) {
		table, stderr, code := query(tourDay, "--fields", "record_ref,request_id", "--all", "--format", "csv")
		if code != exit.Done || !strings.HasPrefix(table, "record_ref,request_id\r\n") ||
			!strings.Contains(table, "\n"+last.Ref+","+last.ID+"\r\n") {
			t.Errorf("exit code %d: %s%.200s", code, stderr, table)
		}
	})
	t.Run("only if asked for", func(t *testing.T) {
		for _, format := range []string{"json", "ndjson", "csv"} {
			stdout, stderr, code := query(`record_ref="`+last.Ref+`"`, "--format", format)
			printed := strings.Contains(stdout, `"record_ref":`) || strings.Contains(stdout, ",record_ref,")
			if code != exit.Done || !strings.Contains(stdout, last.ID) || printed {
				t.Errorf("%s: exit code %d: %s%s", format, code, stdout, stderr)
			}
		}
	})
	t.Run("a reference finds its record without a period", func(t *testing.T) {
		n := 0
		for ref, id := range ids {
			if n++; n > 5 {
				break
			}
			stdout, stderr, code := query("record_ref="+ref, "--fields", "request_id", "--format", "ndjson")
			if code != exit.Done || stdout != `{"request_id":"`+id+`"}`+"\n" {
				t.Errorf("exit code %d: %s%s, want %s", code, stdout, stderr, id)
			}
		}
	})
	t.Run("a part of a reference is drawn as a mistake", func(t *testing.T) {
		_, stderr, code := query("record_ref=" + last.Ref[:30])
		if code != exit.Failed || !strings.Contains(stderr, "is not a reference to a record") ||
			!strings.Contains(stderr, "^^^^") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}
