package version

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "5f0c"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		rule, module string
		settings     []debug.BuildSetting
		want         string
	}{
		{"the version of the module", "v1.2.3", []debug.BuildSetting{revision}, "v1.2.3"},
		{"the commit of a checkout", "(devel)", []debug.BuildSetting{revision}, "5f0c"},
		{"a checkout with changes", "(devel)", []debug.BuildSetting{revision, modified}, "5f0c with changes"},
		{"a folder without a history", "(devel)", nil, "dev"},
		{"a test", "", nil, "dev"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := of(info); got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestReleasedIsTheVersion(t *testing.T) {
	released = "1.2.3"
	t.Cleanup(func() { released = "" })
	if got := String(); got != "1.2.3" {
		t.Errorf("got %q, want 1.2.3", got)
	}
}
