package rollup_test

import (
	order "cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
)

var key = rollup.HashKey{1, 2, 3}

func hashOf(n int) rollup.Hash { return key.Hash(fmt.Appendf(nil, "text %d", n)) }

// sectionsOf returns the contents of sections by their names.
func sectionsOf(t testing.TB, l *rollup.Lists) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, s := range l.Sections {
		all[s.Name] = l.Bytes[s.Offset : s.Offset+s.Length]
		if err := s.Check(all[s.Name]); err != nil {
			t.Error(err)
		}
	}
	return all
}

// TestValues: values are read as they were written, whether they are divided or not.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := rollup.Values{Requests: 7, Texts: map[rollup.Hash]string{hashOf(3).Short(): "", hashOf(40).Short(): "a text"}}
	for i := range 300 {
		n := query.Flagged{Requests: 1 + r.Int64N(3)}
		for _, to := range []*int64{&n.Blocked, &n.Challenges, &n.Monitored, &n.Human} {
			*to = []int64{0, n.Requests, r.Int64N(n.Requests + 1)}[r.IntN(3)]
		}
		of.Values = append(of.Values, rollup.Value{Hash: hashOf(i).Short(), Flagged: n})
	}
	of.Values[0].Flagged = query.Flagged{Requests: math.MaxInt64, Human: math.MaxInt64, Blocked: 1 << 40}
	d := querytest.Dimensions("country")[0]
	for _, bits := range []uint{0, 4} {
		var lists rollup.Lists
		lists.AddValues(d, of, bits)
		sections := sectionsOf(t, &lists)
		head, err := rollup.DecodeValuesHead(sections[rollup.ValuesName(d)])
		want := rollup.ValuesHead{Requests: 7, Distinct: 300, PartBits: bits, Texts: of.Texts}
		if diff := cmp.Diff(want, head); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		var got []rollup.Value
		for part := range 1 << bits {
			content := sections[rollup.ValuesPartName(d, part)]
			err := rollup.EachValue(content, func(v *rollup.Value) {
				if v.Part(bits) != part {
					t.Errorf("a value of part %d is in part %d", v.Part(bits), part)
				}
				got = append(got, *v)
			})
			if err != nil {
				t.Error(err)
			}
			if err := rollup.EachValue(content[:5], func(*rollup.Value) {}); !errors.Is(err, rollup.ErrInvalid) {
				t.Errorf("a part that is cut: %v", err)
			}
		}
		if diff := cmp.Diff(of.Values, got); diff != "" { // AddValues has sorted them
			t.Errorf("-written +read:\n%s", diff)
		}
	}
}

// TestPlaces: the values of a subset are read as they were written, given those of the whole day, and those of another
// day are refused.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := querytest.Dimensions("country")[0]
	for _, bits := range []uint{0, 4} {
		all := rollup.Values{Texts: map[rollup.Hash]string{hashOf(3).Short(): "three"}}
		for i := range 300 {
			all.Values = append(all.Values, rollup.Value{Hash: hashOf(i).Short(), Flagged: query.Flagged{Requests: 9, Human: 1}})
		}
		var whole, other rollup.Lists
		whole.AddValues(d, all, bits)
		other.AddValues(d, rollup.Values{Values: all.Values[1:]}, bits)
		for _, share := range []int{0, 1, 7, 300} {
			of := rollup.Values{Requests: 5, Texts: map[rollup.Hash]string{}}
			for _, i := range r.Perm(300)[:share] {
				n := 1 + r.Int64N(9)
				of.Values = append(of.Values, rollup.Value{Hash: hashOf(i).Short(), Flagged: query.Flagged{Requests: n, Blocked: n / 2}})
				if i == 3 || i == 4 {
					of.Texts[hashOf(i).Short()] = fmt.Sprint(i)
				}
			}
			var lists rollup.Lists
			if err := lists.AddPlaces(d, of, &whole); err != nil {
				t.Fatal(err)
			}
			sections, wholes, others := sectionsOf(t, &lists), sectionsOf(t, &whole), sectionsOf(t, &other)
			head, err := rollup.DecodeValuesHead(sections[rollup.ValuesName(d)])
			if err != nil || head.Requests != 5 || head.Distinct != int64(share) || head.PartBits != bits || len(head.Texts) > 1 || share == 300 && head.Texts[hashOf(4).Short()] != "4" {
				t.Errorf("%+v, %v", head, err)
			}
			var got []rollup.Value
			for part := range 1 << bits {
				name := rollup.ValuesPartName(d, part)
				p := rollup.ValuesPart{Values: wholes[name], Places: sections[rollup.PlacesName(d, part)]}
				if err := p.Each(func(v *rollup.Value) { got = append(got, *v) }); err != nil {
					t.Error(err)
				}
				p.Places = p.Places[:len(p.Places)-1]
				if err := p.Each(func(*rollup.Value) {}); share == 300 && !errors.Is(err, rollup.ErrInvalid) {
					t.Errorf("a part that is cut: %v", err)
				}
				p = rollup.ValuesPart{Values: others[name], Places: sections[rollup.PlacesName(d, part)]}
				if err := p.Each(func(*rollup.Value) {}); bits == 0 && !errors.Is(err, rollup.ErrInvalid) {
					t.Errorf("the values of another day: %v", err)
				}
			}
			if diff := cmp.Diff(of.Values, got); diff != "" { // AddPlaces has sorted them
				t.Errorf("-written +read:\n%s", diff)
			}
			if share == 300 {
				if err := lists.AddPlaces(d, of, &other); !errors.Is(err, rollup.ErrInvalid) {
					t.Errorf("a value that the day lacks: %v", err)
				}
			}
		}
	}
}

