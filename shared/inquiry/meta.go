package inquiry

import (
	"slices"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Meta joins the metas of the answers to questions.
type Meta struct {
	search.Meta
	Last    time.Time // of the newest record; zero: there is none
	read    []*search.Estimate
	known   []*search.Estimate // before they ran
	rounded bool               // the bytes of the answers are rounded up
	inexact bool
}

// About returns the meta of an answer about a query.
func (m Meta) About(q query.Query, zone string) Meta {
	m.Filter, m.Fingerprint = filter.Format(q.Filter), q.Fingerprint()
	m.Period, m.TZ = search.PeriodOf(q.Period), zone
	return m
}

// Add adds the metas of answers to questions that were asked at the same time. The data is as complete as in the oldest
// answer.
func (m *Meta) Add(list []Answer) {
	longest := 0.0
	for _, one := range list {
		of := one.Meta
		m.read, m.rounded = append(m.read, one.Scanned()), m.rounded || one.Unrounded != nil
		if of.Estimate != nil {
			if of.DryRun {
				of.Estimate.Unrounded = one.Unrounded // of an answer, it is what the query has read
			}
			m.known = append(m.known, of.Estimate)
		}
		longest = max(longest, of.ElapsedMS)
		m.Engine = of.Engine
		m.EngineMS += of.EngineMS
		m.QueueMS = max(m.QueueMS, of.QueueMS)
		m.Demo, m.Split = m.Demo || of.Demo, m.Split || of.Split
		m.inexact = m.inexact || of.Exact != nil && !*of.Exact
		if of.CostUSD != nil {
			if m.CostUSD == nil {
				m.CostUSD = new(float64)
			}
			*m.CostUSD += *of.CostUSD
		}
		m.Objects, m.RowsConsidered = most(m.Objects, of.Objects), most(m.RowsConsidered, of.RowsConsidered)
		m.ObjectsReused = max(m.ObjectsReused, of.ObjectsReused)
		for _, name := range of.Skipped {
			if at, found := slices.BinarySearch(m.Skipped, name); !found {
				m.Skipped = slices.Insert(m.Skipped, at, name)
			}
		}
		for _, list := range of.Lists {
			if !slices.Contains(m.Lists, list) {
				m.Lists = append(m.Lists, list)
			}
		}
		if of.Complete != nil && (m.Complete == nil || TimeOf(*of.Complete).Before(TimeOf(*m.Complete))) {
			m.Complete = of.Complete
		}
		if of.Newest != nil && TimeOf(*of.Newest).After(m.Last) {
			m.Newest, m.Last = of.Newest, TimeOf(*of.Newest)
		}
		if of.Oldest != nil {
			m.Oldest = of.Oldest
		}
	}
	m.ElapsedMS += longest
}

// Joined returns the meta of an answer. The bytes of a caller who is limited to branches are rounded up once.
func (m Meta) Joined(atOnce int) search.Meta {
	joined := m.Meta
	joined.Exact = new(!m.inexact)
	if len(m.read) > 0 {
		sum := search.Sum(m.read, 0)
		if joined.BytesScanned = sum.Bytes.High; sum.Unrounded != nil {
			joined.Unrounded = &sum.Unrounded.High
		}
	}
	if len(m.known) > 0 {
		if joined.Estimate = search.Sum(m.known, atOnce); m.rounded {
			joined.Estimate.Bytes = nil // each of them is rounded up, so their sum is too large
		}
	}
	return joined
}

// Estimated returns the meta of a dry run, whose questions were not asked.
func (m Meta) Estimated(atOnce int) search.Meta {
	joined := m.Meta
	joined.DryRun, joined.BytesScanned, joined.CostUSD = true, 0, nil
	joined.Estimate = search.Sum(m.known, atOnce)
	return joined
}

func most[N int | int64](a, b *N) *N {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// TimeOf returns a time of an answer.
func TimeOf(rfc3339 string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, rfc3339) // the service has written it
	return t
}
