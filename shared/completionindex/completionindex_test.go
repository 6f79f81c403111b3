package completionindex_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/completionindex"
)

// field returns the index of a field.
func field(t *testing.T, name string) int {
	t.Helper()
	for i, d := range completionindex.Dimensions() {
		if d.String() == name {
			return i
		}
	}
	t.Fatalf("%s has no lists", name)
	return 0
}

func decoded(t *testing.T, tally *completionindex.Tally) *completionindex.Lists {
	t.Helper()
	encoded, err := tally.Encode(1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > completionindex.MaxBytes {
		t.Errorf("the lists have %d bytes", len(encoded))
	}
	lists, err := completionindex.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// seen returns the values of a field that a caller sees. With branches, the caller sees only the values of these
// branches.
func seen(l *completionindex.Lists, field string, branches ...string) (values []string, all bool) {
	sees := func(branch *string) bool {
		return branches == nil || branch != nil && slices.Contains(branches, *branch)
	}
	all = l.Each(field, sees, func(value string) { values = append(values, value) })
	return values, all
}

func TestDimensions(t *testing.T) {
	var names []string
	sensitive := map[string]bool{}
	listed := map[string]bool{}
	for _, d := range completionindex.Dimensions() {
		names = append(names, d.String())
		listed[d.Field.Name] = true
	}
	for _, f := range catalog.Describe() {
		sensitive[f.Name] = f.Sensitive
		if f.Values == catalog.Few && f.Groupable && !listed[f.Name] {
			t.Errorf("%s has few values, but no lists", f.Name)
		}
	}
	for name := range listed {
		if sensitive[name] {
			t.Errorf("%s may identify a person, but has lists", name)
		}
	}
	for _, name := range []string{
		"country", "host", "method", "status", "path", `security_config["acl_active"]`, `trigger_counters["rl"]`,
		`profiling["acl"]`, "upstream_status",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s has no lists; these have: %s", name, strings.Join(names, ", "))
		}
	}
	if len(names) > 64 {
		t.Errorf("%d fields have lists", len(names))
	}
}

func TestTally(t *testing.T) {
	country, host := field(t, "country"), field(t, "host")
	t.Run("the commonest values come first, then the smallest", func(t *testing.T) {
		var tally completionindex.Tally
		b := tally.Branch([]byte("prod"))
		b.AddRecords(7)
		for value, n := range map[string]int64{"b": 1, "a": 1, "often": 5} {
			b.Add(country, []byte(value), n)
		}
		values, all := seen(decoded(t, &tally), "country")
		if diff := cmp.Diff([]string{"often", "a", "b"}, values); diff != "" || !all {
			t.Errorf("all %t: %s", all, diff)
		}
	})
	t.Run("a caller sees the values of its branches only", func(t *testing.T) {
		var tally completionindex.Tally
		tally.Branch([]byte("one")).Add(host, []byte("1.example"), 1)
		tally.Branch([]byte("two")).Add(host, []byte("2.example"), 1)
		tally.NoBranch().Add(host, []byte("none.example"), 1)
		lists := decoded(t, &tally)
		for _, c := range []struct {
			branches []string
			want     []string
		}{
			{nil, []string{"1.example", "2.example", "none.example"}},
			{[]string{"one"}, []string{"1.example"}},
			{[]string{"one", "two"}, []string{"1.example", "2.example"}},
			{[]string{"", "One"}, nil},
		} {
			values, all := seen(lists, "host", c.branches...)
			slices.Sort(values)
			if diff := cmp.Diff(c.want, values); diff != "" || !all {
				t.Errorf("%q, all %t: %s", c.branches, all, diff)
			}
		}
	})
	t.Run("values beyond the limit are left out, and the list is not complete", func(t *testing.T) {
		for _, n := range []int{completionindex.MaxValues, completionindex.MaxValues + 1} {
			var tally completionindex.Tally
			for i := range n {
				tally.NoBranch().Add(country, fmt.Append(nil, i), int64(n-i))
			}
			tally.NoBranch().Add(host, []byte("h"), 1)
			lists := decoded(t, &tally)
			values, all := seen(lists, "country")
			if len(values) != completionindex.MaxValues || all != (n == completionindex.MaxValues) || values[0] != "0" {
				t.Errorf("%d values of %d, all %t", len(values), n, all)
			}
			if _, all := seen(lists, "host"); !all {
				t.Error("another field is not complete")
			}
		}
	})
	t.Run("long values are left out", func(t *testing.T) {
		for _, n := range []int{completionindex.MaxLength, completionindex.MaxLength + 1} {
			var tally completionindex.Tally
			tally.NoBranch().Add(country, bytes.Repeat([]byte("x"), n), 1)
			values, all := seen(decoded(t, &tally), "country")
			if fits := n == completionindex.MaxLength; (len(values) == 1) != fits || all != fits {
				t.Errorf("%d bytes: %d values, all %t", n, len(values), all)
			}
		}
	})
	t.Run("the commonest of very many values are found", func(t *testing.T) {
		var tally completionindex.Tally
		b := tally.NoBranch()
		for i := range 50_000 {
			b.Add(country, fmt.Appendf(nil, "rare %d", i), 1)
			if i%100 == 0 {
				b.Add(country, fmt.Appendf(nil, "common %d", i/100%50), 50)
			}
		}
		values, all := seen(decoded(t, &tally), "country")
		common := 0
		for _, value := range values {
			if strings.HasPrefix(value, "common") {
				common++
			}
		}
		if common != 50 || all {
			t.Errorf("%d common values of %d, all %t", common, len(values), all)
		}
	})
	t.Run("the branches with the most records stay", func(t *testing.T) {
		var tally completionindex.Tally
		counted := 0
		for i := range 1000 {
			if b := tally.Branch(fmt.Appendf(nil, "branch %d", i)); b != nil {
				b.Add(country, []byte("X"), 1)
				counted++
			}
		}
		if b := tally.Branch(bytes.Repeat([]byte("x"), completionindex.MaxLength+1)); b != nil {
			t.Error("a branch with a long name is counted")
		}
		lists := decoded(t, &tally)
		if _, all := seen(lists, "country"); all || counted < 100 || counted == 1000 {
			t.Errorf("%d branches are counted, all %t", counted, all)
		}
	})
	t.Run("lists that would be too large have fewer values, then fewer branches", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		noise := func() []byte {
			text := make([]byte, 60)
			for i := range text {
				text[i] = byte('a' + random.IntN(26))
			}
			return text
		}
		var tally completionindex.Tally
		for n := range 40 {
			b := tally.Branch(fmt.Appendf(nil, "branch %d", n))
			b.AddRecords(100 - n)
			for i := range completionindex.Dimensions() {
				for j := range 30 {
					b.Add(i, noise(), int64(100-j))
				}
			}
		}
		lists := decoded(t, &tally)
		if n := len(lists.Branches); n == 0 || n == 40 || !lists.Cut || *lists.Branches[0].Name != "branch 0" {
			t.Errorf("%d branches, cut %t", n, lists.Cut)
		}
		if values, all := seen(lists, "country", "branch 0"); len(values) == 0 || all {
			t.Errorf("%d values, all %t", len(values), all)
		}
	})
	t.Run("equal records have equal bytes", func(t *testing.T) {
		var want []byte
		for seed := range uint64(5) {
			random := rand.New(rand.NewPCG(seed, 1))
			var tally completionindex.Tally
			for _, i := range random.Perm(600) {
				b := tally.NoBranch()
				if i%3 > 0 {
					b = tally.Branch(fmt.Appendf(nil, "b%d", i%3))
				}
				b.AddRecords(1)
				b.Add(i%7, fmt.Append(nil, i%50), 1)
			}
			got, err := tally.Encode(5)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(want, got) {
				t.Errorf("seed %d: other bytes", seed)
			}
		}
	})
	t.Run("an object without records has complete lists", func(t *testing.T) {
		var tally completionindex.Tally
		lists := decoded(t, &tally)
		if values, all := seen(lists, "country"); len(values) > 0 || !all || lists.Bytes != 1000 {
			t.Errorf("%v, all %t, %d bytes", values, all, lists.Bytes)
		}
		if _, all := seen(lists, "ip"); all {
			t.Error("a field without lists is complete")
		}
	})
}

