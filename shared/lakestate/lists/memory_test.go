package lists

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/completionindex"
)

// TestKeptListsAreLimitedByTheirSize: a few large lists take as much memory as many small ones.
func TestKeptListsAreLimitedByTheirSize(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	e := New(nil, nil, func() time.Time { return now })
	kept := func(n int, bytes int64) (sum int64) {
		objects, contents := make([]blob.Info, n), make([]content, n)
		for i := range objects {
			objects[i].Name = fmt.Sprint(bytes, "-", i)
			contents[i] = content{bytes: bytes, at: now}
		}
		e.keepAll(objects, contents)
		for _, c := range e.contents {
			sum += c.bytes
		}
		return sum
	}
	const few = 64
	if sum := kept(few, completionindex.MaxBytes); sum != few*completionindex.MaxBytes {
		t.Errorf("%d bytes of one answer are kept", sum)
	}
	if sum := kept(few, completionindex.MaxBytes-1); sum > maxKeptBytes {
		t.Errorf("%d bytes are kept", sum)
	}
	now = now.Add(keep)
	if sum := kept(2000, 1000); sum != 2_000_000 {
		t.Errorf("%d bytes of small lists are kept", sum)
	}
}

// TestKeptListsCountOnce: an answer from lists that are kept already forgets no others.
func TestKeptListsCountOnce(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	e := New(nil, nil, func() time.Time { return now })
	large, small := blob.Info{Name: "large"}, blob.Info{Name: "small"}
	contents := []content{{bytes: maxKeptBytes * 3 / 5, at: now}}
	e.keepAll([]blob.Info{small}, []content{{bytes: 1000, at: now}})
	for range 2 {
		e.keepAll([]blob.Info{large}, contents)
		if !e.keeps([]blob.Info{large, small}) {
			t.Fatalf("only %d of 2 lists are kept", len(e.contents))
		}
	}
}
