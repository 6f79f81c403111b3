package ingest

import (
	"strings"
	"testing"
)

// TestEveryMarkIsRefused: each beginning that a container may have is refused by the container's name.
func TestEveryMarkIsRefused(t *testing.T) {
	for _, c := range containers {
		for _, mark := range c.marks {
			head := strings.ReplaceAll(mark, "?", "x") + "\x00\nrest"
			if err := refuseContainer([]byte(head), ""); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s by %q: %v", c.name, mark, err)
			}
		}
	}
}
