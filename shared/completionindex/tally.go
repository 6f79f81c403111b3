package completionindex

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	// maxBranches is the maximum number of branches that are counted. The records of further ones are left out.
	maxBranches = 256
	// keptValues is the number of values of a field that a branch keeps when it has counted twice as many. To limit the
	// memory, it forgets the others, which are the rarest so far. Ten times as many stay as are listed.
	keptValues = 10 * MaxValues
	// fewerValues is the number of values of a field below which Encode leaves out branches instead of further values.
	fewerValues = MaxValues / 16
)

// Tally counts the values of the records of an object. The zero Tally has counted nothing.
type Tally struct {
	branches map[string]*BranchTally
	without  *BranchTally // of the records that have no branch
	cut      bool         // there are further branches
}

// BranchTally counts the values of the records of one branch.
type BranchTally struct {
	name    *string
	records int64
	fields  []fieldTally // in the order of Dimensions
}

type fieldTally struct {
	counts map[string]int64
	cut    bool // values were forgotten
}

// Branch returns the tally of a branch. It returns nil if there are too many branches, or if the name is too long.
func (t *Tally) Branch(name []byte) *BranchTally {
	if b := t.branches[string(name)]; b != nil {
		return b
	}
	if len(name) > MaxLength || len(t.branches) == maxBranches {
		t.cut = true
		return nil
	}
	if t.branches == nil {
		t.branches = map[string]*BranchTally{}
	}
	text := string(name)
	b := newBranchTally(&text)
	t.branches[text] = b
	return b
}

// NoBranch returns the tally of the records that have no branch.
func (t *Tally) NoBranch() *BranchTally {
	if t.without == nil {
		t.without = newBranchTally(nil)
	}
	return t.without
}

func newBranchTally(name *string) *BranchTally {
	return &BranchTally{name: name, fields: make([]fieldTally, len(Dimensions()))}
}

// AddRecords adds a number of records.
func (b *BranchTally) AddRecords(n int) { b.records += int64(n) }

// Add adds n records that have a value of a field, which is an index of Dimensions.
func (b *BranchTally) Add(field int, value []byte, n int64) {
	f := &b.fields[field]
	if len(value) > MaxLength {
		f.cut = true
		return
	}
	if f.counts == nil {
		f.counts = map[string]int64{}
	}
	f.counts[string(value)] += n
	if len(f.counts) > 2*keptValues {
		for _, rare := range f.commonest()[keptValues:] {
			delete(f.counts, rare)
		}
		f.cut = true
	}
}

// commonest returns the values, the commonest first.
func (f *fieldTally) commonest() []string {
	return slices.SortedFunc(maps.Keys(f.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.counts[b], f.counts[a]), cmp.Compare(a, b))
	})
}

// Encode returns the lists of an object of that size. If the lists are too large, it leaves out values, then branches.
func (t *Tally) Encode(size int64) ([]byte, error) {
	all := t.sorted()
	for values, branches := MaxValues, len(all); ; {
		encoded, err := encode(listsOf(all[:branches], values, size, t.cut || branches < len(all)))
		if err != nil || encoded != nil {
			return encoded, err
		}
		if values > fewerValues || branches <= 1 {
			values /= 2
		} else {
			branches /= 2
		}
	}
}

// sorted returns the tallies of all branches, the one with the most records first.
func (t *Tally) sorted() []*BranchTally {
	all := slices.Collect(maps.Values(t.branches))
	if t.without != nil {
		all = append(all, t.without)
	}
	slices.SortFunc(all, func(a, b *BranchTally) int {
		return cmp.Or(cmp.Compare(b.records, a.records), compareNames(a.name, b.name))
	})
	return all
}

// compareNames orders names. At most one of them is nil; it comes first.
func compareNames(a, b *string) int {
	switch {
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return strings.Compare(*a, *b)
}

// listsOf returns lists with at most that many values of each field and branch.
func listsOf(branches []*BranchTally, values int, size int64, cut bool) Lists {
	l := Lists{Version: version, Bytes: size, Branches: make([]Branch, len(branches)), Cut: cut}
	for _, d := range Dimensions() {
		l.Fields = append(l.Fields, d.String())
	}
	for i, b := range branches {
		of := Branch{Name: b.name, Values: map[string][]string{}}
		for n := range b.fields {
			f := &b.fields[n]
			all := f.commonest()
			if len(all) > 0 {
				of.Values[l.Fields[n]] = all[:min(len(all), values)]
			}
			if f.cut || len(all) > values {
				of.Cut = append(of.Cut, l.Fields[n])
			}
		}
		slices.Sort(of.Cut)
		l.Branches[i] = of
	}
	return l
}
