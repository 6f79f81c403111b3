package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/lambdas"
)

// TestOlderAnswersAsOthers sends the events of all functions that older stands for to older, below an older base path.
// It must answer as they do.
func TestOlderAnswersAsOthers(t *testing.T) {
	stood := lambdas.StandsFor()
	own, base := api.BasePaths()[0], api.BasePaths()[1]
	older, _ := lambdas.Named(lambdas.Older)
	files, err := filepath.Glob(filepath.Join(eventFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, file := range files {
		event := strings.TrimSuffix(filepath.Base(file), ".json")
		if strings.HasSuffix(file, responseSuffix) || strings.HasSuffix(event, "-wrong-function") {
			continue // older has every function's routes
		}
		f := functionOf(t, event)
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stands := slices.ContainsFunc(stood, func(other lambdas.Function) bool { return other.Name == f.Name })
		if !stands || !bytes.Contains(payload, []byte(`"path": "`+own+"/")) { // such as events of the doctor
			continue
		}
		sent[f.Name]++
		t.Run(event, func(t *testing.T) {
			var request map[string]any
			if err := json.Unmarshal(payload, &request); err != nil {
				t.Fatal(err)
			}
			path := base + strings.TrimPrefix(request["path"].(string), own)
			request["resource"], request["path"] = base+"/{proxy+}", path
			request["pathParameters"] = map[string]string{"proxy": strings.TrimPrefix(path, base+"/")}
			payload, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, event)
			for _, earlier := range before[event] {
				w.send(earlier)
			}
			got, err := w.function(older).Invoke(w.ctx, payload)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(eventFolder, event+responseSuffix))
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, got, "", "  "); err != nil {
				t.Fatal(err)
			}
			answer := strings.ReplaceAll(indented.String(), base+"/", own+"/")
			if diff := cmp.Diff(strings.TrimSpace(string(want)), answer); diff != "" {
				t.Errorf("(-%s +older):\n%s", f.Name, diff)
			}
			if want := logged[event]; !strings.Contains(w.logs.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, w.logs.String())
			}
		})
	}
	for _, f := range stood {
		if sent[f.Name] == 0 {
			t.Errorf("no event of %s was sent", f.Name)
		}
	}
}
