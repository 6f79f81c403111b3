package engine_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
)

func TestMemory(t *testing.T) {
	t.Run("one caller gets a share only", func(t *testing.T) {
		m := engine.NewMemory(100, 60)
		for _, step := range []struct {
			caller string
			bytes  int64
			want   bool
		}{
			{"a", 50, true}, {"a", 11, false}, {"a", 10, true}, {"a", 1, false},
			{"b", 41, false}, {"b", 40, true}, {"c", 1, false},
		} {
			if got := m.Take(step.caller, step.bytes); got != step.want {
				t.Errorf("%d bytes for %s: %t", step.bytes, step.caller, got)
			}
		}
		m.Give("a", 60)
		if !m.Take("c", 60) {
			t.Error("what was given back is not free")
		}
	})
	t.Run("a nil memory has no limit", func(t *testing.T) {
		var m *engine.Memory
		if !m.Take("a", 1<<62) {
			t.Error("it has")
		}
		m.Give("a", 1<<62)
	})
	t.Run("a context has the caller of its queries", func(t *testing.T) {
		ctx := t.Context()
		if got := engine.CallerOf(ctx) + engine.CallerOf(engine.WithCaller(ctx, "a")); got != "a" {
			t.Error(got)
		}
	})
}
