package duckdb_test

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/duckdb"
)

// resident returns the resident memory of this process in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kilobytes, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestMemoryGoesBackAfterLoad: after a load, without further queries, DuckDB gives most of the memory back to the
// system. The test waits until it has. DuckDB has an allocator of its own only on this system.
func TestMemoryGoesBackAfterLoad(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("long, and for Linux on amd64")
	}
	e, err := duckdb.Open(duckdb.Options{Threads: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	before := resident(t)
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() {
			const heavy = `SELECT max(n), max(l) FROM (
				SELECT md5(range::VARCHAR) AS k, count(*) AS n, list(range::VARCHAR || 'abcdefghijklmnopqrstuvwxyz') AS l
				FROM range(300000) GROUP BY k)`
			if err := e.Exec(t.Context(), heavy); err != nil {
				t.Error(err)
			}
		})
	}
	load.Wait()
	used := resident(t) - before
	left, tick := used, time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for range 300 {
		if left < used/4 {
			break
		}
		<-tick.C
		left = resident(t) - before
	}
	t.Logf("of %d MB, %d MB are left", used>>20, left>>20)
	if left >= used/4 {
		t.Error("the memory has not gone back to the system")
	}
}
