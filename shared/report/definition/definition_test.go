package definition_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report/definition"
)

var rules = definition.Rules{Domains: []string{"example.com", "example.org"}, Destinations: []string{"archive", "chat"}}

const delivered = `"deliver":[{"to":"archive"}]`

func TestParse(t *testing.T) {
	archive := []definition.Destination{{To: "archive"}}
	for _, test := range []struct {
		rule, body string
		want       definition.Definition
	}{
		{"the defaults", `{"period":"week",` + delivered + `}`, definition.Definition{
			Period: "week", At: "07:00", Weekday: "monday", TZ: "UTC", Template: "traffic", Compare: "previous",
			When: "always", Deliver: archive,
		}},
		{"no destinations", `{"period":"day"}`, definition.Definition{
			Period: "day", At: "07:00", TZ: "UTC", Template: "traffic", Compare: "previous", When: "always",
			Deliver: []definition.Destination{},
		}},
		{"an empty list of destinations", `{"period":"day","deliver":[]}`, definition.Definition{
			Period: "day", At: "07:00", TZ: "UTC", Template: "traffic", Compare: "previous", When: "always",
			Deliver: []definition.Destination{},
		}},
		{"every member", `{"title":"The shop","filters":"status = 404 , host=\"a\"","period":"day","at":"23:59",` +
			`"tz":"Europe/Berlin","template":"attack","compare":"same-weekday","when":"attacks",` +
			`"deliver":[{"mail":["ops@example.com","Boss@EXAMPLE.org"]},{"to":"chat"}],"max_bytes":1000,"paused":true}`,
			definition.Definition{
				Title: "The shop", Filters: `status=404, host="a"`, Period: "day", At: "23:59", TZ: "Europe/Berlin",
				Template: "attack", Compare: "same-weekday", When: "attacks", MaxBytes: 1000, Paused: true,
				Deliver: []definition.Destination{{Mail: []string{"ops@example.com", "Boss@EXAMPLE.org"}}, {To: "chat"}},
			}},
		{"an hourly report has no time of day", `{"period":"hour","when":"attacks","filters":{"field":"status","op":"eq","value":404},` +
			delivered + `}`, definition.Definition{
			Filters: "status=404", Period: "hour", TZ: "UTC", Template: "traffic", Compare: "previous", When: "attacks",
			Deliver: archive,
		}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := definition.Parse([]byte(test.body), 0, rules)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			stored := definition.Stored{Definition: got, Branches: []string{"shop"}, Key: "5a0d3c71f2e9"}
			again, err := definition.Read(stored.Text())
			if diff := cmp.Diff(stored, again); diff != "" || err != nil {
				t.Errorf("%v (-stored +read):\n%s", err, diff)
			}
		})
	}
}

