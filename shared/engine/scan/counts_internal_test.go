package scan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNumberListAddUp: lists of several row groups become one, in which each segment stands once.
func TestNumberListAddUp(t *testing.T) {
	for _, c := range []struct{ list, want numberList }{
		{numberList{}, numberList{}},
		{
			numberList{[]int64{-60, 0, 60}, []int64{1, 0, 2, 1, 3, 3}},
			numberList{[]int64{-60, 0, 60}, []int64{1, 0, 2, 1, 3, 3}},
		},
		{
			numberList{[]int64{60, 120, 60, 0, 120, 60}, []int64{1, 0, 2, 1, 3, 1, 4, 2, 5, 0, 6, 1}},
			numberList{[]int64{0, 60, 120}, []int64{4, 2, 10, 2, 7, 1}},
		},
	} {
		got := c.list
		got.addUp(2)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(numberList{})); diff != "" {
			t.Errorf("%v:\n%s", c.list, diff)
		}
	}
}
