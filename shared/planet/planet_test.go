package planet_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// acceptable is a valid body. Test cases replace parts of it.
const acceptable = `{"name":"p","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`

func TestParseReportsEveryProblem(t *testing.T) {
	tests := map[string]struct {
		body string
		want []planet.Problem
	}{
		"an empty object": {`{}`, []planet.Problem{
			{[]any{"body", "name"}, "field required", "value_error.missing"},
			{[]any{"body", "trusted_nets"}, "field required", "value_error.missing"},
			{[]any{"body", "ichallenge"}, "field required", "value_error.missing"},
		}},
		"a challenge lacks its members": {
			change(`{"attrs":{},"lang":{},"palette":[],"position":{}}`, `{}`),
			[]planet.Problem{
				{[]any{"body", "ichallenge", "attrs"}, "field required", "value_error.missing"},
				{[]any{"body", "ichallenge", "lang"}, "field required", "value_error.missing"},
				{[]any{"body", "ichallenge", "position"}, "field required", "value_error.missing"},
				{[]any{"body", "ichallenge", "palette"}, "field required", "value_error.missing"},
			},
		},
		"types are wrong": {`{"name":null,"trusted_nets":{},"ichallenge":[]}`, []planet.Problem{
			{[]any{"body", "name"}, "must be a string", "type_error.string"},
			{[]any{"body", "trusted_nets"}, "must be a list", "type_error.list"},
			{[]any{"body", "ichallenge"}, "must be an object", "type_error.object"},
		}},
		"types inside are wrong": {
			`{"name":"p","trusted_nets":[1,{"address":5,"comment":null}],` +
				`"ichallenge":{"attrs":[],"lang":1,"palette":["a",2],"position":null}}`,
			[]planet.Problem{
				{[]any{"body", "trusted_nets", 0}, "must be an object", "type_error.object"},
				{[]any{"body", "trusted_nets", 1, "address"}, "must be a string", "type_error.string"},
				{[]any{"body", "trusted_nets", 1, "comment"}, "must be a string", "type_error.string"},
				{[]any{"body", "ichallenge", "attrs"}, "must be an object", "type_error.object"},
				{[]any{"body", "ichallenge", "lang"}, "must be an object", "type_error.object"},
				{[]any{"body", "ichallenge", "position"}, "must be an object", "type_error.object"},
				{[]any{"body", "ichallenge", "palette", 1}, "must be a string", "type_error.string"},
			},
		},
		"the name is blank": {change(`"p"`, `" "`), []planet.Problem{
			{[]any{"body", "name"}, "must not be empty", "value_error.empty"},
		}},
		"the id is of another entry": {change(`{"name"`, `{"id":"other","name"`), []planet.Problem{
			{[]any{"body", "id"}, `the body is of entry "other", the path of entry "__default__"`, "value_error.id"},
		}},
		"the id is not a string": {change(`{"name"`, `{"id":1,"name"`), []planet.Problem{
			{[]any{"body", "id"}, "must be a string", "type_error.string"},
		}},
		"a member is repeated": {change(`{"name"`, `{"\u006eame":"q","name"`), []planet.Problem{
			{[]any{"body", "name"}, "this member is given more than once", "value_error.repeated"},
		}},
		"the body is a list": {`[]`, []planet.Problem{{[]any{"body"}, "must be an object", "type_error.object"}}},
		"the body is empty": {
			``,
			notJSON("unexpected end of JSON input at byte 0"),
		},
		"text after the body": {
			acceptable + `x`,
			notJSON("invalid character 'x' after top-level value at byte 94"),
		},
		"the body is not unicode": {
			change(`"p"`, "\"\xff\""),
			notJSON("it is not UTF-8"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, problemsOf(t, test.body)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// notJSON returns the problem of a body that is not JSON.
func notJSON(reason string) []planet.Problem {
	return []planet.Problem{{[]any{"body"}, "the body is not JSON: " + reason, "value_error.jsondecode"}}
}

func TestParseReportsMalformedAndRepeatedNetworks(t *testing.T) {
	tests := map[string]struct {
		addresses []string
		wrong     int    // index of the address that is refused, -1 for none
		kind      string // the reason: "duplicate" or "address"
	}{
		"addresses and networks": {
			[]string{"192.0.2.1", "198.51.100.0/24", "2001:db8::1", "2001:db8:1::/48", "0.0.0.0/0", "::/0"}, -1, "",
		},
		"the address inside a network":     {[]string{"10.0.0.0/8", "10.0.0.0/16", "10.0.0.0"}, -1, ""},
		"same after masking":               {[]string{"10.0.0.1/8", "192.0.2.1", "10.200.0.0/8"}, 2, "duplicate"},
		"an address is its network of one": {[]string{"192.0.2.1", "192.0.2.1/32"}, 1, "duplicate"},
		"another spelling of IPv6":         {[]string{"2001:db8::1", "2001:0DB8:0:0::0001/128"}, 1, "duplicate"},
		"IPv4 written as IPv6":             {[]string{"10.0.0.0/8", "::ffff:10.1.2.3/104"}, 1, "duplicate"},
		"all of IPv6 is not all of IPv4":   {[]string{"0.0.0.0/0", "::ffff:0.0.0.0/0"}, -1, ""},
		"octet too large":                  {[]string{"300.1.1.1"}, 0, "address"},
		"mask too long":                    {[]string{"10.0.0.0/33"}, 0, "address"},
		"leading zero":                     {[]string{"010.0.0.1"}, 0, "address"},
		"netmask notation":                 {[]string{"10.0.0.0/255.0.0.0"}, 0, "address"},
		"zone":                             {[]string{"fe80::1%eth0"}, 0, "address"},
		"white space":                      {[]string{" 10.0.0.1"}, 0, "address"},
		"host name":                        {[]string{"localhost"}, 0, "address"},
		"empty":                            {[]string{""}, 0, "address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			nets := make([]map[string]string, len(test.addresses))
			for i, address := range test.addresses {
				nets[i] = map[string]string{"address": address, "comment": "c"}
			}
			list, err := json.Marshal(nets)
			if err != nil {
				t.Fatal(err)
			}
			got := problemsOf(t, change(`"trusted_nets":[]`, `"trusted_nets":`+string(list)))
			if test.wrong < 0 {
				if len(got) > 0 {
					t.Errorf("refused: %v", got)
				}
				return
			}
			loc := []any{"body", "trusted_nets", test.wrong, "address"}
			if len(got) != 1 || got[0].Type != "value_error."+test.kind || !cmp.Equal(got[0].Loc, loc) {
				t.Errorf("problems %+v, want one of %s at index %d", got, test.kind, test.wrong)
			}
		})
	}
}

func TestParseSourcesOfTrustedNets(t *testing.T) {
	only := func(member, source string) []planet.Problem {
		return []planet.Problem{{
			[]any{"body", "trusted_nets", 0, member},
			`only entries with "source": "` + source + `" have ` + member,
			"value_error.source",
		}}
	}
	problem := func(member, message, kind string) []planet.Problem {
		return []planet.Problem{{[]any{"body", "trusted_nets", 0, member}, message, kind}}
	}
	tests := map[string]struct {
		entry string
		want  []planet.Problem
	}{
		"an address without a source":     {`{"address":"10.0.0.0/8","comment":""}`, nil},
		"an address with the source ip":   {`{"source":"ip","address":"10.0.0.0/8","comment":""}`, nil},
		"an address with an empty filter": {`{"source":"ip","address":"::1","gf_id":"","comment":""}`, nil},
		"a global filter":                 {`{"source":"global_filter","gf_id":"e2b0","comment":"c"}`, nil},
		"a global filter, address empty":  {`{"source":"global_filter","gf_id":"e","address":"","comment":""}`, nil},
		"unknown members are kept":        {`{"source":"global_filter","gf_id":"e","comment":"","since":1.0}`, nil},
		"a global filter needs an id": {
			`{"source":"global_filter","comment":""}`,
			problem("gf_id", "field required", "value_error.missing"),
		},
		"a global filter with a blank id": {
			`{"source":"global_filter","gf_id":" ","comment":""}`,
			problem("gf_id", "must not be empty", "value_error.empty"),
		},
		"a global filter with a number": {
			`{"source":"global_filter","gf_id":7,"comment":""}`,
			problem("gf_id", "must be a string", "type_error.string"),
		},
		"a global filter needs a comment": {
			`{"source":"global_filter","gf_id":"e"}`,
			problem("comment", "field required", "value_error.missing"),
		},
		"a global filter with an address": {
			`{"source":"global_filter","gf_id":"e","address":"10.0.0.1","comment":""}`,
			only("address", "ip"),
		},
		"a global filter with a null": {
			`{"source":"global_filter","gf_id":"e","address":null,"comment":""}`,
			only("address", "ip"),
		},
		"an address with a global filter": {
			`{"source":"ip","address":"10.0.0.1","gf_id":"e","comment":""}`,
			only("gf_id", "global_filter"),
		},
		"a filter without a source": {`{"gf_id":"e","comment":""}`, only("gf_id", "global_filter")},
		"both without a source": {
			`{"address":"10.0.0.1","gf_id":"e","comment":""}`,
			only("gf_id", "global_filter"),
		},
		"the source ip needs an address": {
			`{"source":"ip","comment":""}`,
			problem("address", "field required", "value_error.missing"),
		},
		"the source ip, the address empty": {
			`{"source":"ip","address":"","comment":""}`,
			problem(
				"address",
				`"" is not an IP address or a network such as 192.0.2.0/24 or 2001:db8::/32`,
				"value_error.address",
			),
		},
		"an unknown source": {
			`{"source":"asn","comment":""}`,
			problem("source", `"asn" is not a source; use "ip" or "global_filter"`, "value_error.source"),
		},
		"an empty source": {
			`{"source":"","address":"10.0.0.1","comment":""}`,
			problem("source", `"" is not a source; use "ip" or "global_filter"`, "value_error.source"),
		},
		"a source that is null": {
			`{"source":null,"address":"10.0.0.1","comment":""}`,
			problem("source", "must be a string", "type_error.string"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := change(`"trusted_nets":[]`, `"trusted_nets":[`+test.entry+`]`)
			if diff := cmp.Diff(test.want, problemsOf(t, body)); diff != "" {
				t.Fatalf("problems (-want +got):\n%s", diff)
			}
			if test.want != nil {
				return
			}
			s, err := planet.Parse([]byte(body))
			if err != nil || s.Text() != body {
				t.Errorf("kept as %s, %v; want it unchanged", s.Text(), err)
			}
		})
	}
	t.Run("the same filter may occur twice", func(t *testing.T) {
		entry := `{"source":"global_filter","gf_id":"e","comment":""}`
		if got := problemsOf(t, change(`"trusted_nets":[]`, `"trusted_nets":[`+entry+`,`+entry+`]`)); got != nil {
			t.Errorf("refused: %v", got)
		}
	})
}

func TestParseLimits(t *testing.T) {
	fill := func(size int) []byte {
		return []byte(change(`"p"`, `"`+strings.Repeat("p", size-len(acceptable)+1)+`"`))
	}
	if _, err := planet.Parse(fill(planet.MaxBytes)); err != nil {
		t.Errorf("%d bytes: %v", planet.MaxBytes, err)
	}
	if _, err := planet.Parse(fill(planet.MaxBytes + 1)); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("%d bytes: %v, want kind TooLarge", planet.MaxBytes+1, err)
	}
	many := problemsOf(t, change(`"trusted_nets":[]`, `"trusted_nets":[`+strings.Repeat("1,", 999)+`1]`))
	if len(many) != 20 {
		t.Errorf("%d problems are reported at once, want 20", len(many))
	}
}

func TestParseKeepsMembersVerbatim(t *testing.T) {
	attrs := `{"z": 1.0, "a":1E2, "big":123456789012345678901234567890, "esc":"\u00e9\/",` +
		` "twice":1,"twice":2, "n":null }`
	body := " " + change(`"attrs":{}`, `"attrs":`+attrs) + "\n"
	body = strings.Replace(body, `{"name"`, `{ "newer" : [ 1, null ] , "id":"__default__", "name"`, 1)
	s, err := planet.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got := string(s.JSON())
	for _, part := range []string{`{"id":"__default__","newer":[ 1, null ],"name":"p"`, `"attrs":` + attrs} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in\n%s", part, got)
		}
	}
	if planet.Stored(s.Text()) != s {
		t.Error("a store cannot keep the settings")
	}
}

