package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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
		if err := m.Wait(t.Context(), "a", 1<<62); err != nil {
			t.Error(err)
		}
		m.Give("a", 1<<62)
	})
	t.Run("a query waits until there is enough for its caller", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := engine.NewMemory(100, 60)
			m.Take("a", 60)
			m.Take("b", 30)
			waited := false
			go func() {
				if err := m.Wait(t.Context(), "a", 40); err != nil {
					t.Error(err)
				}
				waited = true
			}()
			for _, give := range []struct {
				caller string
				bytes  int64
				enough bool
			}{{"a", 10, false}, {"b", 30, false}, {"a", 30, true}} {
				synctest.Wait()
				m.Give(give.caller, give.bytes)
				synctest.Wait()
				if waited != give.enough {
					t.Errorf("after %d bytes of %s: %t", give.bytes, give.caller, waited)
				}
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if err := m.Wait(ctx, "a", 41); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v after the end of the context", err)
			}
		})
	})
	t.Run("a context has the caller of its queries", func(t *testing.T) {
		ctx := t.Context()
		if got := engine.CallerOf(ctx) + engine.CallerOf(engine.WithCaller(ctx, "a")); got != "a" {
			t.Error(got)
		}
	})
}
