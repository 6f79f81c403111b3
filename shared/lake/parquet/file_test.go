package parquet

import (
	"bytes"
	"math/rand/v2"
	"reflect"
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
