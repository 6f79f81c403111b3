package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/metatest"
)

// TestAnswersHaveTheMembersOfMeta: the answer of every data route on AWS has the members that the table in the README
// of package api lists for it. TestEvents compares the files with the answers.
func TestAnswersHaveTheMembersOfMeta(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	members := metatest.Members(t, filepath.Join(root, "shared", "api", "README.md"))
	files, err := filepath.Glob(filepath.Join(root, "events", "*-found.response.json"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	unavailable, err := filepath.Glob(filepath.Join(root, "events", "values-unavailable.response.json"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, unavailable...)
	for _, r := range api.Routes() {
		route, isData := strings.CutPrefix(r.Path, "/data/")
		has := func(file string) bool { return strings.HasPrefix(filepath.Base(file), route+"-") }
		if isData && !strings.Contains(route, "/") && route != "fields" && !slices.ContainsFunc(files, has) {
			t.Errorf("there is no answer of %s", route)
		}
	}
	for _, file := range files {
		route, _, _ := strings.Cut(filepath.Base(file), "-")
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var response struct{ Body string }
			if err := json.Unmarshal(text, &response); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(response.Body, `"meta":`) {
				t.Skip("not a data route")
			}
			metatest.Check(t, members, route, metatest.Athena, []byte(response.Body))
			// The backend scans as many bytes for a period without records.
			if !strings.Contains(file, "nothing") {
				metatest.CheckEstimate(t, []byte(response.Body))
			}
		})
	}
}
