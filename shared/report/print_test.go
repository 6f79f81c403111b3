package report

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pagesPattern = regexp.MustCompile(`/Count ([0-9]+)`)

// TestPrintsOnTwoPages prints a report with full lists of long values in a browser, which ORRERY_CHROMIUM names.
func TestPrintsOnTwoPages(t *testing.T) {
	browser, err := exec.LookPath(cmp.Or(os.Getenv("ORRERY_CHROMIUM"), "chromium-headless-shell"))
	if err != nil || testing.Short() {
		t.Skip("there is no browser, or the tests are short")
	}
	r := reportOf(t, ordinary)
	for _, lists := range [][]List{r.Attackers, r.Targets, r.Rules, r.Passed, r.Wrong} {
		for i := range lists {
			row := lists[i].Rows[0]
			lists[i].Rows = nil
			for n := range listed {
				row.Key = fmt.Sprintf("%d.shop.example/%s", n, strings.Repeat("search/", 20))
				lists[i].Rows = append(lists[i].Rows, row)
			}
		}
	}
	r.Examples = []Record{r.Examples[0], r.Examples[0], r.Examples[0], r.Examples[0], r.Examples[0]}
	folder := t.TempDir()
	page, pdf := filepath.Join(folder, "report.html"), filepath.Join(folder, "report.pdf")
	if err := os.WriteFile(page, r.HTML(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), browser, "--no-sandbox", "--no-pdf-header-footer", "--print-to-pdf="+pdf,
		"--user-data-dir="+filepath.Join(folder, "profile"), "file://"+page)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(pdf)
	if err != nil {
		t.Fatal(err)
	}
	if m := pagesPattern.FindSubmatch(text); m == nil || string(m[1]) != "2" {
		t.Errorf("pages: %s, want 2", m)
	}
}
