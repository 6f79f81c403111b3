package varints_test

import (
	"math"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/varints"
)

func written() []byte {
	w := varints.Writer{}
	w.Int(math.MinInt64)
	w.Uint(math.MaxUint64)
	w.Bool(true)
	w.Bool(false)
	w.Text("é")
	w.Text("")
	w.Sparse([]int64{0, 5, math.MaxInt64, 0})
	w.Sparse(make([]int64, varints.MostSparse))
	return w.Bytes
}

func read(content []byte) (equal, failed bool) {
	r := varints.Reader{Bytes: content}
	few, many := make([]int64, 4), slices.Repeat([]int64{1}, varints.MostSparse)
	equal = r.Int() == math.MinInt64 && r.Uint() == math.MaxUint64 && r.Bool() && !r.Bool() && string(r.Text()) == "é" && len(r.Text()) == 0
	r.Sparse(few)
	r.Sparse(many)
	return equal && slices.Equal(few, []int64{0, 5, math.MaxInt64, 0}) && !slices.Contains(many, 1) && len(r.Bytes) == 0, r.Failed
}

func TestReader(t *testing.T) {
	content := written()
	if equal, failed := read(content); !equal || failed {
		t.Errorf("equal: %v, failed: %v", equal, failed)
	}
	for i := range content {
		if _, failed := read(content[:i]); !failed {
			t.Errorf("%d of %d bytes: not failed", i, len(content))
		}
	}
	for name, content := range map[string][]byte{
		"a number that is too long": slices.Repeat([]byte{0xff}, 11), "a text that is too long": {9, 'a'},
	} {
		r := varints.Reader{Bytes: content}
		if text := r.Text(); !r.Failed || len(text) > 0 || r.Uint() != 0 || r.Int() != 0 {
			t.Errorf("%s: %q, failed: %v", name, text, r.Failed)
		}
	}
	r := varints.Reader{Bytes: []byte{0b100, 1}}
	if r.Sparse(make([]int64, 2)); !r.Failed {
		t.Error("a list with more numbers than places: not failed")
	}
}
