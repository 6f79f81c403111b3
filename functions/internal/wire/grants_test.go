package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table/tabledynamo"
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
	calls := permissions.Calls{f.Name: w.iam.Calls()[f.Name]}
	for _, mistake := range permissions.Review(w.iam.Names.Resources(), calls, judged) {
		t.Error(mistake)
	}
	if permissions.AsksAthena(f.Name) {
		t.Error("values may ask Athena")
	}
}

// TestGrantsThatWereMissing has a row for each grant without which an earlier version failed on AWS. The function has
// no other grant for what it does, so the proxy denies it as soon as the grant is removed.
func TestGrantsThatWereMissing(t *testing.T) {
	for _, test := range []struct {
		name, function string
		use            func(w *world, f lambdas.Function) error
		grant          string
	}{
		{
			"asynchronous queries are read", "query-status",
			func(w *world, f lambdas.Function) error {
				e, err := environmentOf(f)
				if err != nil {
					return err
				}
				_, err = pending.Over(tabledynamo.New(w.table, e.Table), time.Hour, at).Get(w.ctx, "none")
				if fault.KindOf(err) == fault.NotFound {
					return nil
				}
				return err
			},
			"querying: dynamodb:Query on items query#*",
		},
		{
			"the doctor of compact lists raw logs", "compact",
			func(w *world, f lambdas.Function) error {
				_, err := w.function(f).Invoke(w.ctx, []byte(`{"doctor":true}`))
				return err
			},
			"compacting: s3:ListBucket on raw listing raw/*",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.function)
			f, _ := lambdas.Named(test.function)
			end := w.iam.As(f.Name)
			if err := test.use(w, f); err != nil {
				t.Error(err)
			}
			end()
			judged := func(a permissions.Atom) bool { return a.String() == test.grant }
			resources := w.iam.Names.Resources()
			for _, mistake := range permissions.Review(resources, w.iam.Calls(), judged) {
				t.Error(mistake)
			}
			if mistakes := permissions.Review(resources, nil, judged); len(mistakes) != 1 {
				t.Errorf("without calls, the grant %s has the mistakes %q, want one", test.grant, mistakes)
			}
		})
	}
}