func TestDecode(t *testing.T) {
	encoded := func(text string) []byte {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return z.EncodeAll([]byte(text), nil)
	}
	for name, text := range map[string][]byte{
		"no zstd":             []byte(`{"version":1}`),
		"no JSON":             encoded("{"),
		"too long":            bytes.Repeat([]byte("x"), completionindex.MaxBytes+1),
		"far larger decoded":  encoded(`{"version":1,"fields":["` + strings.Repeat("x", 20<<20) + `"]}`),
		"of another type":     encoded(`{"version":1,"fields":3}`),
		"nothing, compressed": encoded(""),
	} {
		t.Run("refuses what is "+name, func(t *testing.T) {
			if lists, err := completionindex.Decode(text); err == nil || errors.Is(err, completionindex.ErrVersion) {
				t.Errorf("%+v, %v", lists, err)
			}
		})
	}
	t.Run("another version has an error of its own", func(t *testing.T) {
		if _, err := completionindex.Decode(encoded(`{"version":2}`)); !errors.Is(err, completionindex.ErrVersion) {
			t.Error(err)
		}
	})
	t.Run("texts are kept as they are", func(t *testing.T) {
		var tally completionindex.Tally
		want := []string{"\"<&>\\\u2028\x00\n", "", "é😀"}
		for i, value := range want {
			tally.NoBranch().Add(field(t, "path"), []byte(value), int64(9-i))
		}
		if values, _ := seen(decoded(t, &tally), "path"); !slices.Equal(values, want) {
			t.Errorf("%q", values)
		}
	})
}

func TestName(t *testing.T) {
	const object, want = "fresh/2026/01/01/10/a-0.parquet", "_values/fresh/2026/01/01/10/a-0.json.zst"
	if got := completionindex.Name(object); got != want || !strings.HasPrefix(got, completionindex.Folder) {
		t.Error(got)
	}
}

// FuzzDecode checks that no bytes make Decode or Each panic.
func FuzzDecode(f *testing.F) {
	var tally completionindex.Tally
	tally.Branch([]byte("b")).Add(0, []byte("x"), 1)
	encoded, err := tally.Encode(1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Fuzz(func(t *testing.T, text []byte) {
		lists, err := completionindex.Decode(text)
		if err != nil {
			return
		}
		lists.Each("country", func(*string) bool { return true }, func(string) {})
		if _, err := json.Marshal(lists); err != nil {
			t.Error(err)
		}
	})
}
