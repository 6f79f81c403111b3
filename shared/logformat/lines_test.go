package logformat

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// linesPerFormat is the number of lines of each file of testdata/lines.
const linesPerFormat = 40

// TestLinesOfEveryFormat converts the logs in testdata/lines. Each file has the name of a format, a log, and the record
// of each line: as the API prints it, or why the line is rejected.
func TestLinesOfEveryFormat(t *testing.T) {
	files, err := filepath.Glob("testdata/lines/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var tested []string
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, part := range archive.Files {
				parts[part.Name] = strings.TrimSuffix(string(part.Data), "\n")
			}
			f, err := ByName(parts["format"])
			if err != nil {
				t.Fatal(err)
			}
			defined := f
			tested = append(tested, f.Name())
			lines := strings.Split(parts["log"], "\n")
			if len(lines) != linesPerFormat {
				t.Errorf("the log has %d lines, want %d", len(lines), linesPerFormat)
			}
			var records []string
			for _, line := range lines {
				var text string
				f, text = recordOf(f, line)
				records = append(records, text)
			}
			table := Table(defined)
			for i := range archive.Files {
				switch archive.Files[i].Name {
				case "records":
					archive.Files[i].Data = []byte(strings.Join(records, "\n") + "\n")
				case "table":
					archive.Files[i].Data = []byte(table)
				}
			}
			if _, has := parts["table"]; has != (table != "") {
				t.Errorf("the file has a table: %t, and the format: %t", has, table != "")
			}
			if table != "" {
				checkTable(t, table, records)
			}
			goldentest.Compare(t, file, string(txtar.Format(archive)))
		})
	}
	for what, is := range map[string]func(string) bool{
		"format string of Apache": func(name string) bool { return IsFormatString(name) && strings.Contains(name, "%h") },
		"format string of nginx":  func(name string) bool { return IsFormatString(name) && strings.Contains(name, "$remote_addr") },
		"pattern":                 IsPattern, "mapping": IsMapping,
	} {
		if !slices.ContainsFunc(tested, is) {
			t.Errorf("no %s has lines", what)
		}
	}
	for _, f := range Formats {
		if !slices.Contains(tested, f.Name()) {
			t.Errorf("%s has no lines", f.Name())
		}
	}
}

var inBackQuotes = regexp.MustCompile("`([^`]+)`")

// checkTable compares the fields in the table of a format with those that its records have.
func checkTable(t *testing.T, table string, records []string) {
	t.Helper()
	var listed []string
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(row, " | ")
		for _, name := range inBackQuotes.FindAllStringSubmatch(cell, -1) {
			listed = append(listed, name[1])
		}
	}
	found := map[string]bool{}
	for _, text := range records {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &members); err == nil {
			for name := range members {
				found[name] = true
			}
		}
	}
	delete(found, "log_rest") // values that are of a wrong type in some lines, whatever the table lists
	for name := range found {
		isEntry := func(field string) bool { return strings.HasPrefix(field, name+"[") }
		if _, known := catalog.Lookup(name); known && !slices.Contains(listed, name) && !slices.ContainsFunc(listed, isEntry) {
			t.Errorf("records have %s, which the table does not list:\n%s", name, table)
		}
	}
	for _, field := range listed {
		if name, _, _ := strings.Cut(field, "["); !found[name] {
			t.Errorf("the table lists %s, which no record has", field)
		}
	}
}

// recordOf returns the record of a line, or why the line is rejected, and the format of the next line.
func recordOf(f Format, line string) (next Format, text string) {
	if d, ok := f.(Directed); ok {
		if next, ok := d.After([]byte(line)); ok {
			return next, "a directive"
		}
	}
	converted, err := Convert(f, nil, []byte(line))
	if err != nil {
		return f, "rejected: " + err.Error()
	}
	var row lake.Row
	if _, err := record.NewDecoder().Decode(converted, &row); err != nil {
		return f, "rejected: " + err.Error()
	}
	f.Complete(&row)
	return f, string(record.AppendJSON(nil, &row, nil))
}
