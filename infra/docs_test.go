package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocuments checks the names of resources and properties in the documents of the deployment.
func TestDocuments(t *testing.T) {
	var resources strings.Builder
	for _, name := range []string{"data.json", "api.json", "ops.json"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		resources.Write(text)
	}
	var properties []string
	for _, s := range new(Props).settings() {
		properties = append(properties, s.name)
	}
	resource := regexp.MustCompile("`orrery-([a-z-]+[a-z])`")
	property := regexp.MustCompile(`-c ([a-z-]+)=`)
	stacks := []string{"data", "api", "ops"}
	for _, page := range []string{"README.md", "../events/RUNBOOKS.md", "../events/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range resource.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(stacks, m[1]) && !strings.Contains(resources.String(), `"orrery-`+m[1]+`"`) {
				t.Errorf("%s: there is no resource orrery-%s", page, m[1])
			}
		}
		for _, m := range property.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(properties, m[1]) {
				t.Errorf("%s: there is no property %s", page, m[1])
			}
		}
	}
}
