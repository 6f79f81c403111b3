package grafana

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/testkit/goldentest"
)

func TestDashboard(t *testing.T) {
	goldentest.Compare(t, "dashboard.json", string(Dashboard()))
}

// TestPanelsDoNotOverlap: every panel is on the grid, and no two share a cell of it.
func TestPanelsDoNotOverlap(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal(Dashboard(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) != 16 {
		t.Errorf("%d panels", len(d.Panels))
	}
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Description == "" || p.GridPos.X+p.GridPos.W > lineWidth {
			t.Errorf("panel %d %s: its id, its description or its place %v is wrong", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s and %s overlap", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// TestFilesFitTogether: the dashboard uses the provisioned data source, and README.md names every file and variable.
func TestFilesFitTogether(t *testing.T) {
	text := func(name string) string {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	provisioned, readme := text("datasource.yaml"), text("README.md")
	for _, line := range []string{"uid: " + source.UID, "type: " + source.Type, "access: proxy", "url: $ORRERY_URL"} {
		if !strings.Contains(provisioned, line+"\n") {
			t.Errorf("datasource.yaml has no line %q", line)
		}
	}
	for _, name := range []string{
		"datasource.yaml", "dashboards.yaml", "dashboard.json", source.Type, "ORRERY_URL", "ORRERY_KEY",
		consoleAddress,
	} {
		if !strings.Contains(readme, name) {
			t.Errorf("README.md does not name %s", name)
		}
	}
	for _, p := range panels {
		if !strings.Contains(readme, "| "+p.title+" | `"+p.route+"` |") {
			t.Errorf("README.md does not list the panel %s of %s", p.title, p.route)
		}
	}
}
