package athena

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(s string) *string { return &s }

func TestTable(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for name, test := range map[string]struct {
		object string
		want   [][]*string
	}{
		"an empty object": {"", nil},
		"values": {
			"\"a\",\"b\"\n\"1\",\"2\"\n",
			[][]*string{{text("a"), text("b")}, {text("1"), text("2")}},
		},
		"NULL and the empty string": {"\"a\",,\"\"\n,\n", [][]*string{{text("a"), nil, text("")}, {nil, nil}}},
		"a single NULL column":      {"\n", [][]*string{{nil}}},
		"quotes":                    {"\"a\"\"b\",\"\"\"\"\n", [][]*string{{text(`a"b`), text(`"`)}}},
		"line feeds and commas":     {"\"a\nb\",\"c,\"\n", [][]*string{{text("a\nb"), text("c,")}}},
		"values longer than a buffer": {
			`"` + long + `""y"` + "\n",
			[][]*string{{text(long + `"y`)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := newTable(strings.NewReader(test.object))
			var got [][]*string
			for {
				row, err := in.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, row)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableRefusesOtherFormats(t *testing.T) {
	for object, want := range map[string]error{
		"\"a\"":          io.ErrUnexpectedEOF,
		"\"a":            io.ErrUnexpectedEOF,
		"\"a\",":         io.ErrUnexpectedEOF,
		"a\n":            errTable,
		"\"a\"b\n":       errTable,
		"\"a\" ,\"b\"\n": errTable,
	} {
		if _, err := newTable(strings.NewReader(object)).next(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", object, err, want)
		}
	}
}
