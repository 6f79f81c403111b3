package scan

import (
	"testing"

	"github.com/orrery/orrery/shared/lake/parquet"
)

func TestFootersAreBounded(t *testing.T) {
	c := lru[fileVersion, *parquet.ColumnReader]{most: maxFooters}
	for i := range 2 * maxFooters {
		c.add(fileVersion{path: "a", size: int64(i)}, &parquet.ColumnReader{}, 1)
		if _, ok := c.find(fileVersion{path: "a", size: int64(i)}); !ok {
			t.Fatalf("footer %d is not found after it was added", i)
		}
	}
	if size, n := c.sizes(); n != maxFooters || size != maxFooters {
		t.Errorf("%d footers of size %d, want %d", n, size, maxFooters)
	}
	if _, ok := c.find(fileVersion{path: "a", size: 2*maxFooters - 1, ns: 1}); ok {
		t.Error("the footer of a file with another time is found")
	}
}
