package shared_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor    = regexp.MustCompile("[^a-z0-9 _-]")
)

// TestLinks follows the links of all pages to files of the project and to headings.
func TestLinks(t *testing.T) {
	pages, links := 0, 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range linkPattern.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if problem := follow(path, m[1]); problem != "" {
				t.Errorf("%s: %s: %s", path, m[1], problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 10 || links < 20 {
		t.Errorf("found only %d pages with %d links", pages, links)
	}
}

// follow returns what is wrong with a link of a page, or "".
func follow(page, link string) string {
	target, anchor, _ := strings.Cut(link, "#")
	path := page
	if target != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
	}
	if _, err := os.Stat(path); err != nil {
		return "there is no such file"
	}
	if anchor == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	for _, m := range headingPattern.FindAllStringSubmatch(string(text), -1) {
		if anchorOf(m[1]) == anchor {
			return ""
		}
	}
	return "there is no such heading"
}

// anchorOf returns the anchor that GitHub gives to a heading.
func anchorOf(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
