package whatif

import (
	"sort"
	"time"
)

// Request is a past request of one key.
type Request struct {
	TsNs  int64 // Unix nanoseconds
	Value int32 // of the field With; negative: it has none
}

// Replay is what a limit does to the requests of one key.
type Replay struct {
	// Places are the places of the requests in their windows, from 1 on: the limit acts on those above its threshold. With
	// a value that is counted, it is the number of different values so far. 0: the request is not counted.
	Places []int32
	Acted  []bool // whether the limit acts on each request
	// PhaseUnknown reports that the requests before the period do not tell where its first window begins, because the key
	// has no pause that ends every window and ban.
	PhaseUnknown bool
}

// Replay replays the requests of a key, in the order of their times. Those before fromNs only tell where windows begin;
// the requests from sinceNs on are known. Requests that are not counted may be among them.
//
// A window begins with the first request at or after the end of the window before. A ban begins with the first request
// above the threshold and ends the window; requests during it are acted on, are not counted and do not prolong it. A
// threshold of 0 acts on every request that is counted, without windows.
func (l Limit) Replay(requests []Request, sinceNs, fromNs int64) Replay {
	r := Replay{Places: make([]int32, len(requests)), Acted: make([]bool, len(requests))}
	begin, unknown := l.beginOf(requests, sinceNs, fromNs)
	r.PhaseUnknown = unknown
	const never = -1 << 63
	windowEnd, banEnd := int64(never), int64(never)
	var place int32
	values := map[int32]bool{} // that the window has had
	for i := begin; i < len(requests); i++ {
		one := requests[i]
		if one.TsNs < banEnd {
			r.Acted[i] = true
			continue
		}
		if l.With != "" && one.Value < 0 {
			continue
		}
		if l.Threshold == 0 {
			r.Acted[i], r.Places[i] = true, 1
			continue
		}
		if one.TsNs >= windowEnd {
			windowEnd, place = one.TsNs+int64(l.Per), 0
			clear(values)
		}
		switch {
		case l.With == "":
			place++
		case !values[one.Value]:
			values[one.Value] = true
			place++
		}
		r.Places[i] = place
		if int64(place) <= l.Threshold {
			continue
		}
		r.Acted[i] = true
		if l.Ban > 0 {
			windowEnd, banEnd = never, one.TsNs+int64(l.Ban)
		}
	}
	return r
}

// Gap is the pause after which nothing is left of the windows and bans before it.
func (l Limit) Gap() time.Duration { return l.Per + l.Ban }

// beginOf returns the request with which the replay begins: the one after the last pause of the length Gap that ends
// before the first request of the period, or the first one. unknown reports that there is no such pause.
func (l Limit) beginOf(requests []Request, sinceNs, fromNs int64) (begin int, unknown bool) {
	first := sort.Search(len(requests), func(i int) bool { return requests[i].TsNs >= fromNs })
	if first == len(requests) || l.Threshold == 0 {
		return first, false
	}
	gap := int64(l.Gap())
	for i := first; i > 0; i-- {
		if requests[i].TsNs-requests[i-1].TsNs >= gap {
			return i, false
		}
	}
	return 0, requests[0].TsNs-sinceNs < gap
}
