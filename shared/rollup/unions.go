package rollup

import (
	"slices"

	"github.com/orrery/orrery/shared/varints"
)

// UnionsName is the name of the section with the Unions of the branches of a day.
const UnionsName = "unions of branches"

// Union counts the different addresses and sessions of a segment of a day by the branches that have them, so that it is
// known how many any branches have together.
type Union struct {
	Start, Seconds int64 // of the segment, in Unix seconds
	IPs, Sessions  []InBranches
}

// InBranches counts the texts that occur in each of some branches, and in no other one.
type InBranches struct {
	Branches uint32 // a bit for each of Day.Branches, in their order
	Texts    int64
}

// In returns the numbers of different addresses and sessions in any of some branches.
func (u *Union) In(branches uint32) (ips, sessions int64) {
	count := func(all []InBranches) (n int64) {
		for _, of := range all {
			if of.Branches&branches != 0 {
				n += of.Texts
			}
		}
		return n
	}
	return count(u.IPs), count(u.Sessions)
}

// Bits returns the bits of subsets in Unions.
func (by Division) Bits(subsets []Subset) (bits uint32) {
	for i, s := range by.Subsets {
		if slices.Contains(subsets, s) {
			bits |= 1 << i
		}
	}
	return bits
}

// NeedsUnions reports whether several subsets of a day can have fewer records than the day.
func (by Division) NeedsUnions() bool {
	return len(by.Subsets) > 2 || len(by.Subsets) == 2 && !by.Complete
}

// AddUnions adds the section of UnionsName.
func (l *Lists) AddUnions(all []Union) {
	e := varints.Writer{}
	e.Uint(uint64(len(all)))
	for _, u := range all {
		e.Int(u.Start)
		e.Int(u.Seconds)
		for _, texts := range [][]InBranches{u.IPs, u.Sessions} {
			e.Uint(uint64(len(texts)))
			for _, of := range texts {
				e.Uint(uint64(of.Branches))
				e.Int(of.Texts)
			}
		}
	}
	l.add(UnionsName, e.Bytes)
}

// DecodeUnions reads the section of UnionsName. The error is ErrInvalid.
func DecodeUnions(content []byte) ([]Union, error) {
	d := varints.Reader{Bytes: content}
	all := make([]Union, d.Length())
	for i := range all {
		all[i].Start, all[i].Seconds = d.Int(), d.Int()
		for _, texts := range []*[]InBranches{&all[i].IPs, &all[i].Sessions} {
			*texts = make([]InBranches, d.Length())
			for n := range *texts {
				(*texts)[n] = InBranches{uint32(d.Uint()), d.Int()}
			}
		}
	}
	if d.Failed || len(d.Bytes) > 0 {
		return nil, ErrInvalid
	}
	return all, nil
}
