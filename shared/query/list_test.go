package query_test

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

func listOf(values ...string) map[string]query.List {
	return map[string]query.List{"l": {Name: "l", Version: 7, Values: query.NewListValues("digest", values)}}
}

// TestLists binds names of lists.
func TestLists(t *testing.T) {
	for name, test := range map[string]struct {
		text      string
		values    []string
		canonical string // after the period; "": the filter has a mistake with the code
		code      string
	}{
		"addresses":                    {`ip in @l`, []string{"192.0.2.1", "2001:DB8::/32"}, `ip in @l:7`, ""},
		"a text among addresses":       {`ip in @l`, []string{"192.0.2.1", "10.0.0.0/33"}, "", "list_kind"},
		"numbers of networks":          {`asn not in @l`, []string{"AS3320", "3320"}, `asn not in @l:7`, ""},
		"a text among those numbers":   {`asn in @l`, []string{"AS03320"}, "", "list_kind"},
		"integers":                     {`status in @l`, []string{"403", "-1"}, `status in @l:7`, ""},
		"a text among integers":        {`status in @l`, []string{"0403"}, "", "list_kind"},
		"texts":                        {`country in @l`, []string{"403", "Germany"}, `country in @l:7`, ""},
		"a list given twice":           {`country in @l, country in @l`, []string{"Germany"}, `country in @l:7`, ""},
		"JSON":                         {`{"AND":[{"field":"country","op":"not in","list":"l"}]}`, []string{"a"}, `country not in @l:7`, ""},
		"another list":                 {`ip in @m`, []string{"192.0.2.1"}, "", "unknown_list"},
		"another version":              {`ip in @l:8`, []string{"192.0.2.1"}, "", "unknown_list"},
		"a field of several values":    {`tags in @l`, []string{"bot"}, "", "list_not_taken"},
		"a field with members":         {`headers["host"] in @l`, []string{"a"}, "", "list_not_taken"},
		"a duration":                   {`request_time in @l`, []string{"1"}, "", "list_not_taken"},
		"a boolean":                    {`blocked in @l`, []string{"true"}, "", "operator_not_available"},
		"a time":                       {`timestamp in @l`, []string{"2026-01-01"}, "", "operator_not_available"},
		"a reference":                  {`record_ref in @l`, []string{"x"}, "", "list_not_taken"},
		"the name of a list in quotes": {`country in ("@l")`, nil, `country in ("@l")`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := query.BindSelection(filter.Parse(test.text), query.WithLists(listOf(test.values...)))
			if test.code == "" {
				if got := filter.Format(s.Filter); err != nil || got != test.canonical {
					t.Errorf("%s, %v, want %s", got, err, test.canonical)
				}
				return
			}
			var wrong *query.FilterError
			if !errors.As(err, &wrong) || wrong.Errors[0].Code != test.code {
				t.Fatalf("%v, want %s", err, test.code)
			}
			at := wrong.Errors[0].Span
			if text := test.text[at.Offset:at.End()]; test.code != "operator_not_available" && !strings.HasPrefix(text, "@") {
				t.Errorf("the mistake is at %q", text)
			}
		})
	}
}

// TestListNamesAreKept: without lists, the name stays as it was written.
func TestListNamesAreKept(t *testing.T) {
	f, err := query.BindConditions(filter.Parse(`ip in @staging/tor, country not in @ours:3`))
	if got := filter.Format(f); err != nil || got != `ip in @staging/tor, country not in @ours:3` {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzListAddresses compares lists of addresses with package netip, on any values and texts of records.
func FuzzListAddresses(f *testing.F) {
	r := rand.New(rand.NewPCG(31, 5))
	for range 50 {
		n := querytest.Network(r)
		f.Add(n.String()+"\n"+querytest.Network(r).Addr().StringExpanded(), querytest.AddressText(r, n))
	}
	f.Add("::ffff:192.0.2.7\n192.0.2.0/24\n0.0.0.0/0", "::ffff:192.0.2.7")
	f.Add("fe80::1%eth0", "fe80::1%eth0")
	f.Fuzz(func(t *testing.T, list, text string) {
		var networks []netip.Prefix
		valid := true
		values := strings.Split(list, "\n")
		for _, v := range values {
			p, err := netip.ParsePrefix(v)
			if address, failed := netip.ParseAddr(v); err != nil && failed == nil {
				p, err = address.Prefix(address.BitLen())
				if address.Zone() != "" {
					valid = false
				}
			}
			valid = valid && err == nil
			networks = append(networks, p.Masked())
		}
		q, err := query.BindSelection(filter.Parse("ip in @l"), query.WithLists(listOf(values...)))
		if (err == nil) != valid {
			t.Fatalf("%q: %v, want valid %t", values, err, valid)
		}
		if valid && q.Holds(&lake.Row{IP: &text}) != querytest.Inside(networks, text) {
			t.Errorf("%q in %v: %t", text, networks, q.Holds(&lake.Row{IP: &text}))
		}
	})
}
