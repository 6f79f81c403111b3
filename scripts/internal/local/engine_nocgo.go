//go:build !cgo

package local

import (
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
)

// openEngine opens the engine over the objects of an index. DuckDB needs a C compiler, so the engine works without it.
func openEngine(index engine.Index, options scan.Options, _, _ string, _ func(error)) (dataEngine, error) {
	e, err := local.New(index, nil, options)
	if err != nil {
		return nil, err
	}
	return e, nil
}
