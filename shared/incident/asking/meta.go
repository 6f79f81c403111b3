package asking

import (
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// meta joins the metas of the answers.
type meta struct {
	answer.Meta
	read      []*search.Estimate
	known     []*search.Estimate // before they ran
	rounded   bool               // the bytes of the answers are rounded up
	exact     bool
	newest    time.Time
	truncated bool
}

func newMeta(q query.Query, zone string) meta {
	m := meta{exact: true}
	m.Filter, m.Fingerprint = filter.Format(q.Filter), q.Fingerprint()
	m.Period, m.TZ = search.PeriodOf(q.Period), zone
	return m
}

// add adds the metas of answers to questions that were asked at the same time. The data is as complete as in the oldest
// answer.
func (m *meta) add(list []inquiry.Answer) {
	longest := 0.0
	for _, one := range list {
		of := one.Meta
		m.read, m.rounded = append(m.read, one.Scanned()), m.rounded || one.Unrounded != nil
		if of.Estimate != nil {
			m.known = append(m.known, of.Estimate)
		}
		longest = max(longest, of.ElapsedMS)
		m.Engine = of.Engine
		m.EngineMS += of.EngineMS
		m.QueueMS = max(m.QueueMS, of.QueueMS)
		m.Demo, m.Split = m.Demo || of.Demo, m.Split || of.Split
		m.exact = m.exact && (of.Exact == nil || *of.Exact)
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
		if of.Complete != nil && (m.Complete == nil || timeOf(*of.Complete).Before(timeOf(*m.Complete))) {
			m.Complete = of.Complete
		}
		if of.Newest != nil && timeOf(*of.Newest).After(m.newest) {
			m.Newest, m.newest = of.Newest, timeOf(*of.Newest)
		}
		if of.Oldest != nil {
			m.Oldest = of.Oldest
		}
	}
	m.ElapsedMS += longest
}

// joined returns the meta of the incidents. The bytes of a caller who is limited to branches are rounded up once.
func (m *meta) joined(atOnce int) answer.Meta {
	joined := m.Meta
	joined.Exact = &m.exact
	if len(m.read) > 0 {
		joined.BytesScanned = search.Sum(m.read, 0).Bytes.High
	}
	if len(m.known) > 0 {
		if joined.Estimate = search.Sum(m.known, atOnce); m.rounded {
			joined.Estimate.Bytes = nil // each of them is rounded up, so their sum is too large
		}
	}
	if m.truncated {
		joined.Truncated = &answer.Truncated{Reason: "limit"}
	}
	return joined
}

func most[N int | int64](a, b *N) *N {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// timeOf returns a time of an answer.
func timeOf(rfc3339 string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, rfc3339) // the service has written it
	return t
}
