package country

import (
	"regexp"
	"testing"
)

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"DE": "Germany", "de": "Germany", "GB": "United Kingdom", "XK": "Kosovo",
		"Germany": "Germany", "ZZ": "ZZ", "UK": "UK", "DEU": "DEU", "": "", "é": "é",
	} {
		if got := Name(text); got != want {
			t.Errorf("the name of %q is %q, want %q", text, got, want)
		}
	}
}

// TestNamesAreDifferent: no two countries have the same name, so each name has one code.
func TestNamesAreDifferent(t *testing.T) {
	code, seen := regexp.MustCompile(`^[A-Z]{2}$`), map[string]string{}
	for c, name := range names {
		if !code.MatchString(c) || len(name) < 3 || seen[name] != "" {
			t.Errorf("%s is %q, as is %q", c, name, seen[name])
		}
		seen[name] = c
	}
	if len(names) != 250 {
		t.Errorf("%d countries", len(names))
	}
}
