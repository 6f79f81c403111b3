//go:build !cgo

package local

import (
	"errors"

	"github.com/orrery/orrery/shared/engine"
)

func openEngine(engine.Index, string, string) (Engine, error) {
	return nil, errors.New("this program was built without a C compiler, which DuckDB needs: install one " +
		"(Debian: apt-get install gcc g++; macOS: xcode-select --install) and build again with CGO_ENABLED=1")
}
