package main

import (
	"fmt"
	"os"
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

// mustExist refuses a folder that is not there: asking must not make one.
func (f folder) mustExist() error {
	if _, err := os.Stat(string(f)); err != nil {
		return fmt.Errorf("there is no data in %s: import a log, generate records, or name another folder with --data", f)
	}
	return nil
}
