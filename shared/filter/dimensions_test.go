package filter_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
)

func TestParseDimensions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"fields are separated by commas", ` country , status,tags `, `country status tags`},
		{"a key is quoted", `headers["User-Agent"],cookies[ "a\"],b\\" ]`, `headers["User-Agent"] cookies["a\"],b\\"]`},
		{"a pattern is a key", `headers[~"^x-"]`, `headers[~"^x-"]`},
		{"a pattern that only one name matches is that name", `headers[~"^x$"]`, `headers["x"]`},
		{"networks have a length", `ip/24, ip/x`, `ip/24 ip/x`},
		{"the empty name is a name", `arguments[""]`, `arguments[""]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := filter.ParseDimensions(c.text)
			if err != nil {
				t.Fatal(err)
			}
			printed := make([]string, len(list))
			for i, d := range list {
				printed[i] = d.String()
			}
			if got := strings.Join(printed, " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			again, err := filter.ParseDimensions(strings.Join(printed, ","))
			if err != nil || len(again) != len(list) {
				t.Errorf("the printed form does not parse: %v", err)
			}
		})
	}
}

func TestParseDimensionsMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "column 1: expected the name of a field"},
		{"a comma at the end", "country,", "column 9: expected the name of a field, as in status or " +
			`headers["accept"]; found the end of the list`},
		{"two commas", "country,,ip", "column 9: expected the name of a field"},
		{"a condition", "status=404", "column 7: a comma separates fields"},
		{"a space", "country ip", "column 9: a comma separates fields"},
		{"a member after a dot", "headers.accept", `column 1: a member is named in brackets: headers["accept"]`},
		{"a key without quotes", "headers[accept]", "column 9: "},
		{"no length", "country,ip/", "column 9: expected the length of a prefix after the slash, as in ip/24"},
		{"two lengths", "ip/24/16", "column 1: expected the length of a prefix"},
		{"a length without a field", "/24", "column 1: expected the name of a field"},
		{"a key of a network", `ip/24["a"]`, "column 6: a comma separates fields"},
		{"an open bracket", `headers["a`, "column 8: "},
		{"an operator in a name", "a-b;c", "column 4: a comma separates fields"},
		{"NUL in a key", "headers[\"a\x00\"]", "column "},
		{"invalid UTF-8", "headers[\"\xff\"]", "column "},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := filter.ParseDimensions(c.text)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v and error %v, want %q", list, err, c.want)
			}
		})
	}
}

// FuzzParseDimensions checks that dimensions survive printing and parsing.
func FuzzParseDimensions(f *testing.F) {
	for _, text := range []string{
		`country,headers["a"]`, `a["\\"],b[~"x"]`, "ip/24", "ip/", `a[""]`, `headers.accept`, `[`, ",", "a[\"\x00\"]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := filter.ParseDimensions(text)
		if err != nil {
			return
		}
		for _, d := range list {
			again, err := filter.ParseDimensions(d.String())
			if err != nil || len(again) != 1 || again[0].String() != d.String() {
				t.Fatalf("%q is printed as %s, which is parsed as %v: %v", text, d, again, err)
			}
		}
	})
}
