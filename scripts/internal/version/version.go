// Package version has the version of the program.
package version

import (
	"cmp"
	"runtime/debug"
)

// released is the version of a release, without a "v". scripts/package.sh sets it when it links the program.
var released string

// Unreleased is the version of a program that was built from a folder without a history.
const Unreleased = "dev"

// String returns the version of a release or of the module, or the commit of a program that was built in a checkout.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if released != "" || !ok {
		return cmp.Or(released, Unreleased)
	}
	return of(info)
}

// of returns the version of a program that is not of a release.
func of(info *debug.BuildInfo) string {
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
		return Unreleased
	}
	return commit + changed
}
