package search_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/sqlgen"
)

var update = flag.Bool("update", false, "rewrite the golden stages; read the diff")

// watermark is midnight in the period of the golden files. Earlier hours have been compacted.
var watermark = lake.PartitionOf(1767312000000) // 2026-01-02 00:00 UTC

// TestPipeline compares every stage of many queries with testdata/*.txtar. Each file has a filter, a shape, the result
// of each stage, and the SQL of both dialects. The objects that DuckDB would read are printed as one name, "…".
func TestPipeline(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 60 {
		t.Fatalf("only %d golden files", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) < 2 || archive.Files[0].Name != "shape" || archive.Files[1].Name != "filter" {
				t.Fatal("a golden starts with -- shape -- and -- filter --")
			}
			got := *archive
			shape, text := string(archive.Files[0].Data), string(archive.Files[1].Data)
			got.Files = append(archive.Files[:2:2], stagesOf(t, shape, text)...)
			if *update {
				if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(&got))); diff != "" {
				t.Errorf("stages differ (-golden +got):\n%s", diff)
			}
		})
	}
}

func stagesOf(t *testing.T, shape, text string) []txtar.File {
	t.Helper()
	request, err := requestOf(strings.TrimSpace(shape), strings.TrimSuffix(text, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	q, stages, err := search.Stages(t.Context(), request)
	var wrong *query.FilterError
	if errors.As(err, &wrong) {
		message := filter.Draw(wrong.Text, wrong.Errors)
		if wrong.Fixed != "" {
			message += "corrected: " + wrong.Fixed + "\n"
		}
		return []txtar.File{{Name: "error", Data: []byte(message)}}
	}
	if err != nil {
		t.Fatal(err)
	}
	var files []txtar.File
	for _, stage := range stages {
		files = append(files, txtar.File{Name: stage.Name, Data: []byte(stage.Text)})
	}
	q.Scope.Watermark = watermark
	athena, err := sqlgen.Athena(q)
	files = append(files, scriptFiles("athena", athena, err)...)
	duck, err := sqlgen.DuckDB(q, []lake.Object{{Path: "…"}})
	return append(files, scriptFiles("duckdb", duck, err)...)
}

// scriptFiles returns files with the SQL and the warnings for one engine, or with the error if there is no SQL.
func scriptFiles(name string, s sqlgen.Script, err error) []txtar.File {
	if err != nil {
		return []txtar.File{{Name: name + ".sql", Data: []byte("-- not possible: " + err.Error() + "\n")}}
	}
	var b strings.Builder
	for _, statement := range s.Statements {
		b.WriteString(engine.Statement(statement).String())
	}
	files := []txtar.File{{Name: name + ".sql", Data: []byte(b.String())}}
	if len(s.Warnings) > 0 {
		files = append(files, txtar.File{Name: name + ".warnings", Data: []byte(strings.Join(s.Warnings, "\n") + "\n")})
	}
	return files
}

// requestOf parses a shape line such as "topx limit=3".
func requestOf(shape, text string) (search.Request, error) {
	words := strings.Fields(shape)
	r := search.Request{Route: search.Route(words[0]), Filters: text}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		if !r.Set(name, strings.ReplaceAll(value, "+", " ")) {
			return r, fmt.Errorf("unknown parameter %q in shape line", name)
		}
	}
	return r, nil
}
