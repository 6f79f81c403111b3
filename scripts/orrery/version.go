package main

import (
	"fmt"
	"runtime"

	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(c terminal.Console) error {
	_, err := fmt.Fprintf(c.Out, "orrery %s (%s, %s/%s)\n", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
