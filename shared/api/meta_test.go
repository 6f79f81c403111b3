package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/metatest"
	"github.com/orrery/orrery/shared/search"
)

// TestReadmeListsTheMembersOfMeta: the table has every member that an answer can have, and answers have those that they
// should always have.
func TestReadmeListsTheMembersOfMeta(t *testing.T) {
	members := metatest.Members(t, "README.md")
	var want, got []string
	for field := range reflect.TypeFor[search.Meta]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	for _, m := range members {
		got = append(got, m.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of meta (-code +README):\n%s", diff)
	}
	s := newTestServer(t)
	for _, r := range (&server{}).routes() {
		if find(r.params, dryRunParam.name) == nil {
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			const period = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:05"
			m := get("/api/v4.0" + r.path + "?filters=" + strings.ReplaceAll(period, " ", "%20"))
			if r.method == "POST" {
				body, err := json.Marshal(map[string]string{"filters": period})
				if err != nil {
					t.Fatal(err)
				}
				m = post("/api/v4.0"+r.path, jsonType, string(body))
			}
			route := strings.TrimSuffix(r.id, "-post")
			metatest.Check(t, members, route, metatest.OneMachine, s.send(t, m).body)
		})
	}
}
