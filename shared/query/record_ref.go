package query

import (
	"errors"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// This file defines the conditions on record_ref. A reference contains the time of its record, so such a condition also
// limits what is read: to the hours and row groups of these times.

// RefIn holds for the records of any of the references. An empty list holds for nothing.
type RefIn struct{ Refs []lake.Ref }

func (RefIn) test() {}

// refTest returns a test for the records of references.
func (t *typedTest) refTest() Test {
	var refs []lake.Ref
	for i, v := range t.values {
		ref, err := lake.ParseRef(v.Text)
		if err != nil {
			t.refusals[i] = invalidRef(v, errors.Is(err, lake.ErrRefVersion))
			continue
		}
		refs = append(refs, ref)
	}
	if t.refusesAny() {
		return nil
	}
	return RefIn{Refs: distinct(refs)}
}

// isLink reports whether a condition limits a filter to the records of references.
func isLink(c filter.Condition) bool {
	return c.Field.Text == catalog.RecordRef && !c.Negated && (c.Op == filter.Eq || c.Op == filter.In)
}

// followLink sets the period of a filter without one: from the first to the last time of the references of the first
// condition on them. It becomes part of the canonical filter.
func (b *binder) followLink() {
	for _, c := range b.conditions {
		if refs, ok := c.refs(); ok {
			b.period = periodOf(refs)
			b.canonical[0] = canonicalPeriod(b.period)
			return
		}
	}
}

// refs returns the references if the condition holds only for their records.
func (c Condition) refs() (refs []lake.Ref, ok bool) {
	if c.Negated || len(c.Terms) != 1 {
		return nil, false
	}
	test, ok := c.Terms[0].Test.(RefIn)
	return test.Refs, ok
}

// periodOf returns the shortest period with the times of all references. It is empty if there is no reference.
func periodOf(refs []lake.Ref) Period {
	if len(refs) == 0 {
		return noPeriod
	}
	p := Period{FromMs: refs[0].TsMs, ToMs: refs[0].TsMs}
	for _, r := range refs {
		p.FromMs, p.ToMs = min(p.FromMs, r.TsMs), max(p.ToMs, r.TsMs)
	}
	return p
}

// noPeriod contains no instant.
var noPeriod = Period{FromMs: 0, ToMs: -1}

// refs returns references; a matching record must have one of them. ok is false if no condition requires that.
func (q Query) refs() (refs []lake.Ref, ok bool) {
	for _, c := range q.Conditions {
		more, required := c.refs()
		switch {
		case !required:
		case !ok:
			refs, ok = more, true
		default:
			refs = common([]Test{RefIn{refs}, RefIn{more}}, func(t Test) []lake.Ref { return t.(RefIn).Refs })
		}
	}
	return refs, ok
}
