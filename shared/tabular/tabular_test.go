package tabular

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encoded returns the CSV of objects.
func encoded(t *testing.T, table Table, objects ...string) string {
	t.Helper()
	e := NewEncoder(table)
	text := string(e.Head())
	for _, object := range objects {
		rows, err := e.Rows([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		text += string(rows)
	}
	return text
}

func TestCells(t *testing.T) {
	const exact = "12345678901234567890.10"
	for name, c := range map[string]struct{ value, safe, raw string }{
		"a text is without quotes":                {`"Germany"`, "Germany", "Germany"},
		"a comma is quoted":                       {`"a,b"`, `"a,b"`, `"a,b"`},
		"a quote is doubled":                      {`"say \"a\""`, `"say ""a"""`, `"say ""a"""`},
		"line ends stay as they are":              {`"a\r\nb\rc\nd"`, "\"a\r\nb\rc\nd\"", "\"a\r\nb\rc\nd\""},
		"a number is as in JSON":                  {`12345678901234567890.10`, exact, exact},
		"a boolean is a word":                     {`true`, "true", "true"},
		"null is empty":                           {`null`, "", ""},
		"an empty text is empty":                  {`""`, "", ""},
		"a list is JSON":                          {`["a",1]`, `"[""a"",1]"`, `"[""a"",1]"`},
		"an object is JSON":                       {`{"a":{"b":null}}`, `"{""a"":{""b"":null}}"`, `"{""a"":{""b"":null}}"`},
		"an equals sign gets an apostrophe":       {`"=1+1"`, "'=1+1", "=1+1"},
		"a plus sign gets an apostrophe":          {`"+1"`, "'+1", "+1"},
		"a minus sign gets an apostrophe":         {`"-a"`, "'-a", "-a"},
		"a negative number stays a number":        {`-1.5`, "-1.5", "-1.5"},
		"an at sign gets an apostrophe":           {`"@SUM(A1)"`, "'@SUM(A1)", "@SUM(A1)"},
		"a tab gets an apostrophe":                {`"\t=1"`, "'\t=1", "\"\t=1\""},
		"a carriage return gets an apostrophe":    {`"\r=1"`, "\"'\r=1\"", "\"\r=1\""},
		"a line feed gets an apostrophe":          {`"\n=1"`, "\"'\n=1\"", "\"\n=1\""},
		"a NUL gets an apostrophe":                {`"\u0000=1"`, "'\x00=1", "\x00=1"},
		"a full-width equals sign gets one":       {`"＝1"`, "'＝1", "＝1"},
		"a full-width plus sign gets one":         {`"＋1"`, "'＋1", "＋1"},
		"a full-width minus sign gets one":        {`"－a"`, "'－a", "－a"},
		"a full-width at sign gets one":           {`"＠SUM(A1)"`, "'＠SUM(A1)", "＠SUM(A1)"},
		"a formula character may follow":          {`"a=1"`, "a=1", "a=1"},
		"an apostrophe stays as it is":            {`"'=1"`, "'=1", "'=1"},
		"a line that ends a batch file is quoted": {`"\\."`, `"\."`, `"\."`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, raw := range []bool{false, true} {
				want := c.safe
				if raw {
					want = c.raw
				}
				got := encoded(t, Table{Columns: []string{"a", "b"}, Raw: raw}, `{"b":"x","a":`+c.value+`}`)
				if diff := cmp.Diff("a,b\r\n"+want+",x\r\n", got); diff != "" {
					t.Errorf("raw %t (-want +got):\n%s", raw, diff)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Run("columns are in the order of the table", func(t *testing.T) {
		got := encoded(t, Table{Columns: []string{"b", "absent", "a"}}, `{"a":1,"b":2,"c":3}`)
		if want := "b,absent,a\r\n2,,1\r\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("other members are in the last column", func(t *testing.T) {
		table := Table{Columns: []string{"a"}, Rest: "other"}
		got := encoded(t, table, `{"z":"<","a":1,"c":[2]}`, `{"a":1}`)
		if want := "a,other\r\n1,\"{\"\"c\"\":[2],\"\"z\"\":\"\"<\"\"}\"\r\n1,\r\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("an empty cell alone is still a line", func(t *testing.T) {
		got := encoded(t, Table{Columns: []string{"a"}}, `{}`, `{"a":"x"}`, `{"a":""}`)
		if rows := read(t, got); len(rows) != 4 {
			t.Errorf("%d lines of %q, want the head and 3", len(rows), got)
		}
	})
	t.Run("the head is guarded", func(t *testing.T) {
		if got := encoded(t, Table{Columns: []string{"=a"}}); got != "'=a\r\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("a column can occur twice", func(t *testing.T) {
		if got := encoded(t, Table{Columns: []string{"a", "b", "a"}}, `{"a":1,"b":2}`); got != "a,b,a\r\n1,2,1\r\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("of equal names the last counts", func(t *testing.T) {
		got := encoded(t, Table{Columns: []string{"a"}, Rest: "other"}, `{"a":1,"b":2,"a":3,"b":4}`)
		if got != "a,other\r\n3,\"{\"\"b\"\":4}\"\r\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("white space between tokens is left out", func(t *testing.T) {
		got := encoded(t, Table{Columns: []string{"a"}, Rest: "other"}, " { \"a\" : 1 , \"b c\" : { \"d\" : \"e f\" } } ")
		if got != "a,other\r\n1,\"{\"\"b c\"\":{\"\"d\"\":\"\"e f\"\"}}\"\r\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("an object can have several rows", func(t *testing.T) {
		table := Table{Columns: []string{"n"}, Rows: func(o Object) ([]Object, error) {
			return []Object{{"n": o["a"]}, {"n": o["b"]}}, nil
		}}
		if got := encoded(t, table, `{"a":1,"b":2}`); got != "n\r\n1\r\n2\r\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestErrors(t *testing.T) {
	wrong := errors.New("wrong")
	refuse := func(Object) ([]Object, error) { return nil, wrong }
	if _, err := NewEncoder(Table{Rows: refuse}).Rows([]byte(`{}`)); !errors.Is(err, wrong) {
		t.Errorf("error %v, want that of Rows", err)
	}
	for _, text := range []string{``, `[]`, `{"a":`, `"x"`, `{"a":1}2`, `{"a":1,}`, `{"b":[1}`, `{"b":tru}`, `{"a":"\u00"}`} {
		if _, err := NewEncoder(Table{Columns: []string{"a"}}).Rows([]byte(text)); err == nil {
			t.Errorf("%s is taken for an object", text)
		}
	}
}

func TestColumns(t *testing.T) {
	type inner struct {
		A string `json:"a"`
		B int    `json:"b,omitempty"`
	}
	type outer struct {
		inner
		Hidden  string `json:"-"`
		private string
		Plain   []string
		C       *int `json:"c"`
	}
	_ = outer{}.private
	if diff := cmp.Diff([]string{"a", "b", "Plain", "c"}, Columns[outer]()); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// read reads CSV as any program does.
func read(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return rows
}

// FuzzCells: a reader gets every cell back. No cell begins like a formula unless the table is raw.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"=1", "+", "-1", "@a", "\t", "\r\n=1", "\n", "", "a\"b,c", "\xff", "'=", " =1", `\.`, "\x00=", "＝1"} {
		f.Add(seed, seed+"x", false)
		f.Add("x"+seed, seed, true)
	}
	f.Fuzz(func(t *testing.T, a, b string, raw bool) {
		object, err := json.Marshal(map[string]any{"a": a, "b": b, "list": []string{a, b}, a + "?": b})
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]json.RawMessage // JSON has valid UTF-8 only
		if err := json.Unmarshal(object, &sent); err != nil {
			t.Fatal(err)
		}
		for _, columns := range [][]string{{"a"}, {"b", "a", "list"}} {
			text := encoded(t, Table{Columns: columns, Raw: raw}, string(object))
			rows := read(t, text)
			if len(rows) != 2 || !strings.HasSuffix(text, "\r\n") {
				t.Fatalf("%q has %d lines", text, len(rows))
			}
			for i, name := range columns {
				want := string(sent[name])
				if strings.HasPrefix(want, `"`) {
					if err := json.Unmarshal(sent[name], &want); err != nil {
						t.Fatal(err)
					}
				}
				checkCell(t, rows[1][i], want, raw)
			}
		}
	})
}

func checkCell(t *testing.T, got, want string, raw bool) {
	t.Helper()
	want = strings.ReplaceAll(want, "\r\n", "\n") // encoding/csv reads it so
	formula := []string{"=", "+", "-", "@", "\t", "\r", "\n", "\x00", "＝", "＋", "－", "＠"}
	begins := func(text string) bool {
		return slices.ContainsFunc(formula, func(c string) bool { return strings.HasPrefix(text, c) })
	}
	if !raw {
		if begins(got) {
			t.Errorf("the cell %q begins like a formula", got)
		}
		if begins(want) {
			got = strings.TrimPrefix(got, "'")
		}
	}
	if got != want {
		t.Errorf("the cell of %q is %q", want, got)
	}
}

// FuzzLines: the lines are those of encoding/csv, and the last column is what encoding/json prints.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a", "a,b", ` "a"`, "\u00a0a", "\u2028", "\\", "\x00", "a\r\nb", "\xff", "<&>", `\.`, "é"} {
		f.Add(seed, seed+"x")
		f.Add("x"+seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = string([]rune(a)), string([]rune(b)) // JSON has U+FFFD for each byte that is not UTF-8
		others := map[string]any{a + "?": b, "z": []string{a, b}}
		all := map[string]any{"a": a, "b": b}
		for name, value := range others {
			all[name] = value
		}
		object, rest := text(t, all), text(t, others)
		var want strings.Builder
		w := csv.NewWriter(&want)
		if err := w.WriteAll([][]string{{a, b, rest}}); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(want.String(), "\n") + "\r\n"
		table := Table{Columns: []string{"a", "b"}, Rest: "other", Raw: true}
		if got := strings.TrimPrefix(encoded(t, table, object), "a,b,other\r\n"); got != line {
			t.Errorf("%q, want %q", got, line)
		}
	})
}

// text returns a value as JSON without HTML escapes.
func text(t *testing.T, value any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// BenchmarkRows writes a record of usual size.
func BenchmarkRows(b *testing.B) {
	columns, object := []string{"timestamp", "headers", "cookies", "absent", "status"}, []byte(
		`{"timestamp":"2026-01-01T20:45:01.457Z","status":470,"headers":{"host":"shop.example"`+
			strings.Repeat(`,"accept":"text/html,application/xhtml+xml"`, 40)+`},"cookies":{"a":"b"},"x":{"y":[1,2,3]}}`)
	e := NewEncoder(Table{Columns: columns, Rest: "other"})
	b.SetBytes(int64(len(object)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Rows(object); err != nil {
			b.Fatal(err)
		}
	}
}
