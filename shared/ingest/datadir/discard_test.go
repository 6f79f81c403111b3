package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
)

// TestCommittedChangesAreMadeLater: a change that was committed and could not be made, because objects cannot be moved
// into place, is made by the next process.
func TestCommittedChangesAreMadeLater(t *testing.T) {
	for _, test := range []struct {
		work, step, obstacle string
		before, after        int // rows
	}{
		{"import", "import: after the commit point", "fresh", 8, 16},
		{"forget", "forget: after the commit point", "compact", 16, 8},
	} {
		t.Run(test.work, func(t *testing.T) {
			dir := prepare(t, "other")
			if test.work == "forget" {
				dir = prepare(t, "other", "import", "compact")
			}
			s, err := Open(t.Context(), dir, ledgersqlite.Open, func() time.Time { return testTime })
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(s.lakeDir(), test.obstacle)
			aside := folder + "-aside"
			s.onStep = func(step string) {
				if step == test.step {
					if err := errors.Join(os.Rename(folder, aside), os.WriteFile(folder, nil, 0o600)); err != nil {
						t.Error(err)
					}
				}
			}
			if test.work == "import" {
				_, err = s.Import(t.Context(), "log", strings.NewReader(sparse(0, 8)), ingest.Options{})
			} else {
				err = works[test.work](t.Context(), s, func() {})
			}
			if err == nil {
				t.Fatal("objects were moved into a file")
			}
			if err := errors.Join(s.Close(), os.Remove(folder), os.Rename(aside, folder)); err != nil {
				t.Fatal(err)
			}
			if got := seenWithoutRecovery(t, dir); got != test.before {
				t.Errorf("%d rows before the next process, want %d", got, test.before)
			}
			if got := len(rowsOf(t, openStore(t, dir))); got != test.after {
				t.Errorf("%d rows, want %d", got, test.after)
			}
		})
	}
}
