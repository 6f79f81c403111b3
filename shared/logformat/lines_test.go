package logformat

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/goldentest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
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
			for i := range archive.Files {
				if archive.Files[i].Name == "records" {
					archive.Files[i].Data = []byte(strings.Join(records, "\n") + "\n")
				}
			}
			goldentest.Compare(t, file, string(txtar.Format(archive)))
		})
	}
	for _, f := range Formats {
		if !slices.Contains(tested, f.Name()) {
			t.Errorf("%s has no lines", f.Name())
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
