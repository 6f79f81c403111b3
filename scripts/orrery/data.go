package main

import (
	"errors"
	"fmt"

	"github.com/orrery/orrery/scripts/internal/local"
)

// folder is a folder of data, as a flag or ORRERY_DATA names it. An empty name means the default, never the working
// directory itself.
type folder string

const defaultFolder folder = ".orrery"

// UnmarshalText implements encoding.TextUnmarshaler, which the command line is read with.
func (f *folder) UnmarshalText(text []byte) error {
	*f = folder(text)
	if *f == "" {
		*f = defaultFolder
	}
	return nil
}

// mustExist refuses a folder without data: asking must not make one.
func (f folder) mustExist() error {
	err := local.HoldsData(string(f))
	if errors.Is(err, local.ErrNoData) {
		return fmt.Errorf("there is no data in %s: import a log, generate records, or name another folder with --data", f)
	}
	return err
}