// TestKeys: keys are found as they were written, and no others.
func TestKeys(t *testing.T) {
	for _, timed := range []bool{false, true} {
		t.Run(fmt.Sprintf("timed: %t", timed), func(t *testing.T) { testKeys(t, timed) })
	}
}

func testKeys(t *testing.T, timed bool) {
	t.Helper()
	asn, text := "AS1", ""
	full := rollup.Key{
		Hash: hashOf(1), Text: "/a", Requests: []rollup.FlagCount{{Flags: 3, Count: 5}, {Flags: 31, Count: 1 << 40}},
		BytesSent: rollup.Sum{High: 1, Low: math.MaxUint64}, RequestLength: rollup.Sum{Low: 3},
		Origin: rollup.Times{Sum: rollup.Sum{Low: 9}, Count: 2, Min: -1, Max: 10}, First: [3]*string{&asn, &asn, &text},
	}
	keys := rollup.Keys{
		All: true, Timed: timed,
		Slowest: [3]rollup.Slowest{
			{Keys: []rollup.SlowKey{{Hash: hashOf(1), Average: 7}, {Hash: hashOf(0), Average: 2}}, Others: 1.5}, {Others: math.Inf(-1)}, {Others: math.Inf(-1)},
		},
		Known: []rollup.Key{full, {Hash: hashOf(2), Requests: []rollup.FlagCount{}}},
	}
	const many = 1000
	for i := range many {
		keys.Members = append(keys.Members, rollup.Member{Hash: hashOf(i), Bounds: boundsOf(i)})
		if i%2 == 0 {
			keys.Tallies = append(keys.Tallies, rollup.Tally{First: hashOf(i).First, Requests: uint32(i), Blocked: math.MaxUint32})
		}
	}
	nameless := func(i int) rollup.Key {
		key := full
		key.Hash, key.Text, key.Nameless, key.Origin.Count = rollup.Hash{First: hashOf(i).First}, "", true, 1+int64(i)
		key.Svc = rollup.Times{Sum: rollup.Sum{Low: uint64(i)}, Count: 1, Min: int64(i), Max: int64(i)}
		key.Total = rollup.Times{Sum: rollup.Sum{High: -1, Low: math.MaxUint64}, Count: 1, Min: -1, Max: -1}
		if i%2 == 0 {
			key.Requests, key.First = []rollup.FlagCount{{Flags: 1, Count: 1}}, [3]*string{nil, &text, nil}
		}
		if key.Origin.Count == 1 {
			key.Origin.Min, key.Origin.Max = 9, 9
		}
		return key
	}
	for i := range many {
		key := rollup.Key{}
		if i%3 != 0 {
			key = nameless(i)
		}
		key.Hash = hashOf(i)
		keys.Rest = append(keys.Rest, key)
	}
	slices.SortFunc(keys.Rest, func(a, b rollup.Key) int { return order.Compare(a.Hash.First, b.Hash.First) })
	var lists rollup.Lists
	lists.AddKeys("url", keys)
	sections := sectionsOf(t, &lists)
	tallies, err := rollup.DecodeTallies(sections[rollup.TalliesName("url")])
	if err != nil || !tallies.All() || tallies.Len() != many/2 {
		t.Fatalf("%d tallies, all: %t: %v", tallies.Len(), tallies.All(), err)
	}
	known, err := rollup.DecodeKnown(sections[rollup.KnownName("url")])
	if err != nil {
		t.Fatal(err)
	}
	members, err := rollup.DecodeMembers(sections[rollup.MembersName("url")])
	if err != nil {
		t.Fatal(err)
	}
	rest, err := rollup.DecodeRest(sections[rollup.RestName("url")])
	if err != nil {
		t.Fatal(err)
	}
	hashes := members.Hashes(&rest)
	if (len(hashes) == many) != timed || !slices.IsSorted(hashes) {
		t.Errorf("%d hashes", len(hashes))
	}
	for i := range 2 * many {
		hash := hashOf(i)
		place, bounds, has := members.Find(hash.First)
		if has != (i < many) {
			t.Errorf("key %d is a member: %t", i, has)
		} else if has && timed && bounds != boundsOf(i) {
			t.Errorf("bounds of key %d: %v", i, bounds)
		}
		if key, found := rest.At(place, hash.First); found != (has && i%3 != 0) {
			t.Errorf("the figures of key %d are in the rest: %t", i, found)
		} else if want := nameless(i); found && !cmp.Equal(want, key) {
			t.Error(cmp.Diff(want, key))
		}
		if i < many && timed && !slices.Contains(hashes, hash.First) {
			t.Errorf("key %d has not its hash", i)
		}
		tally, found := tallies.Find(hash.First)
		want := rollup.Tally{}
		if i < many && i%2 == 0 {
			want = rollup.Tally{First: hash.First, Requests: uint32(i), Blocked: math.MaxUint32}
		}
		if tally != want || found != (want != rollup.Tally{}) {
			t.Errorf("tally of key %d: %v, %t", i, tally, found)
		}
		key, found, err := known.Find(hash.First)
		at := slices.IndexFunc(keys.Known, func(k rollup.Key) bool { return k.Hash == hash })
		if found != (at >= 0) || err != nil {
			t.Errorf("key %d is known: %t: %v", i, found, err)
		}
		if found && !cmp.Equal(key, keys.Known[at]) {
			t.Error(cmp.Diff(keys.Known[at], key))
		}
	}
	slowest, err := rollup.DecodeSlowest(sections[rollup.SlowestName("url")])
	want := keys.Slowest
	want[1].Keys, want[2].Keys = []rollup.SlowKey{}, []rollup.SlowKey{}
	if diff := cmp.Diff(want, slowest); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}

	lists = rollup.Lists{}
	lists.AddKeys("url", rollup.Keys{})
	sections = sectionsOf(t, &lists)
	if members, err = rollup.DecodeMembers(sections[rollup.MembersName("url")]); err != nil {
		t.Error(err)
	} else if _, _, has := members.Find(1); has {
		t.Error("a column without keys has a member")
	}
	if known, err = rollup.DecodeKnown(sections[rollup.KnownName("url")]); err != nil {
		t.Error(err)
	} else if _, found, _ := known.Find(1); found {
		t.Error("a column without keys has one")
	}
}

