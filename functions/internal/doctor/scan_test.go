package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
)

// prober is an engine with the result of its probe.
type prober struct{ err error }

func (p prober) Probe(context.Context) (engine.Cost, error) { return engine.Cost{}, p.err }

func TestScan(t *testing.T) {
	denied := errors.New("access denied")
	for name, c := range map[string]struct {
		err       error
		megabytes int
		found     string
		fails     bool
	}{
		"answers":   {nil, 200, "up to 200 MB", false},
		"too large": {scan.ErrUnsupported, 100, "more than 100 MB", false},
		"off":       {denied, 0, "Athena answers all", false},
		"denied":    {denied, 200, "", true},
	} {
		found, err := doctor.Scan(prober{c.err}, c.megabytes).Run(t.Context())
		if (err != nil) != c.fails || !strings.Contains(found, c.found) {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
}
