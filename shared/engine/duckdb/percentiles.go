package duckdb

import "github.com/orrery/orrery/shared/query"

// ranks receives the columns with the percentiles of a duration. All are NULL if no record has it.
type ranks [3]*int64

func (r *ranks) targets() []any { return []any{&r[0], &r[1], &r[2]} }

func (r *ranks) result() query.Ranks {
	if r[0] == nil {
		return query.Ranks{}
	}
	return query.RanksAt([]int64{*r[0], *r[1], *r[2]})
}

// percentiles receives the columns with the percentiles of a group.
type percentiles struct{ origin, svc, total ranks }

func (p *percentiles) targets() []any {
	return append(append(p.origin.targets(), p.svc.targets()...), p.total.targets()...)
}

func (p *percentiles) result() query.Percentiles {
	return query.Percentiles{Origin: p.origin.result(), Svc: p.svc.result(), Total: p.total.result()}
}
