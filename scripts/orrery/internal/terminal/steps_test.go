package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	var plain, terminal bytes.Buffer
	for _, s := range []*Steps{NewSteps(&plain), {w: &terminal, moving: true, ended: make(chan struct{})}} {
		s.Step("build", false)
		s.Step("start", false)
		s.Step("build", true)
		s.Line("denied: x")
		s.Stop()
	}
	withoutTimes := func(b *bytes.Buffer) string {
		var out strings.Builder
		for _, line := range strings.SplitAfter(b.String(), "\n") {
			for _, part := range strings.SplitAfter(line, "\x1b[K") {
				if _, rest, ok := strings.Cut(part, " s  "); ok {
					part = rest
				}
				fmt.Fprint(&out, part)
			}
		}
		return out.String()
	}
	if got, want := withoutTimes(&plain), "build: done\ndenied: x\n"; got != want {
		t.Errorf("without a terminal: %q, want %q", got, want)
	}
	const clear = "\r\x1b[K"
	want := clear + "build …" + clear + "build, start …" + clear + "build: done\n" + "start …" +
		clear + "denied: x\n" + "start …" + clear
	if got := withoutTimes(&terminal); got != want {
		t.Errorf("on a terminal: %q, want %q", got, want)
	}
}
