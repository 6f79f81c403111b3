package query_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// languageReference is the file of the language reference. Its sections between markers are generated from the catalog
// and this package; -update writes them.
const languageReference = "../filter/README.md"

func TestLanguageReferenceIsUpToDate(t *testing.T) {
	content, err := os.ReadFile(languageReference)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for marker, section := range map[string]string{
		"truth-table": truthTable(t), "meaning-codes": codeTable(), "fields": fieldTable(),
	} {
		begin, end := "<!-- "+marker+" -->\n", "<!-- /"+marker+" -->"
		before, rest, opened := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !opened || !closed {
			t.Fatalf("%s has no markers of %s", languageReference, marker)
		}
		text = before + begin + section + end + after
	}
	goldentest.Compare(t, languageReference, text)
}

// truthTable prints the truth table that TestTruthTable executes for every field.
func truthTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("The table shows for which contents of a field the conditions of each operator hold. Tests execute " +
		"it for every field, on the\nreference evaluator and on every engine.\n\n| operator |")
	for _, state := range querytest.States {
		fmt.Fprintf(&b, " %s |", state)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(querytest.States)) + "\n")
	for _, o := range catalog.Operators {
		for _, negated := range []bool{false, true} {
			name := "`" + o.Op.String() + "`"
			if negated {
				name = "`not " + o.Op.String() + "`"
			}
			fmt.Fprintf(&b, "| %s |", name)
			for _, state := range querytest.States {
				verdict := querytest.Verdict(state, negated)
				if state == querytest.Absent && verdict != (o.Absent != negated) {
					t.Errorf("operator %s holds for an absent value: %v in the catalog, %v in the truth table",
						o.Op, o.Absent, verdict != negated)
				}
				fmt.Fprintf(&b, " %s |", map[bool]string{true: "holds", false: "–"}[verdict])
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\nA field of one value is never in the last two states. `timestamp`, `time_period` and " +
		"`record_ref` are never absent: a request\nwithout `time_period` has its `timestamp` in whole seconds. `svcid` and `svcsessionid` " +
		"are the first cookie of that name.\n")
	return b.String()
}

func codeTable() string {
	var b strings.Builder
	b.WriteString("These are the codes of mistakes in meaning:\n\n| code | |\n|---|---|\n")
	for _, c := range query.Codes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Code, c.Meaning)
	}
	return b.String()
}

func fieldTable() string {
	var b strings.Builder
	b.WriteString("| field | type | operators | key | | example |\n|---|---|---|---|---|---|\n")
	for _, d := range catalog.Describe() {
		key := ""
		if d.Key != nil {
			key = map[string]string{"open": "any name", "folded": "any name, in any case"}[d.Key.Rule]
			for i, m := range d.Key.Members {
				if i > 0 {
					key += ", "
				}
				key += fmt.Sprintf("`%s` (%s)", m.Name, m.Type)
			}
		}
		example := strings.ReplaceAll(d.Example, "|", `\|`)
		operators := strings.Join(d.Operators, ", ")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` |\n", d.Name, d.Type, operators, key, d.Doc, example)
	}
	return b.String()
}

var examplePattern = regexp.MustCompile("(?ms)^```(?:json )?filter\n(.*?)^```$")

// TestLanguageReferenceExamplesBind binds every example of the language reference and of the catalog.
func TestLanguageReferenceExamplesBind(t *testing.T) {
	content, err := os.ReadFile(languageReference)
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, m := range examplePattern.FindAllStringSubmatch(string(content), -1) {
		examples++
		checkBinds(t, strings.TrimSpace(m[1]), noon)
	}
	if examples < 10 {
		t.Errorf("only %d examples were found", examples)
	}
	for _, f := range catalog.Fields {
		text := f.Example
		if f.Name != "timestamp" {
			text = withPeriod(text)
		}
		if q := checkBinds(t, text); len(q.Conditions) == 1 && q.Conditions[0].Field.Name != f.Name {
			t.Errorf("the example of field %s has a condition on %s", f.Name, q.Conditions[0].Field.Name)
		}
	}
}

func checkBinds(t *testing.T, text string, opts ...query.Option) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), query.Logs{}, opts...)
	if err != nil {
		t.Errorf("an example does not bind:\n%s", querytest.Explain(err))
	}
	return q
}

// TestCodesAreComplete checks that Codes documents every code that this package and package pattern define, and no
// other code.
func TestCodesAreComplete(t *testing.T) {
	var source []byte
	for _, name := range []string{"errors.go", "../pattern/pattern.go"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, content...)
	}
	documented := map[string]bool{"nul": true, "invalid_utf8": true}
	for _, c := range query.Codes {
		documented[c.Code] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^\t\w+\s+= "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		if !documented[m[1]] {
			t.Errorf("code %s is not documented", m[1])
		}
		delete(documented, m[1])
	}
	for code := range documented {
		t.Errorf("code %s is documented but not defined", code)
	}
}
