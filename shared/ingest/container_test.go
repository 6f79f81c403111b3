package ingest

import (
	"strings"
	"testing"
)

// TestRefuseContainer checks that every mark of every container is refused, and that the error names the container.
func TestRefuseContainer(t *testing.T) {
	for _, c := range containers {
		for _, mark := range c.marks {
			head := strings.ReplaceAll(mark, "?", "x") + "\x00\nrest"
			if err := refuseContainer([]byte(head), ""); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s by %q: %v", c.name, mark, err)
			}
		}
	}
}
