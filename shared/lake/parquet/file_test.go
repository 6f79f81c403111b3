package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFileRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := some()
	object := written(t, rows)
	f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		numbers := make([]int64, r.IntN(40))
		for i := range numbers {
			numbers[i] = r.Int64N(int64(len(rows))) // in any order, sometimes repeated
		}
		got, err := f.Rows(numbers, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range numbers {
			if !reflect.DeepEqual(got[i], &rows[n]) {
				t.Fatalf("row %d: %s", n, cmp.Diff(&rows[n], got[i]))
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkFileRows(b *testing.B) {
	object := written(b, hour())
	open := func(b *testing.B) *File {
		f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	read := func(b *testing.B, f *File, numbers []int64) {
		if _, err := f.Rows(numbers, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("one row of a new file", func(b *testing.B) {
		for i := range b.N {
			f := open(b)
			read(b, f, []int64{int64(i*7919) % hourOfRows})
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one row of an open file", func(b *testing.B) {
		f := open(b)
		for i := range b.N {
			read(b, f, []int64{int64(i*7919) % hourOfRows})
		}
	})
	b.Run("all rows from the last to the first", func(b *testing.B) {
		f := open(b)
		b.ReportAllocs()
		for range b.N {
			for end := int64(hourOfRows); end > 0; end -= 1_000 {
				var numbers []int64
				for n := end - 1; n >= max(0, end-1_000); n-- {
					numbers = append(numbers, n)
				}
				read(b, f, numbers)
			}
		}
		b.ReportMetric(float64(b.N*hourOfRows)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("a thousand rows of an open file", func(b *testing.B) {
		f := open(b)
		numbers := make([]int64, 1_000)
		for i := range numbers {
			numbers[i] = int64(i) * hourOfRows / 1_000
		}
		for range b.N {
			read(b, f, numbers)
		}
	})
}

// TestFileRowsInAnyDirection reads all rows in parts, as an export does: the newest part first, so that cursors go back
// in their pages.
func TestFileRowsInAnyDirection(t *testing.T) {
	rows := some()[:2_000]
	object := written(t, rows)
	f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{1, 63, 64, 65, 300} {
		for end := len(rows); end > 0; end -= part {
			var numbers []int64
			for n := end - 1; n >= max(0, end-part); n-- {
				numbers = append(numbers, int64(n))
			}
			if part == 1 && end%37 > 0 {
				continue
			}
			got, err := f.Rows(numbers, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range numbers {
				if !reflect.DeepEqual(got[i], &rows[n]) {
					t.Fatalf("parts of %d, row %d: %s", part, n, cmp.Diff(&rows[n], got[i]))
				}
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFileRowsWithin: rows that are too large together are refused before they are in memory, and read one by one.
func TestFileRowsWithin(t *testing.T) {
	long := strings.Repeat("long", 100_000)
	rows := slices.Clone(some()[:100])
	for i := range rows {
		rows[i].Query = &long
	}
	object := written(t, rows)
	f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int64, len(rows))
	for i := range numbers {
		numbers[i] = int64(i)
	}
	if _, err := f.RowsWithin(NewBudget(50_000), numbers, []string{"ts_ms"}); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v of 100 rows of a kilobyte each, want ErrMemory", err)
	}
	if _, err := f.RowsWithin(NewBudget(1<<20), []int64{0, 99}, nil); err != nil {
		t.Errorf("two rows that share a text: %v", err)
	}
	for i := range rows {
		own := fmt.Sprint(i) + long
		rows[i].Query = &own
	}
	object = written(t, rows)
	if f, err = OpenFile(bytes.NewReader(object), int64(len(object))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RowsWithin(NewBudget(4<<20), numbers, nil); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v of 40 MB, want ErrMemory", err)
	}
	got, err := f.RowsWithin(NewBudget(4<<20), numbers[7:8], nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&rows[7], got[0]); diff != "" {
		t.Errorf("row 7 after an attempt to read all (-want +got):\n%s", diff)
	}
}

// TestFileRowsAllocations: rows are allocated in chunks, so that an export does not spend its time on single values.
func TestFileRowsAllocations(t *testing.T) {
	object := written(t, some())
	f, err := OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int64, 1_000)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	allocations := testing.AllocsPerRun(3, func() {
		if _, err := f.Rows(numbers, nil); err != nil {
			t.Error(err)
		}
	})
	if perRow := allocations / float64(len(numbers)); perRow > 5 {
		t.Errorf("%.1f allocations per row, want at most 5", perRow)
	}
}
