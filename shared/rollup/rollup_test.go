package rollup_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

const start = 1_767_225_600 // 2026-01-01

func example() *rollup.Day {
	return &rollup.Day{
		Start:    start,
		HashID:   1 << 63,
		Sections: []rollup.Section{{Name: "values", Offset: 7, Length: 1 << 40, Checksum: 1 << 31}},
		Objects:  []rollup.Object{{Name: "compact/2026/01/01/00/a.parquet", Bytes: 4096, Rows: 9, MinTsMs: start * 1000, MaxTsMs: start*1000 + 5}},
		Hosts: []rollup.Host{
			{Hour: start, Requests: 1},
			{Hour: start, Name: "", Named: true, Requests: 2, Bandwidth: rollup.Sum{High: -1, Low: math.MaxUint64}},
			{Hour: start + 3600, Name: "a.example", Named: true, Requests: 6, Timed: 5, TimeUs: rollup.Sum{High: 1, Low: 7}},
		},
		Segments: []rollup.Segment{
			{
				Start: start, Seconds: 3600, Requests: 3, Blocked: 1, Challenges: 2, Human: 3, OriginBlocked: 1, IPs: 2, Sessions: 1,
				BytesSent: rollup.Sum{Low: 12}, Statuses: []query.StatusCount{{Status: 200, Count: 2}, {Status: -7, Count: 1}},
				Origins: []query.StatusCount{},
			},
			{Start: start, Seconds: 86400, Requests: 9, Statuses: []query.StatusCount{}, Origins: []query.StatusCount{{Status: 502, Count: 9}}},
		},
	}
}

func TestDecode(t *testing.T) {
	want := example()
	want.Bytes = len(want.Encode())
	got, err := rollup.Decode(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-encoded +decoded:\n%s", diff)
	}
}

// TestDecodeDamaged: a rollup with any byte changed, missing or added is refused.
func TestDecodeDamaged(t *testing.T) {
	whole := example().Encode()
	refused := func(content []byte, what string, at int) {
		if _, err := rollup.Decode(content); !errors.Is(err, rollup.ErrInvalid) {
			t.Errorf("%s %d: %v, want ErrInvalid", what, at, err)
		}
	}
	for i := range whole {
		changed := append([]byte{}, whole...)
		changed[i] ^= 1
		refused(changed, "changed at", i)
		refused(whole[:i], "cut at", i)
	}
	refused(append(append([]byte{}, whole...), 0), "longer by", 1)
}

func FuzzDecode(f *testing.F) {
	whole := example().Encode()
	f.Add(whole[:len(whole)-32])
	f.Add([]byte("orrery rollup\n\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		day, err := rollup.Decode(rollup.Sealed(content))
		if err != nil {
			return
		}
		day.Bytes = len(day.Encode())
		again, err := rollup.Decode(day.Encode())
		if diff := cmp.Diff(day, again); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