// TestParseReportsPlacesAndRemedies has one mistake for each row: its place and a part of the message.
func TestParseReportsPlacesAndRemedies(t *testing.T) {
	for _, test := range []struct{ rule, body, place, message string }{
		{"no JSON", `{`, "body", "not JSON"},
		{"no object", `[]`, "body", "must be an object"},
		{"an unknown member", `{"period":"day","titel":"x",` + delivered + `}`, "body.titel", `did you mean "title"?`},
		{"a member given twice", `{"period":"day","period":"day",` + delivered + `}`, "body.period", "given more than once"},
		{"no period", `{` + delivered + `}`, "body.period", "field required"},
		{"an unknown period", `{"period":"year",` + delivered + `}`, "body.period", `"year" is not one of hour, day, week, month`},
		{"a number as title", `{"period":"day","title":1,` + delivered + `}`, "body.title", "must be a string"},
		{"a long title", `{"period":"day","title":"` + strings.Repeat("ä", 121) + `",` + delivered + `}`, "body.title",
			"at most 120 characters"},
		{"a title with an escape sequence", `{"period":"day","title":"a\u001b[2Jb",` + delivered + `}`, "body.title",
			"must not have control characters"},
		{"a title of two lines", `{"period":"day","title":"a\nb",` + delivered + `}`, "body.title", "such as line ends"},
		{"an empty zone", `{"period":"day","tz":"",` + delivered + `}`, "body.tz", "empty"},
		{"an unknown zone", `{"period":"day","tz":"Berlin",` + delivered + `}`, "body.tz", "such as Europe/Berlin"},
		{"the zone of the machine", `{"period":"day","tz":"Local",` + delivered + `}`, "body.tz", "unknown zone"},
		{"a zone that is a path", `{"period":"day","tz":"../../etc/passwd",` + delivered + `}`, "body.tz", "unknown zone"},
		{"a time without a zero", `{"period":"day","at":"7:00",` + delivered + `}`, "body.at", "such as 07:00"},
		{"a time of the next day", `{"period":"day","at":"24:00",` + delivered + `}`, "body.at", "not a time of day"},
		{"an unknown weekday", `{"period":"week","weekday":"Mon",` + delivered + `}`, "body.weekday", "is not one of monday,"},
		{"a weekday of a daily report", `{"period":"day","weekday":"monday",` + delivered + `}`, "body.weekday", "leave it out"},
		{"a time of an hourly report", `{"period":"hour","when":"attacks","at":"07:00",` + delivered + `}`, "body.at", "leave it out"},
		{"an hourly report that is always sent", `{"period":"hour",` + delivered + `}`, "body.when", `needs "when": "attacks"`},
		{"the weekday of a month", `{"period":"month","compare":"same-weekday",` + delivered + `}`, "body.compare", `use "previous"`},
		{"a limit of no bytes", `{"period":"day","max_bytes":0,` + delivered + `}`, "body.max_bytes", "at least 1"},
		{"a text as flag", `{"period":"day","paused":"no",` + delivered + `}`, "body.paused", "must be a boolean"},
		{"null as flag", `{"period":"day","paused":null,` + delivered + `}`, "body.paused", "must be a boolean"},
		{"null as destinations", `{"period":"day","deliver":null}`, "body.deliver", "must be a list"},
		{"a destination of neither kind", `{"period":"day","deliver":[{}]}`, "body.deliver.0", `either "mail" or "to"`},
		{"a destination of both kinds", `{"period":"day","deliver":[{"to":"chat","mail":["a@example.com"]}]}`, "body.deliver.0",
			`either "mail" or "to"`},
		{"an unknown destination", `{"period":"day","deliver":[{"to":"chat"},{"to":"slack"}]}`, "body.deliver.1.to",
			`there is no destination "slack"; there are archive, chat`},
		{"a misspelt destination", `{"period":"day","deliver":[{"to":"archiv"}]}`, "body.deliver.0.to", `did you mean "archive"?`},
		{"another domain", `{"period":"day","deliver":[{"mail":["a@example.com","b@evil.example"]}]}`, "body.deliver.0.mail.1",
			"mail to evil.example is not allowed; the operator allows example.com, example.org"},
		{"a subdomain", `{"period":"day","deliver":[{"mail":["a@x.example.com"]}]}`, "body.deliver.0.mail.0", "not allowed"},
		{"an address with a name", `{"period":"day","deliver":[{"mail":["A <a@example.com>"]}]}`, "body.deliver.0.mail.0",
			"is not the address of a mailbox"},
		{"a line break in an address", `{"period":"day","deliver":[{"mail":["a@example.com\r\nBcc: b@evil.example"]}]}`,
			"body.deliver.0.mail.0", "is not the address of a mailbox"},
		{"two addresses in one", `{"period":"day","deliver":[{"mail":["a@example.com,b@example.com"]}]}`, "body.deliver.0.mail.0",
			"is not the address of a mailbox"},
		{"a domain that is not ascii", `{"period":"day","deliver":[{"mail":["a@bücher.example"]}]}`, "body.deliver.0.mail.0",
			"write it in Punycode, such as xn--bcher-kva.example"},
		{"no addresses", `{"period":"day","deliver":[{"mail":[]}]}`, "body.deliver.0.mail", "a list of addresses"},
		{"a filter with a period", `{"period":"day","filters":"timestamp between 2026-01-01 and 2026-01-02",` + delivered + `}`,
			"body.filters", "leave the condition out"},
		{"a number as filter", `{"period":"day","filters":1,` + delivered + `}`, "body.filters", "must be a string"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, err := definition.Parse([]byte(test.body), 0, rules)
			var p definition.Problems
			if !errors.As(err, &p) || len(p) != 1 {
				t.Fatalf("%v", err)
			}
			place := strings.ReplaceAll(strings.Trim(fmt.Sprint(p[0].Loc), "[]"), " ", ".")
			if place != test.place || !strings.Contains(p[0].Msg, test.message) {
				t.Errorf("%s: %s\nwant %s: %s", place, p[0].Msg, test.place, test.message)
			}
		})
	}
}

// TestAddressesThatAreNotASCII: SES refuses a whole mail because of one such address. Other mail servers may support them.
func TestAddressesThatAreNotASCII(t *testing.T) {
	body := []byte(`{"period":"day","deliver":[{"mail":["ops@example.com","jörg@example.com"]}]}`)
	if d, err := definition.Parse(body, 0, rules); err != nil || len(d.Deliver[0].Mail) != 2 {
		t.Errorf("a mail server: %v", err)
	}
	ses := rules
	ses.ASCII = true
	_, err := definition.Parse(body, 0, ses)
	const want = `deliver.0.mail.1: "jörg@example.com" is not ASCII, and Amazon SES sends mail only to addresses that are`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("SES: %v", err)
	}
	kelvin := []byte(`{"period":"day","deliver":[{"mail":["ops@\u212aiosk.example"]}]}`) // its lower case is k
	_, err = definition.Parse(kelvin, 0, definition.Rules{Domains: []string{"kiosk.example"}})
	if err == nil || !strings.Contains(err.Error(), "is not ASCII") {
		t.Errorf("a domain that looks like one that is allowed: %v", err)
	}
}

