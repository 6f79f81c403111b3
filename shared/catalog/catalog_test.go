package catalog

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// specification lists the fields of the request record in the specification.
const specification = `
	acl_triggers arguments asn authority biometric blocked bot branch bytes_sent challenge challenge_type
	cf_restrict_triggers cf_triggers cookies country dr_triggers geo_region gf_triggers headers host hostname human
	ichallenge ip logs method monitor monitor_reasons organization path path_parts port processing_stage profiling
	protocol proxy query svc_latency svcid svcsessionid reason referer request_id request_length request_time result
	rl_triggers security_config session session_ids status tags time_period timestamp trigger_counters upstream_addr
	upstream_data upstream_response_time upstream_status url user_agent version`

// additions lists the fields that the specification does not have.
var additions = []string{LogRest, RecordRef}

func TestFieldsMatchTheSpecification(t *testing.T) {
	want := append(strings.Fields(specification), additions...)
	slices.Sort(want)
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("the catalogue has %v, the specification %v, in alphabetical order", got, want)
	}
	for _, name := range want {
		if f, ok := Lookup(name); !ok || f.Name != name {
			t.Errorf("Lookup(%q) = %v", name, f)
		}
	}
	if _, ok := Lookup("Status"); ok {
		t.Error("Lookup ignores the case of names")
	}
}

// columnTypes are the Go types of a source's values in lake.Row, without pointers and lists.
var columnTypes = map[Type][]reflect.Kind{
	String: {reflect.String},
	Int:    {reflect.Int64},
	Float:  {reflect.Int64},
	Bool:   {reflect.Bool},
	Time:   {reflect.Int64},
	Any:    {reflect.String},

	Reference: {reflect.Int64}, // the time
}

func TestSourcesMatchTheRow(t *testing.T) {
	for _, f := range Fields {
		for _, s := range f.Sources {
			column, ok := column(reflect.TypeFor[lake.Row](), s.Column)
			if !ok {
				t.Errorf("%s: column %s does not exist", f.Name, s.Column)
				continue
			}
			for _, name := range s.Columns() {
				if _, ok := columnOf(name); !ok {
					t.Errorf("%s: column %s does not exist", f.Name, name)
				}
			}
			var layout Layout
			switch isList := column.Kind() == reflect.Slice; {
			case isList && column.Elem() == reflect.TypeFor[lake.Pair]():
				layout, column = Pairs, reflect.TypeFor[string]()
			case isList && column.Elem().Kind() == reflect.Struct:
				layout, column = Structs, column.Elem()
			case isList:
				layout, column = List, column.Elem()
			case s.Type == Reference:
				layout = Place
			default:
				layout = Scalar
			}
			if s.Member != "" {
				if column, ok = memberOf(column, s.Member); !ok {
					t.Errorf("%s: column %s has no member %s", f.Name, s.Column, s.Member)
					continue
				}
			}
			if layout != s.Layout || !slices.Contains(columnTypes[s.Type], plain(column).Kind()) {
				t.Errorf("%s is %s in layout %d, but its column contains %s in layout %d",
					f.Name, s.Type, s.Layout, column, layout)
			}
			if (s.Name != "") != (f.Keys == ClosedKeys) {
				t.Errorf("%s: source name %q; exactly the sources of closed keys have names", f.Name, s.Name)
			}
			for _, name := range f.Output() {
				if _, ok := columnOf(name); !ok {
					t.Errorf("%s is printed from column %s, which does not exist", f.Name, name)
				}
			}
		}
	}
}

func column(row reflect.Type, name string) (reflect.Type, bool) {
	for i := range row.NumField() {
		if tag, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ","); tag == name {
			return row.Field(i).Type, true
		}
	}
	return nil, false
}

func columnOf(name string) (reflect.Type, bool) { return column(reflect.TypeFor[lake.Row](), name) }

