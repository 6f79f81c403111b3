package destination_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/report/destination"
)

// example returns the only example of a language in the README.
func example(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../definition/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("the README has %d examples in %s", len(found), language)
	}
	return string(found[0][1])
}

// TestReadmeExamples: the examples of settings are valid.
func TestReadmeExamples(t *testing.T) {
	s, err := destination.Read(write(t, example(t, "toml")), environment())
	if err != nil || s.Mail == nil || len(s.Destinations) != 2 || s.Link == "" {
		t.Errorf("%+v %v", s, err)
	}
	s, err = destination.ReadJSON(example(t, "json"))
	if err != nil || s.Mail == nil || len(s.Destinations) != 4 || s.Link == "" {
		t.Errorf("%+v %v", s, err)
	}
}

// TestReadmeListsKeys: the README lists every key, and no other.
func TestReadmeListsKeys(t *testing.T) {
	text, err := os.ReadFile("../definition/README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`toml:"([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(keys) < 10 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, key := range keys {
		if !strings.Contains(string(text), "`."+string(key[1])+"`") {
			t.Errorf("the README does not list the key %s of destinations", key[1])
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| … (.*?) \|`).FindAllSubmatch(text, -1) {
		for _, key := range regexp.MustCompile("`\\.([a-z-]+)`").FindAllSubmatch(row[1], -1) {
			if !strings.Contains(string(source), `toml:"`+string(key[1])+`"`) {
				t.Errorf("the README lists the key %s, which there is not", key[1])
			}
		}
	}
}