func TestDefaultIsValid(t *testing.T) {
	if s, err := planet.Parse(planet.Default().JSON()); err != nil || s != planet.Default() {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestValidConfig(t *testing.T) {
	for name, want := range map[string]bool{
		"prod": true, "a": true, "0.b_c-D": true, strings.Repeat("a", 64): true,
		"": false, ".prod": false, "-a": false, "_a": false, "a b": false, "a/b": false, "é": false, "a\n": false,
		strings.Repeat("a", 65): false,
	} {
		if got := planet.ValidConfig(name); got != want {
			t.Errorf("ValidConfig(%q) = %v", name, got)
		}
	}
}

func TestErrorMessages(t *testing.T) {
	_, err := planet.Parse([]byte(`{"name":"","trusted_nets":[],"ichallenge":1}`))
	if got, want := err.Error(), "the planet settings are invalid: must not be empty; must be an object"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := document.NotFound(planet.DocumentOf("prod"), 3); err.Error() != `the planet of configuration "prod" has no version 3` {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bodies/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("the corpus is missing", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := planet.Parse(body); (err == nil) != strings.HasPrefix(filepath.Base(file), "ok-") {
			f.Errorf("%s: %v", file, err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := planet.Parse(body)
		if err != nil {
			if problems := (planet.Problems)(nil); !errors.As(err, &problems) || len(problems) == 0 {
				t.Errorf("refused without a problem: %v", err)
			}
			return
		}
		shown := s.JSON()
		again, err := planet.Parse(shown)
		if err != nil || again != s {
			t.Fatalf("the settings shown differ from those accepted: %v\n%s\n%s", err, s.Text(), shown)
		}
		var sent, kept map[string]any
		if err := errors.Join(decode(body, &sent), decode(shown, &kept)); err != nil {
			t.Fatal(err)
		}
		sent["id"] = planet.EntryID
		if !cmp.Equal(sent, kept) {
			t.Errorf("values changed: %s", cmp.Diff(sent, kept))
		}
	})
}

// decode decodes JSON and keeps the text of numbers.
func decode(text []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(into)
}

// change returns the acceptable body with one part replaced.
func change(part, by string) string {
	if !strings.Contains(acceptable, part) {
		panic("no such part: " + part)
	}
	return strings.Replace(acceptable, part, by, 1)
}

func problemsOf(t *testing.T, body string) []planet.Problem {
	t.Helper()
	_, err := planet.Parse([]byte(body))
	if err == nil {
		return nil
	}
	var problems planet.Problems
	if !errors.As(err, &problems) || fault.KindOf(err) != fault.Invalid {
		t.Fatalf("error %v, want Problems of kind Invalid", err)
	}
	return problems
}