func boundsOf(i int) rollup.Bounds {
	return rollup.Bounds{
		Averages: [3]rollup.Bound{1, 0, rollup.Bound(i)}, Counts: [3]rollup.CountBound{2, 31, rollup.CountBound(i % 32)},
	}
}

// TestOlderMembers: members that earlier versions of the program wrote have no bounds of numbers.
func TestOlderMembers(t *testing.T) {
	content := []byte{5, 0, 1, 0, 0, 0, 1, 2, 3, 4, 5, 10, 0, 20}
	members, err := rollup.DecodeMembers(content)
	if err != nil {
		t.Fatal(err)
	}
	_, bounds, has := members.Find(0x0102030405060708)
	if want := (rollup.Bounds{Averages: [3]rollup.Bound{10, 0, 20}}); bounds != want || !has {
		t.Errorf("%v, %t, want %v", bounds, has, want)
	}
}

// TestUnions: unions tell how many texts any branches have together.
func TestUnions(t *testing.T) {
	all := []rollup.Union{
		{
			Start: 3600, Seconds: 3600, Sessions: []rollup.InBranches{},
			IPs: []rollup.InBranches{{Branches: 1, Texts: 5}, {Branches: 3, Texts: 2}, {Branches: 4, Texts: 1 << 40}},
		},
		{Seconds: 86400, IPs: []rollup.InBranches{}, Sessions: []rollup.InBranches{{Branches: 1 << 19, Texts: 1}}},
	}
	var lists rollup.Lists
	lists.AddUnions(all)
	got, err := rollup.DecodeUnions(sectionsOf(t, &lists)[rollup.UnionsName])
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	by := rollup.Division{Subsets: []rollup.Subset{
		{Field: "branch", Value: "a"}, {Field: "branch", Value: "b"}, {Field: "branch", Value: "c"},
	}}
	bits := by.Bits([]rollup.Subset{by.Subsets[1], by.Subsets[2], {Field: "branch", Value: "d"}})
	if ips, sessions := got[0].In(bits); bits != 6 || ips != 1<<40+2 || sessions != 0 {
		t.Errorf("of the bits %b: %d addresses, %d sessions", bits, ips, sessions)
	}
}

