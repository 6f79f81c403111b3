package faulttest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeNamesExistingTests checks that the tests that README.md names exist.
func TestReadmeNamesExistingTests(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(readme), -1)
	if len(named) < 20 {
		t.Fatalf("README.md names only %d tests; the pattern no longer matches it", len(named))
	}
	for _, name := range named {
		files, err := filepath.Glob(filepath.Join("..", "..", name[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc "+name[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s has no test %s", name[1], name[2])
		}
	}
}
