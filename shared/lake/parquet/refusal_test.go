package parquet

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

func TestReadColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := some()[:500]
	object := written(t, rows)
	r, size := bytes.NewReader(object), int64(len(object))
	got, err := ReadColumns(r, size, []int64{7, 499}, []string{"ts_ms", "headers", "trigger_counters"})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{7, 499} {
		want := &lake.Row{TsMs: rows[n].TsMs, Headers: rows[n].Headers, TriggerCounters: rows[n].TriggerCounters}
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("row %d is %+v, want %+v", n, got[i], want)
		}
	}
	all, err := ReadColumns(r, size, []int64{3}, nil)
	if err != nil || !reflect.DeepEqual(all[0], &rows[3]) {
		t.Errorf("row 3 is %+v, %v", all, err)
	}
}

func TestReadColumnsRefusesUnknownRowsAndColumns(t *testing.T) {
	object := written(t, some()[:10])
	r, size := bytes.NewReader(object), int64(len(object))
	for _, n := range []int64{-1, 10} {
		if _, err := ReadColumns(r, size, []int64{n}, nil); err == nil || !strings.Contains(err.Error(), "of 10") {
			t.Errorf("row %d: %v", n, err)
		}
	}
	_, err := ReadColumns(r, size, []int64{1}, []string{"ts"})
	if err == nil || !strings.Contains(err.Error(), `no column "ts"`) {
		t.Errorf("unknown column: %v", err)
	}
	if _, err := ReadColumns(r, size-1, nil, nil); err == nil {
		t.Error("an incomplete file opens")
	}
}

func TestReadColumnsDetectsDamagedPages(t *testing.T) {
	object := written(t, some()[:2_000])
	damaged := bytes.Clone(object)
	for i := 4; i < len(damaged)/2; i += 50 {
		damaged[i] ^= 0xff
	}
	if _, err := ReadColumns(bytes.NewReader(damaged), int64(len(damaged)), []int64{5}, nil); err == nil {
		t.Error("ReadColumns: no error")
	}
}

// brokenWriter is the number of bytes that it accepts before it fails.
type brokenWriter int

func (w *brokenWriter) Write(p []byte) (int, error) {
	if *w -= brokenWriter(len(p)); *w < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterReportsFullDisk(t *testing.T) {
	rows := some()[:2_000]
	for _, room := range []brokenWriter{0, 10_000, 100_000} {
		w := newWriter(&room, 500)
		if err := errors.Join(w.Write(rows), w.Close()); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("with %d bytes: %v", room, err)
		}
	}
}
