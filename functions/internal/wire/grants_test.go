package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/lambdas/permissions"
)

// TestValuesUsesItsGrants sends an event to values, and looks for grants in the bucket that it does not need.
func TestValuesUsesItsGrants(t *testing.T) {
	const event = "values-found"
	payload, err := os.ReadFile(filepath.Join(eventFolder, event+".json"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, event)
	f, _ := lambdas.Named("values")
	response, err := w.function(f).Invoke(w.ctx, payload)
	if err != nil || !strings.Contains(string(response), `"statusCode":200`) {
		t.Fatalf("%s %v", response, err)
	}
	judged := func(a permissions.Atom) bool { return a.Task == "finding values" && a.On != permissions.Items }
	calls := permissions.Calls{f.Name: w.guard.Calls()[f.Name]}
	for _, mistake := range permissions.Review(w.guard.Names.Resources(), calls, judged) {
		t.Error(mistake)
	}
	if permissions.AsksAthena(f.Name) {
		t.Error("values may ask Athena")
	}
}
