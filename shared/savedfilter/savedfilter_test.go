package savedfilter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/savedfilter"
)

func TestNew(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a period is not needed": {"status = 404 , path~^/api", `status=404, path~"^/api"`},
		"the period comes first": {
			"path=/a, timestamp between 2026-01-02 and 2026-01-01",
			`timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00, path="/a"`,
		},
		"the JSON form":           {`{"field":"status","op":"eq","value":"404"}`, "status=404"},
		"a condition given twice": {"status=404, status=404", "status=404"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := savedfilter.New(filter.Parse(test.text), "title", "")
			if err != nil || f.Filters != test.want {
				t.Fatalf("%s, %v, want %s", f.Filters, err, test.want)
			}
			again, err := savedfilter.New(filter.Parse(string(f.JSON)), "title", "")
			if err != nil || again.Text() != f.Text() {
				t.Errorf("its JSON form is the filter %s, %v", again.Text(), err)
			}
			if stored, err := savedfilter.Stored(f.Text()); err != nil || stored.Text() != f.Text() {
				t.Errorf("%+v, %v", stored, err)
			}
		})
	}
}

func TestNewReportsEveryMistake(t *testing.T) {
	_, err := savedfilter.New(filter.Parse("hots=a, status=b"), "", "")
	var wrong *query.FilterError
	if !errors.As(err, &wrong) || len(wrong.Errors) != 2 || wrong.Errors[1].Span.Offset != len("hots=a, status=") {
		t.Fatalf("%v", err)
	}
	for name, text := range map[string]string{"empty": "", "white space": " ", "no conditions": `{"AND":[]}`} {
		if _, err := savedfilter.New(filter.Parse(text), "", ""); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = savedfilter.New(filter.Parse(`{"AND":[{"field":"hots","op":"eq","value":"a"}]}`), "", "")
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Fixed, `"host"`) {
		t.Errorf("the corrected filter has no period either: %+v", wrong)
	}
}

func TestNewLimitsTheSize(t *testing.T) {
	_, err := savedfilter.New(filter.Parse(`path="`+strings.Repeat("x", savedfilter.MaxBytes/2)+`"`), "", "")
	if fault.KindOf(err) != fault.TooLarge {
		t.Errorf("%v, want kind TooLarge", err)
	}
}

// TestWith: the combined filter binds to the conditions of all parts, and the period of the text is the period.
func TestWith(t *testing.T) {
	const period = "timestamp between 2026-01-01 and 2026-01-02"
	const jsonPeriod = `{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]}`
	const canonical = "timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00"
	const may = "timestamp between 2026-05-01 and 2026-05-02"
	for name, test := range map[string]struct {
		text  string
		saved []string
		want  string
	}{
		"no saved filter":     {period, nil, canonical},
		"two saved filters":   {period, []string{"status=404", "path=/a"}, canonical + `, status=404, path="/a"`},
		"the JSON form":       {`{"AND":[` + jsonPeriod + `]}`, []string{`path="a\"b"`}, canonical + `, path="a\"b"`},
		"a list of JSON":      {`[` + jsonPeriod + `]`, []string{"status=404"}, canonical + ", status=404"},
		"only a saved filter": {"", []string{period + ", status=404"}, canonical + ", status=404"},
		"the saved period narrows that of the text": {
			period, []string{may}, canonical + ", timestamp between 2026-05-01 00:00:00 and 2026-05-02 00:00:00",
		},
		"the saved period is the only one": {
			"status=404", []string{period}, canonical + ", status=404",
		},
		"the saved period is the only one of the JSON form": {
			`{"field":"status","op":"eq","value":404}`, []string{"path=/a", "host=h, " + period},
			canonical + `, status=404, path="/a", host="h"`,
		},
		"a text of white space": {" \n", []string{period}, canonical},
	} {
		t.Run(name, func(t *testing.T) {
			var saved []savedfilter.Filter
			for _, text := range test.saved {
				f, err := savedfilter.New(filter.Parse(text), "", "")
				if err != nil {
					t.Fatal(err)
				}
				saved = append(saved, f)
			}
			combined := filter.Parse(savedfilter.With(test.text, saved))
			q, err := query.Bind(combined, query.Logs{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := filter.Format(q.Filter); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
