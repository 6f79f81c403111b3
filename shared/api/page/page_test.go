package page_test

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/orrery/orrery/shared/api/page"
)

// TestFiles: the page has what it loads, also what is compressed in the program.
func TestFiles(t *testing.T) {
	index, err := fs.ReadFile(page.Files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	loaded := regexp.MustCompile(`(?:src|href)="\.\./page/([^"]+)"`).FindAllStringSubmatch(string(index), -1)
	if len(loaded) != 5 {
		t.Errorf("the page loads %q, want five files", loaded)
	}
	for _, name := range loaded {
		if _, err := fs.ReadFile(page.Files, name[1]); err != nil {
			t.Error(err)
		}
	}
	script, err := fs.ReadFile(page.Files, "swagger-ui-bundle.js")
	if err != nil || len(script) < 1<<20 {
		t.Errorf("Swagger UI has %d bytes, %v", len(script), err)
	}
	if _, err := page.Files.Open("swagger-ui.js"); err == nil {
		t.Error("a file that is not there is opened")
	}
}
