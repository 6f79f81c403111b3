package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKeyboardOfREADME checks that the README of the console has every key of the list that the console shows.
func TestKeyboardOfREADME(t *testing.T) {
	_, section, _ := strings.Cut(string(read(t, filepath.Join(folder, "README.md"))), "\n## The keyboard\n")
	section, _, _ = strings.Cut(section, "\n## ")
	section = strings.ReplaceAll(section, "`", "")
	list := string(read(t, filepath.Join(folder, "src/page/help.words.ts")))
	shown := regexp.MustCompile(`\['([^']+)', '[^']+'\]`).FindAllStringSubmatch(list, -1)
	if len(shown) < 20 {
		t.Fatalf("only %d keys in the list", len(shown))
	}
	for _, key := range shown {
		keys := strings.Fields(key[1])
		switch {
		case keys[0] == "g":
			keys = []string{key[1]}
		case strings.HasPrefix(key[1], "Shift-"):
			keys = []string{"Shift", strings.TrimPrefix(key[1], "Shift-")}
		}
		for _, one := range keys {
			if !regexp.MustCompile(`(?m)^\|.*(^|[ |,])` + regexp.QuoteMeta(one) + `([ |,;]|$)`).MatchString(section) {
				t.Errorf("the README lacks the key %s", one)
			}
		}
	}
}
