package scan_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// slowRecords returns records of three row groups. Every key is slow in one of them only, and few requests are blocked.
func slowRecords(r *rand.Rand) []lake.Row {
	rows := make([]lake.Row, 400)
	for i := range rows {
		key, hour := r.IntN(40), r.IntN(3)
		url, agent, blocked := fmt.Sprint("/", key), fmt.Sprint("agent ", key%9), r.IntN(50) == 0
		us := r.Int64N(1_000)
		if key%3 == hour {
			us += 1_000_000
		}
		rows[i] = lake.Row{
			TsMs: enginetest.Start.UnixMilli() + int64(hour)*3_600_000 + int64(i), Source: "s", Line: int64(i),
			URL: &url, UserAgent: &agent, Blocked: &blocked, TotalUs: &us, OriginUs: &us,
		}
	}
	return rows
}

// TestTopXWithEqualHashes: if keys have the same hash, the answer is right, or the error is ErrUnsupported.
func TestTopXWithEqualHashes(t *testing.T) {
	right, refused := 0, 0
	for seed := range uint64(40) {
		rows := slowRecords(rand.New(rand.NewPCG(seed, 7)))
		objects := stored(t, rows)
		for _, hashes := range []uint64{1, 30, 300, 3_000, 100_000} {
			o := scan.Options{Workers: 2}.WithHash(func(key []byte) uint64 {
				h := fnv.New64a()
				_, _ = h.Write(key)
				return h.Sum64() % hashes
			})
			err := answer(t, bind(t, hours, query.TopX{Limit: 5}), rows, objects, o)
			switch {
			case err == nil:
				right++
			case errors.Is(err, scan.ErrUnsupported):
				refused++
			default:
				t.Fatal(err)
			}
		}
	}
	if right < 40 || refused < 40 {
		t.Errorf("%d answers and %d refusals, want at least 40 of each", right, refused)
	}
}

// TestTopXWithHiddenKey: a slow key and a fast one have the same hash, so their average is low. The scan notices that
// the slow one may be among the top keys.
func TestTopXWithHiddenKey(t *testing.T) {
	var rows []lake.Row
	add := func(url string, hour, n int, us int64) {
		for range n {
			rows = append(rows, lake.Row{
				TsMs:   enginetest.Start.UnixMilli() + int64(hour)*3_600_000,
				Source: "s", Line: int64(len(rows)), URL: &url, TotalUs: &us,
			})
		}
	}
	add("/slow", 0, 2, 1_000_000)
	add("/fast", 1, 100, 1)
	for key := range 20 {
		add(fmt.Sprint("/", key), key%2, 200, 100_000)
	}
	same := func(key []byte) uint64 {
		if text := string(key); text == "/slow" || text == "/fast" {
			return 1
		}
		h := fnv.New64a()
		_, _ = h.Write(key)
		return h.Sum64()
	}
	q := bind(t, hours, query.TopX{Limit: 5})
	err := answer(t, q, rows, stored(t, rows), scan.Options{}.WithHash(same))
	if !errors.Is(err, scan.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}

// TestTopXWithoutKeptColumns: at the smallest memory that is enough, columns are read again and the answer is the same.
func TestTopXWithoutKeptColumns(t *testing.T) {
	rows := slowRecords(rand.New(rand.NewPCG(1, 9)))
	objects := stored(t, rows)
	q := bind(t, hours, query.TopX{Limit: 5})
	least, most := int64(1), int64(1<<20)
	for least < most {
		middle := (least + most) / 2
		err := answer(t, q, rows, objects, scan.Options{Memory: middle, Workers: 1})
		switch {
		case err == nil:
			most = middle
		case errors.Is(err, scan.ErrUnsupported):
			least = middle + 1
		default:
			t.Fatal(err)
		}
	}
	if least < 1_000 || least > 1<<19 {
		t.Errorf("the query needs %d bytes", least)
	}
}

// TestTopXKeepsKeysThatCanWin: the memory grows with the keys that can win, not with all keys.
func TestTopXKeepsKeysThatCanWin(t *testing.T) {
	const keys, memory = 10_000, 200_000 // 20 bytes a key
	rows := make([]lake.Row, keys)
	for i := range rows {
		url, blocked, us := fmt.Sprint("/", i), i%100 == 0, int64(i)
		rows[i] = lake.Row{
			TsMs:   enginetest.Start.UnixMilli() + int64(i)*10_800_000/keys,
			Source: "s", Line: int64(i), URL: &url, Blocked: &blocked, TotalUs: &us,
		}
	}
	o := scan.Options{Memory: memory, Workers: 2}
	if err := answer(t, bind(t, hours, query.TopX{Limit: 5}), rows, stored(t, rows), o); err != nil {
		t.Error(err)
	}
}

// TestTopXOfManyKeys: keys that do not fit into the memory all at once are counted one part after the other, even if all
// of them rank equally. An answer gives back all memory.
func TestTopXOfManyKeys(t *testing.T) {
	const keys, enough = 10_000, 16 << 20
	random := rand.New(rand.NewPCG(3, 5))
	equal, mixed := make([]lake.Row, keys), make([]lake.Row, keys)
	for i := range keys {
		at := enginetest.Start.UnixMilli() + int64(i)*10_800_000/keys
		url, blocked, us := fmt.Sprint("/", i), false, int64(5)
		equal[i] = lake.Row{TsMs: at, Source: "s", Line: int64(i), URL: &url, Blocked: &blocked, TotalUs: &us}
		some, refused, time := fmt.Sprint("/", random.IntN(6_000)), random.IntN(4) == 0, random.Int64N(200)-20
		mixed[i] = lake.Row{
			TsMs: at, Source: "s", Line: int64(i), URL: &some, IP: &some, Blocked: &refused, TotalUs: &time, OriginUs: &us,
		}
	}
	for name, c := range map[string]struct {
		rows   []lake.Row
		labels []string
		memory int64
	}{
		"equal keys":           {equal, []string{"url"}, 500_000},        // 160,000 for the tallies, more than 1,000,000 for their sums
		"equal keys by time":   {equal, []string{"total_time"}, 900_000}, // 80,000 for the slowest, more than 1,700,000 for candidates
		"little memory":        {mixed, nil, 300_000},
		"very little memory":   {mixed, nil, 120_000},
		"all keys fit":         {mixed, nil, enough},
		"one label, no memory": {mixed, []string{"svc_time"}, 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			objects := stored(t, c.rows)
			for _, workers := range []int{1, 2} {
				shared := engine.NewMemory(enough, enough)
				o := scan.Options{Memory: c.memory, Workers: workers, Shared: shared}
				if err := answer(t, bind(t, hours, query.TopX{Limit: 7, Labels: c.labels}), c.rows, objects, o); err != nil {
					t.Error(err)
				}
				if !shared.Take("", enough) || shared.Take("", 1) {
					t.Error("the scan has not given back all memory")
				}
			}
		})
	}
}
