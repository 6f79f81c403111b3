package valuelist

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/table/tabletest"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       query.ListKind
		values     []string
	}{
		{"addresses get their usual texts", "2001:DB8::1\n192.0.2.7/24\n 192.0.2.1 \r\n", query.AddressList, []string{"192.0.2.0/24", "192.0.2.1", "2001:db8::1"}},
		{"comments, empty lines and repeated values do not count", "\ufeff# exits\n\nb\na\nb", query.TextList, []string{"a", "b"}},
		{"numbers", "403\n429\n", query.IntegerList, []string{"403", "429"}},
		{"autonomous systems", "as3320\n15169\n", query.SystemList, []string{"AS15169", "AS3320"}},
		{"an address among texts stays as it is", "192.0.2.1\nshop.example\n", query.TextList, []string{"192.0.2.1", "shop.example"}},
	} {
		d, content, err := Parse([]byte(c.body))
		if err != nil || d.Kind != c.kind || d.Values != len(c.values) {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
		if diff := cmp.Diff(c.values, Values(content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		again, _, err := Parse(content)
		if err != nil || again != d {
			t.Errorf("%s: its content is %+v, %v, want %+v", c.name, again, err, d)
		}
	}
}

func TestParseReportsLines(t *testing.T) {
	_, _, err := Parse([]byte("a\n" + strings.Repeat("x", MaxValue+1) + "\nb\tc\n\xff\n"))
	var mistakes Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != 3 || mistakes[0].Line != 2 || mistakes[1].Line != 3 || mistakes[2].Line != 4 {
		t.Errorf("mistakes are %v", err)
	}
	for _, empty := range []string{"", "\n# none\n"} {
		if _, _, err := Parse([]byte(empty)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", empty, err)
		}
	}
	if _, _, err := Parse(bytes.Repeat([]byte("a\n"), MaxValues+1)); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("too many values: %v", err)
	}
}

// objects are the values of lists in memory. They count how often they are read.
type objects struct {
	content map[string][]byte
	reads   int
}

func (o *objects) Put(_ context.Context, digest string, content []byte) error {
	o.content[digest] = content
	return nil
}

func (o *objects) Get(_ context.Context, digest string) ([]byte, error) {
	o.reads++
	return o.content[digest], nil
}

func TestFinder(t *testing.T) {
	stored, values := document.Over(&tabletest.Memory{}), &objects{content: map[string][]byte{}}
	write := func(config, name, body string) Description {
		t.Helper()
		d, content, err := Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := values.Put(t.Context(), d.Digest, content); err != nil {
			t.Fatal(err)
		}
		if _, err := document.Put(t.Context(), stored, DocumentOf(config, name), document.Change{Text: d.Text()}); err != nil {
			t.Fatal(err)
		}
		return d
	}
	write("prod", "tor", "192.0.2.1\n")
	newest := write("prod", "tor", "192.0.2.2\n192.0.2.3\n")
	write("staging", "tor", "192.0.2.4\n")
	f := NewFinder(stored, values)
	for _, c := range []struct {
		name, canonical, first string
		branches               []string
		reads                  int // so far
	}{
		{"tor", "tor:2", "192.0.2.2", nil, 1},
		{"prod/tor:2", "tor:2", "192.0.2.2", []string{"prod"}, 1},
		{"tor:1", "tor:1", "192.0.2.1", nil, 2},
		{"staging/tor", "staging/tor:1", "192.0.2.4", []string{"staging"}, 3},
	} {
		got, err := f.Find(t.Context(), c.name, c.branches)
		if err != nil || got.String() != c.canonical || got.Values.Values[0] != c.first || values.reads != c.reads {
			t.Errorf("%s: %v with %v, %d reads, %v", c.name, got, got.Values, values.reads, err)
		}
	}
	for name, branches := range map[string][]string{"tor:3": nil, "none": nil, "staging/tor": {"prod"}, "tor": {"staging"}} {
		if _, err := f.Find(t.Context(), name, branches); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s with the branches %q: %v", name, branches, err)
		}
	}
	values.content[newest.Digest] = []byte("192.0.2.9\n")
	if _, err := NewFinder(stored, values).Find(t.Context(), "tor", nil); err == nil {
		t.Error("damaged values are taken")
	}
}
