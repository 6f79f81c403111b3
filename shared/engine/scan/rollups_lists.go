package scan

import (
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// listed returns the dimensions whose values rollups list: the default ones of facets and of diffs, and others with few
// values.
var listed = sync.OnceValue(func() []query.Dimension {
	return dimensionsOf(query.DefaultFacets, query.DefaultDiff, "human,monitor,monitor_reasons,upstream_status")
})

// listedOf returns the dimensions whose values the rollup of a subset lists.
func listedOf(s rollup.Subset) []query.Dimension {
	if f, ok := rollup.FilterOf(s); ok {
		return dimensionsOf(f.Values)
	}
	return listed()
}

// dimensionsOf returns the dimensions of lists of names, each once.
func dimensionsOf(lists ...string) (all []query.Dimension) {
	for _, names := range lists {
		if names == "" {
			continue
		}
		by, err := query.ParseDimensions(names)
		if err != nil {
			panic(err)
		}
		for _, d := range by {
			if !slices.ContainsFunc(all, func(of query.Dimension) bool { return of.Identity() == d.Identity() }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// lists makes the lists of a rollup, and counts its records. If there are too many different values, there are no
// lists, and if there are too many keys, only the values are listed. For a subset, whole has the lists of its day or
// week; otherwise it is nil.
func (r *run) lists(
	ctx context.Context, of ToRollUp, groups []*group, whole *rollup.Lists,
) (lists rollup.Lists, requests int64, _ error) {
	before := r.used.Load()
	giveUp := func() { // what was counted is not needed
		for _, g := range groups {
			g.hashes = nil
		}
		r.unreserve(r.used.Load() - before)
	}
	requests, err := r.listValues(ctx, groups, listedOf(of.Subset), whole, &lists)
	switch {
	case areTooMany(err):
		giveUp()
		return rollup.Lists{}, 0, nil
	case err != nil:
		return rollup.Lists{}, 0, err
	case !of.Subset.HasKeys():
		return lists, requests, nil
	}
	values := lists
	if err = r.listKeys(ctx, groups, nil, &lists); areTooMany(err) {
		giveUp()
		return values, requests, nil
	}
	return lists, requests, err
}

// listSizes are the sizes of the lists of a rollup.
type listSizes struct {
	texts     int // of the values of a dimension that have most requests or blocked requests
	undivided int // values of a dimension that are in one part
	known     int // keys whose figures are listed, half of them by all requests and half by blocked ones
	slowest   int // keys by each time

	// If so many keys have blocked requests, the others rank behind the limit of every question and are not counted.
	blocked int

	rest int // the figures of all keys are listed, unless there are more keys

	few int // keys of days that are rather learned from records than excluded by comparing more of the slowest keys
}

// sizesOf returns the sizes of the lists of a rollup.
func sizesOf(r ToRollUp) listSizes {
	of := sizes
	if r.Subset.Field == rollup.HostField {
		of.known = min(of.known, knownOfHost)
	}
	if r.Length != rollup.DayLength || !r.Subset.HasRest() {
		of.rest = 0
	}
	return of
}

// knownOfHost is the number of keys of a host whose figures are listed, besides the slowest ones.
const knownOfHost = 300

// sizes are the sizes of new lists. Tests change them.
var sizes = listSizes{texts: 100, undivided: 2048, known: 3000, slowest: 256, blocked: 80, rest: 1 << 17, few: 32}

// partBits divides the values of a dimension into 16 parts.
const partBits = 4

// listValues lists the values of dimensions, and counts the records. For a subset, whole has the lists of its day or
// week; otherwise it is nil.
func (r *run) listValues(
	ctx context.Context, groups []*group, by []query.Dimension, whole, lists *rollup.Lists,
) (requests int64, _ error) {
	f := newFacets(r, by, flagsOfRows, addFlagged)
	all := make([]rollup.Values, len(by))
	err := f.count(ctx, groups, func(i int, values *counted[query.Flagged]) error {
		const valueBytes = 64
		of := &all[i]
		if of.Texts == nil {
			of.Texts = map[rollup.Hash]string{}
		}
		hashes := values.table.hashes()
		if err := r.reserve(int64(len(hashes)) * valueBytes); err != nil {
			return err
		}
		for place, hash := range hashes {
			of.Values = append(of.Values, rollup.Value{Hash: hash.rolledUp().Short(), Flagged: values.counts[place]})
		}
		for _, byBlocked := range []bool{true, false} {
			facet := query.Facet{}
			addFacet(&facet, values, query.Facets{Limit: r.sizes.texts, ByBlocked: byBlocked})
			for _, v := range facet.Values {
				of.Texts[r.textHash([]byte(v.Value)).rolledUp().Short()] = v.Value
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i, d := range by {
		all[i].Requests = f.by[i].present.Requests
		if whole.Lists(d) {
			if err := lists.AddPlaces(d, all[i], whole); err != nil {
				return 0, unusable(err)
			}
		} else {
			bits := uint(0)
			if len(all[i].Values) > r.sizes.undivided {
				bits = partBits
			}
			lists.AddValues(d, all[i], bits)
		}
		all[i] = rollup.Values{}
	}
	return f.all.Requests, nil
}

func (h textHash) rolledUp() rollup.Hash { return rollup.Hash{First: h.hash, Check: h.check} }

// hashes returns the hashes of the texts, by their places.
func (t *textTable) hashes() []textHash {
	all := make([]textHash, t.n)
	for _, slot := range t.slots {
		if slot.place != 0 {
			all[slot.place-1] = textHash{slot.hash, slot.check}
		}
	}
	return all
}
