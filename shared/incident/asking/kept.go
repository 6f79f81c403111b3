package asking

import (
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/incident"
)

// mostKept is the number of answers that Kept keeps.
const mostKept = 32

// Kept keeps the answers to the latest requests, for the same request about the same data. It is safe for concurrent
// use. A nil Kept keeps nothing.
type Kept struct {
	mu   sync.Mutex
	list []keptAnswer // the latest first
}

type keptAnswer struct {
	key string
	Incidents
}

// find returns the answer to a request as one for which nothing was read.
func (k *Kept) find(key string) (Incidents, bool) {
	if k == nil || key == "" {
		return Incidents{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.list, func(one keptAnswer) bool { return one.key == key })
	if i < 0 {
		return Incidents{}, false
	}
	found := k.list[i]
	k.list = slices.Insert(slices.Delete(k.list, i, i+1), 0, found)
	return found.Incidents, true
}

func (k *Kept) add(key string, found Incidents) {
	if k == nil || key == "" {
		return
	}
	found.Meta = unread(found.Meta)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(one keptAnswer) bool { return one.key == key })
	k.list = slices.Insert(k.list, 0, keptAnswer{key, found})
	k.list = k.list[:min(len(k.list), mostKept)]
}

// unread returns the meta of an answer for which nothing is read.
func unread(m answer.Meta) answer.Meta {
	m.ElapsedMS, m.EngineMS, m.QueueMS, m.BytesScanned = 0, 0, 0, 0
	if m.Objects != nil {
		m.ObjectsReused, m.Objects = max(m.ObjectsReused, *m.Objects), new(int)
	}
	if m.RowsConsidered != nil {
		m.RowsConsidered = new(int64)
	}
	if m.Estimate != nil {
		estimate := *m.Estimate
		estimate.Bytes, estimate.WaitMS = &answer.BytesEstimate{}, nil
		m.Estimate = &estimate
	}
	return m
}

// key names the request and the data; "": the answer is not kept.
func (a *asker) key(data string) string {
	if data == "" {
		return ""
	}
	return strings.Join([]string{data, a.within(a.span()), a.conditions, a.zone.String()}, "\n")
}

// lasts reports whether the answer stays the same while the data does. Lists of the filter may change, objects that
// cannot be read may be repaired, and an incident that is still going on ends when time has passed without a newer
// record.
func (a *asker) lasts() bool {
	newest := a.recent()
	return len(a.meta.Lists) == 0 && len(a.meta.Skipped) == 0 &&
		(newest.IsZero() || newest.Unix() >= a.span().To+2*incident.Minute)
}
