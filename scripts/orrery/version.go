package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(c terminal.Console) error {
	_, err := fmt.Fprintf(c.Out, "orrery %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the version of the module, or the commit of a program that was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return "(development)"
	}
	return commit + changed
}