func memberOf(t reflect.Type, name string) (reflect.Type, bool) { return column(plain(t), name) }

func plain(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func TestOperators(t *testing.T) {
	for i, op := range filter.Ops {
		if Operators[i].Op != op || OperatorOf(op) != Operators[i] {
			t.Errorf("operator %s is out of order", op)
		}
		if Operators[i].Absent {
			t.Errorf("operator %s holds for an absent value", op)
		}
	}
	config, _ := Lookup("security_config")
	active, ok := config.Member("acl_active")
	if !ok || !active.Takes(filter.Gt) || !active.Takes(filter.Is) || active.Takes(filter.Regex) {
		t.Errorf("acl_active has the operators %v", active.Ops())
	}
	blocked, _ := Lookup("blocked")
	if got := blocked.Ops(); !slices.Equal(got, []filter.Op{filter.Is}) {
		t.Errorf("blocked has the operators %v", got)
	}
	if got := config.Ops(); !slices.Equal(got, filter.Ops) {
		t.Errorf("security_config has the operators %v", got)
	}
	if _, ok := blocked.Member("acl"); ok || blocked.Members() != nil {
		t.Error("blocked has members")
	}
	want := "acl_active cf_active cf_rules gf_rules revision rl_rules secpolentryid secpolid"
	if got := strings.Join(config.Members(), " "); got != want {
		t.Errorf("the members of security_config are %s, want %s", got, want)
	}
}

func TestReferences(t *testing.T) {
	f, ok := Lookup(RecordRef)
	if !ok {
		t.Fatalf("no field %s", RecordRef)
	}
	d := f.Describe()
	if d.Type != "reference" || !slices.Equal(d.Operators, []string{"eq", "in"}) || d.Key != nil {
		t.Errorf("described as %+v", d)
	}
	if d.Groupable || d.Sensitive || d.Group != Requested || d.Values != Unique {
		t.Errorf("described as %+v", d)
	}
}

func TestAlias(t *testing.T) {
	for alias, name := range aliases {
		if _, ok := Lookup(alias); ok {
			t.Errorf("alias %s is the name of a field", alias)
		}
		if _, ok := Lookup(name); !ok || Alias(alias) != name {
			t.Errorf("alias %s means %s, which is not a field", alias, name)
		}
	}
}

func TestNumericText(t *testing.T) {
	for _, text := range []string{"0", "-1", "007", "1.5", "-0.25e-9", "1E+99", strings.Repeat("9", 40)} {
		if !NumericText.MatchString(text) {
			t.Errorf("%q is not matched", text)
		}
	}
	for _, text := range []string{
		"", "-", "+1", ".5", "5.", "1e", "1e100", "NaN", "Infinity", " 1", "1\n", "0x1", strings.Repeat("9", 41),
	} {
		if NumericText.MatchString(text) {
			t.Errorf("%q is matched", text)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, d := range Describe() {
		if d.Name == "" || d.Type == "" || len(d.Operators) == 0 || !strings.HasSuffix(d.Doc, ".") || d.Example == "" {
			t.Errorf("%+v is incomplete", d)
		}
	}
	data, _ := Lookup("upstream_data")
	got, err := json.Marshal(data.Describe())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"upstream_data","type":"any","operators":["eq","gt","lt","gte","lte","in","regex","between"],` +
		`"key":{"rule":"closed","members":[{"name":"addr","type":"string","operators":["eq","in","regex"],` +
		`"groupable":true},` +
		`{"name":"response_time","type":"float","operators":["eq","gt","lt","gte","lte","in","between"],` +
		`"groupable":false},` +
		`{"name":"status","type":"integer","operators":["eq","gt","lt","gte","lte","in","between"],"groupable":true}]},` +
		`"doc":"Attempts at the origin: addr, response_time, status.","example":"upstream_data[\"status\"]\u003e=500",` +
		`"group":"origin","values":"many","groupable":true,"sensitive":false,"aliases":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
