package main

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestHelpHasTheDefaults: the help of every command has the default of each of its flags.
func TestHelpHasTheDefaults(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, command := range parser.Model.Leaves(true) {
		var path []string
		for node := command; node.Parent != nil; node = node.Parent {
			path = append([]string{node.Name}, path...)
		}
		help, stderr, code := inProcess(t, append(path, "--help")...)
		if code != exit.Done {
			t.Fatalf("%s: exit code %d: %s", command.Path(), code, stderr)
		}
		for _, group := range command.AllFlags(true) {
			for _, flag := range group {
				if flag.Default == "" || flag.Default == "false" || flag.Default == "true" {
					continue
				}
				flags++
				if !strings.Contains(help, flag.Default) {
					t.Errorf("%s --help does not have the default of --%s, %s", command.Path(), flag.Name, flag.Default)
				}
			}
		}
	}
	if flags < 20 {
		t.Errorf("only %d flags with a default were found", flags)
	}
}
