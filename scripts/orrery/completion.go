package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/completion"
	"github.com/orrery/orrery/scripts/orrery/internal/manual"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type completionCommand struct {
	Shell string `arg:"" enum:"${shells}" help:"One of ${enum}."`
}

// Run prints the script with which a shell completes commands and flags.
func (s *completionCommand) Run(c terminal.Console) error {
	parser, err := newParser()
	if err != nil {
		return err
	}
	return completion.Write(c.Out, s.Shell, parser.Model.Node)
}

type manualCommand struct {
	Dir string `arg:"" help:"Folder for the pages, such as ~/.local/share/man/man1."`
}

// Run writes the manual pages into a folder.
func (m *manualCommand) Run(c terminal.Console) error {
	parser, err := newParser()
	if err != nil {
		return err
	}
	options := manual.Options{Version: version.String(), About: about, Help: helpWithDefault}
	pages := manual.Pages(parser.Model.Node, options)
	err = os.MkdirAll(m.Dir, 0o755)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		err = errors.Join(err, os.WriteFile(filepath.Join(m.Dir, name), []byte(pages[name]), 0o644))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "%s in %s\n", terminal.Counted(len(pages), "manual page"), terminal.Printable(m.Dir))
	return err
}
