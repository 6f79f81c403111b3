package answering

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/search"
)

// estimating answers questions by their parameter bytes, which is what they may read.
type estimating struct {
	asked   atomic.Int64
	rounded bool // for a caller who is limited to branches
}

func (e *estimating) ask(_ context.Context, _ string, params map[string]string) ([]byte, error) {
	if params[dryRunName] != "true" {
		e.asked.Add(1)
		return []byte(`{"data":{"results":[]},"meta":{}}`), nil
	}
	if params["bytes"] == "" {
		return []byte(`{"data":{"results":[]},"meta":{"dry_run":true,"estimate":{"bytes":null}}}`), nil
	}
	bytes, unrounded := params["bytes"], ""
	if e.rounded {
		bytes, unrounded = "10000000", fmt.Sprintf(`,"unrounded":{"low":0,"high":%s}`, bytes)
	}
	const form = `{"data":{"results":[]},"meta":{"dry_run":true,"estimate":{"bytes":{"low":0,"high":%s}}}%s}`
	return fmt.Appendf(nil, form, bytes, unrounded), nil
}

// allowed returns an allowance of an answer whose questions are estimated to read so many bytes at first.
func allowed(most, first int64) *allowance {
	return allow(most, conclusion[int]{estimate: func(context.Context, Ask) (search.Meta, error) {
		return search.Meta{Estimate: &search.Estimate{Bytes: &search.BytesEstimate{High: first}}}, nil
	}})
}

func TestAllowance(t *testing.T) {
	question := func(bytes int) map[string]string { return map[string]string{"bytes": fmt.Sprint(bytes)} }
	t.Run("of questions at the same time, only as many are asked as fit", func(t *testing.T) {
		e := &estimating{}
		ask := allowed(100, 0).asking(e.ask)
		var refused atomic.Int64
		inquiry.Each(40, 0, func(int) {
			_, err := ask(t.Context(), "stats", question(9))
			if heavy := (*search.HeavyError)(nil); errors.As(err, &heavy) && heavy.Estimate.Bytes.High == 108 {
				refused.Add(1)
			}
		})
		if e.asked.Load() != 11 || refused.Load() != 29 {
			t.Errorf("%d questions were asked and %d refused", e.asked.Load(), refused.Load())
		}
	})
	t.Run("a smaller question may fit after a larger one was refused", func(t *testing.T) {
		e := &estimating{}
		ask := allowed(100, 0).asking(e.ask)
		for _, c := range []struct {
			bytes int
			fits  bool
		}{{60, true}, {41, false}, {40, true}, {1, false}} {
			if _, err := ask(t.Context(), "stats", question(c.bytes)); (err == nil) != c.fits {
				t.Errorf("%d bytes: %v", c.bytes, err)
			}
		}
	})
	t.Run("nothing is asked if the estimate of the answer is too much", func(t *testing.T) {
		e := &estimating{}
		_, err := allowed(100, 101).asking(e.ask)(t.Context(), "stats", question(1))
		const want = "max_bytes: its questions may read 101 bytes, more than 100; ask for a shorter period, or allow more bytes"
		if err == nil || err.Error() != want || e.asked.Load() > 0 {
			t.Errorf("%v, %d asked", err, e.asked.Load())
		}
	})
	t.Run("a question whose bytes are not known is refused", func(t *testing.T) {
		e := &estimating{}
		_, err := allowed(100, 0).asking(e.ask)(t.Context(), "stats", nil)
		const want = "max_bytes: the engine does not know what a query reads before it runs: ask without max_bytes"
		if err == nil || err.Error() != want || e.asked.Load() > 0 {
			t.Errorf("%v, %d asked", err, e.asked.Load())
		}
	})
	t.Run("the bytes of a caller who is limited to branches are rounded up once", func(t *testing.T) {
		e := &estimating{rounded: true}
		ask := allowed(10_000_000, 0).asking(e.ask)
		for range 5 {
			if _, err := ask(t.Context(), "stats", question(1000)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ask(t.Context(), "stats", question(9_996_000)); err == nil {
			t.Error("20,000,000 bytes are allowed")
		}
	})
	t.Run("without a limit nothing is estimated", func(t *testing.T) {
		e := &estimating{}
		var none *allowance
		if _, err := none.asking(e.ask)(t.Context(), "stats", nil); err != nil || e.asked.Load() != 1 {
			t.Error(err)
		}
	})
}