// TestParsePause: a report can be paused whatever its destinations and its filter are, but nothing else changes then.
func TestParsePause(t *testing.T) {
	old := definition.Definition{
		Filters: "gone=1", Period: "day", At: "07:00", TZ: "UTC", Template: "traffic", Compare: "previous", When: "always",
		Deliver: []definition.Destination{{To: "gone"}, {Mail: []string{"jörg@gone.example"}}}, Reason: "the key was revoked",
	}
	const deliver = `"deliver":[{"to":"gone"},{"mail":["jörg@gone.example"]}]`
	for _, test := range []struct {
		rule, body string
		want       bool
	}{
		{"the report is paused", `{"filters":"gone=1","period":"day",` + deliver + `,"paused":true}`, true},
		{"the report is not paused", `{"filters":"gone=1","period":"day",` + deliver + `}`, false},
		{"another filter", `{"filters":"gone=2","period":"day",` + deliver + `,"paused":true}`, false},
		{"no filter", `{"period":"day",` + deliver + `,"paused":true}`, false},
		{"another time", `{"filters":"gone=1","period":"day","at":"08:00",` + deliver + `,"paused":true}`, false},
		{"another destination", `{"filters":"gone=1","period":"day","deliver":[{"to":"gone"}],"paused":true}`, false},
		{"no JSON", `{`, false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, ok := definition.ParsePause([]byte(test.body), 0, old)
			if ok != test.want || ok && (!got.Paused || got.Reason != "" || got.Filters != old.Filters) {
				t.Errorf("%v %+v", ok, got)
			}
		})
	}
}

func TestParseReportsEveryMistake(t *testing.T) {
	_, err := definition.Parse([]byte(`{"period":"x","at":"y","tz":"z","deliver":[{"to":"a"},{"mail":["b"]}]}`), 0, rules)
	var p definition.Problems
	if !errors.As(err, &p) || len(p) != 5 {
		t.Errorf("%d: %v", len(p), err)
	}
	_, err = definition.Parse([]byte(`{"period":"day","deliver":[`+strings.Repeat(`{},`, 9)+`{}],"a":1,"b":1,"c":1,"d":1,`+
		`"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`), 0, rules)
	if !errors.As(err, &p) || len(p) != 20 {
		t.Errorf("%d: %v", len(p), err)
	}
}

func TestMistakesOfFiltersHavePlaces(t *testing.T) {
	_, err := definition.Parse([]byte(`{"period":"day","filters":"status=404, hots=a",`+delivered+`}`), 0, rules)
	var wrong *query.FilterError
	if !errors.As(err, &wrong) || len(wrong.Errors) != 1 || wrong.Errors[0].Span.Offset != len("status=404, ") {
		t.Errorf("%v", err)
	}
	body := []byte(`{"period":"day","filters":"{}",` + delivered + `}`)
	if _, err := definition.Parse(body, filter.QueryString, rules); !errors.As(err, &wrong) {
		t.Errorf("the query-string form of {}: %v", err)
	}
}

func TestWithoutRulesNothingIsAllowed(t *testing.T) {
	for body, want := range map[string]string{
		`{"period":"day","deliver":[{"to":"chat"}]}`:              "the operator has defined none",
		`{"period":"day","deliver":[{"mail":["a@example.com"]}]}`: "the operator has not set up mail",
	} {
		_, err := definition.Parse([]byte(body), 0, definition.Rules{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestVisibleTo(t *testing.T) {
	for _, test := range []struct {
		rule            string
		callers, frozen []string
		want            bool
	}{
		{"a key of all branches sees every report", nil, []string{"a"}, true},
		{"a key of all branches sees reports of all branches", nil, nil, true},
		{"a limited key does not see reports of all branches", []string{"a"}, nil, false},
		{"a key sees reports of its branch", []string{"a"}, []string{"a"}, true},
		{"a key sees reports of some of its branches", []string{"a", "b"}, []string{"b"}, true},
		{"a key does not see reports of a further branch", []string{"a"}, []string{"a", "b"}, false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := definition.VisibleTo(test.callers, test.frozen); got != test.want {
				t.Error(got)
			}
		})
	}
}
