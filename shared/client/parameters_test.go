package client_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
)

// TestQuestionHasEveryParameter compares the members of a question with the table of parameters.
func TestQuestionHasEveryParameter(t *testing.T) {
	kinds := map[search.ParameterKind]string{search.IntegerKind: "int", search.BytesKind: "int64", search.BooleanKind: "bool"}
	// The parameters of effects and rules are not in the table.
	want, got := map[string]string{
		"at": "string", "length": "string", "rule": "string", "rules": "[]string", "attack": "string",
	}, map[string]string{}
	for _, p := range search.Parameters {
		want[p.Name] = "string"
		if kind, ok := kinds[p.Kind]; ok {
			want[p.Name] = kind
		}
	}
	for f := range reflect.TypeFor[client.Question]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		got[name] = f.Type.String()
	}
	maps.DeleteFunc(got, func(name, _ string) bool { return name == "-" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-table +Question):\n%s", diff)
	}
}