// FuzzSections: sections of any bytes are read or refused.
func FuzzSections(f *testing.F) {
	var lists rollup.Lists
	d := querytest.Dimensions("country")[0]
	lists.AddValues(d, rollup.Values{
		Values: []rollup.Value{{Hash: hashOf(1), Flagged: query.Flagged{Requests: 3, Blocked: 1}}, {Hash: hashOf(2)}},
		Texts:  map[rollup.Hash]string{hashOf(1): "a"},
	}, 0)
	lists.AddKeys("url", rollup.Keys{
		Tallies: []rollup.Tally{{First: 1}}, Known: []rollup.Key{{Hash: hashOf(1)}}, Members: []rollup.Member{{Hash: hashOf(1)}},
		Rest: []rollup.Key{{Hash: hashOf(1), Requests: []rollup.FlagCount{{Flags: 1, Count: 1}}}},
	})
	lists.AddUnions([]rollup.Union{{Start: 1, IPs: []rollup.InBranches{{Branches: 1, Texts: 1}}}})
	values := sectionsOf(f, &lists)[rollup.ValuesPartName(d, 0)]
	someRest, err := rollup.DecodeRest(sectionsOf(f, &lists)[rollup.RestName("url")])
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{1, 0}, uint64(1)) // a place
	for _, s := range lists.Sections {
		f.Add(lists.Bytes[s.Offset:s.Offset+s.Length], hashOf(1).First)
	}
	f.Fuzz(func(t *testing.T, content []byte, hash uint64) {
		invalid := func(err error) {
			if err != nil && !errors.Is(err, rollup.ErrInvalid) {
				t.Errorf("%v, want ErrInvalid", err)
			}
		}
		_, err := rollup.DecodeValuesHead(content)
		invalid(err)
		invalid(rollup.EachValue(content, func(*rollup.Value) {}))
		places := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(values, crc32.MakeTable(crc32.Castagnoli)))
		invalid(rollup.ValuesPart{Values: values, Places: append(places, content...)}.Each(func(*rollup.Value) {}))
		if tallies, err := rollup.DecodeTallies(content); err == nil {
			tallies.Find(hash)
		} else {
			invalid(err)
		}
		if known, err := rollup.DecodeKnown(content); err == nil {
			_, _, err := known.Find(hash)
			invalid(err)
		} else {
			invalid(err)
		}
		if members, err := rollup.DecodeMembers(content); err == nil {
			place, _, _ := members.Find(hash)
			rest, err := rollup.DecodeRest(content)
			invalid(err)
			for _, of := range []rollup.Rest{rest, someRest} {
				of.At(place, hash)
				members.Hashes(&of)
			}
		} else {
			invalid(err)
		}
		_, err = rollup.DecodeSlowest(content)
		invalid(err)
		_, err = rollup.DecodeUnions(content)
		invalid(err)
	})
}

func TestBound(t *testing.T) {
	for _, average := range []float64{-5, 0, 0.1, 1, 1.5, 1000, 30e6, 1e12, 1e20, math.MaxFloat64} {
		b := rollup.BoundOf(average)
		least, most := b.Least(), b.Most()
		isNear := most <= 1.13*average && least >= average/1.13
		if least > average || most < average || average >= 2 && average < 1e12 && !isNear {
			t.Errorf("%g has the bounds %g and %g", average, least, most)
		}
	}
	if most := rollup.Bound(0).Most(); !math.IsInf(most, -1) {
		t.Errorf("no times have the bound %g", most)
	}
}

func TestCountBound(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 1000, 49_151, 49_152, math.MaxInt64} {
		of := rollup.CountBoundOf(n)
		least, most := of.Least(), of.Most()
		if least > float64(n) || most < float64(n) || n < 49_152 && most-least >= float64(n)/2 && most > least {
			t.Errorf("%d has the bounds %g and %g", n, least, most)
		}
	}
	for c := range rollup.CountBound(31) {
		if next := c + 1; c.Most() != next.Least()-1 || rollup.CountBoundOf(int64(c.Least())) != c {
			t.Errorf("%d stands for %g to %g, and %d for %g or more", c, c.Least(), c.Most(), next, next.Least())
		}
	}
}
