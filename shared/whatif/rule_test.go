package whatif_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/whatif"
)

// TestParse: rules in each form, as the shorter form writes them.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"limit 60 per 1m by ip":                                     "limit 60 per 1m by ip",
		" limit 5  per 90s by session,path ":                        "limit 5 per 90s by session, path",
		"limit 0 per 1h by ip with path ban 600":                    "limit 0 per 1h by ip with path ban 10m",
		`limit 3 by ip per 60 action challenge where path="/where"`: `limit 3 per 1m by ip action challenge where path="/where"`,
		`block where path~"^/wp-"`:                                  `block where path~"^/wp-"`,
		"monitor where country=China":                               "monitor where country=China",
		"enforce acl3":                                              `block where monitor_reasons~"(^|[^\w-])acl3([^\w-]|$)"`,
		`{"threshold":5,"timeframe":60,"key":[{"attrs":"ip"}]}`:     "limit 5 per 1m by ip",
		`{"rule":{"relation":"OR","entry":[{"type":"ip","value":"192.0.2.0/24"},{"type":"ip","value":"198.51.100.7"}]}}`:                                                                                                                          `block where ip in ("192.0.2.0/24", "198.51.100.7")`,
		`{"action":"action-challenge","rule":{"relation":"AND","entry":[{"type":"path","value":"^/a"},{"type":"headers","name":"x","value":"b\"c"},{"type":"asn","value":64500}]}}`:                                                               `challenge where path~"^/a", headers["x"]~"b\"c", asn in ("64500")`,
		`{"rule":{"relation":"AND","entry":[{"type":"tags","value":"bot"}],"group":[{"relation":"OR","entry":[{"type":"uri","value":"a"},{"type":"uri","value":"b"}]}]}}`:                                                                         `block where tags in ("bot"), url~("a", "b")`,
		`{"timeframe":60,"threshold":2,"ttl":300,"is_action_ban":true,"key":[{"attrs":"ip"},{"headers":"User-Agent"}],"pairwith":{"attrs":"session"},"include":{"relation":"AND","tags":["a","b"]},"exclude":{"relation":"OR","tags":["c","d"]}}`: `limit 2 per 1m by ip, user_agent with session ban 5m where tags="a", tags="b", tags not in ("c", "d")`,
	} {
		rule, err := whatif.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := rule.String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		if rule.Where == "" {
			continue
		}
		if _, err := query.BindSelection(filter.ParseQueryString(rule.Where)); err != nil {
			t.Errorf("the conditions of %s: %v", text, err)
		}
		again, err := whatif.Parse(rule.String())
		if err != nil || again.String() != rule.String() {
			t.Errorf("%s becomes %s (%v)", rule, again, err)
		}
	}
}

// TestMistakes: each mistake is named.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no rule",
		"throttle 5":                             `not with "throttle"`,
		"limit":                                  "needs a number",
		"limit many per 1m by ip":                `"many" is not a number`,
		"limit -1 per 1m by ip":                  "not a number",
		"limit 5 by ip":                          "after per",
		"limit 5 per 1m":                         "after by",
		"limit 5 per 1m by ip every day":         `"every" is not part`,
		"limit 5 per 1m per 2m by ip":            "twice",
		"limit 5 per soon by ip":                 "not a length",
		"limit 5 per 23h by ip ban 2h":           "at most 24h together",
		"limit 5 per 1m by ip action stop":       "not an action",
		"block":                                  "after where",
		"block path=/":                           "after where",
		"enforce ":                               "the name or the id",
		"{":                                      "not JSON",
		"{}":                                     "neither rule",
		`{"threshold":5,"key":[{"attrs":"ip"}]}`: "both threshold and timeframe",
		`{"threshold":5,"timeframe":60}`:         "needs a key",
		`{"threshold":5,"timeframe":60,"key":[{"plugins":"jwt.sub"}]}`:                  "key[0]: plugins",
		`{"threshold":5,"timeframe":60,"key":[{"attrs":"ip","headers":"x"}]}`:           "one member",
		`{"threshold":-5,"timeframe":60,"key":[{"attrs":"ip"}]}`:                        "negative",
		`{"active":false,"threshold":5,"timeframe":60}`:                                 "not active",
		`{"action":"action-skip","rule":{"entry":[{"type":"ip","value":"192.0.2.1"}]}}`: "stops nothing",
		`{"rule":{}}`: "no entries",
		`{"rule":{"relation":"OR","entry":[{"type":"ip","value":"192.0.2.1"},{"type":"path","value":"/"}]}}`: "one type at a time",
		`{"rule":{"entry":[{"type":"secpolid","value":"x"}]}}`:                                               `type "secpolid"`,
		`{"rule":{"entry":[{"type":"ip","value":""}]}}`:                                                      "no value",
		`{"rule":{"entry":[{"type":"asn","value":"x"}]}}`:                                                    "not the number",
		strings.Repeat("x", whatif.MaxRule+1):                                                                "at most",
	} {
		_, err := whatif.Parse(text)
		var mistake *whatif.RuleError
		if !errors.As(err, &mistake) || !strings.Contains(mistake.Message, want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
			continue
		}
		if mistake.Suggestion != "" {
			if _, err := whatif.Parse(mistake.Suggestion); err != nil {
				t.Errorf("%.60s: the suggestion %s: %v", text, mistake.Suggestion, err)
			}
		}
	}
}

// TestJSON: a limit in the gateway's JSON is read as the limit that it was written from.
func TestJSON(t *testing.T) {
	for _, text := range []string{
		"limit 60 per 1m by ip", "limit 2 per 1h by session, user_agent with path ban 10m", "limit 1 per 1m by organization action monitor",
	} {
		rule, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		written, ok := rule.JSON()
		if !ok {
			t.Fatalf("%s has no JSON", text)
		}
		again, err := whatif.Parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if again.Where = ""; again.String() != text { // all requests have the tag all
			t.Errorf("%s becomes %s:\n%s", text, again, written)
		}
	}
	for _, text := range []string{"block where path=/", "limit 5 per 1m by ip where path=/", "limit 5 per 1m by ip/24", "limit 5 per 1m by ip with status"} {
		rule, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if written, ok := rule.JSON(); ok {
			t.Errorf("%s has the JSON %s", text, written)
		}
	}
}

// FuzzValues: whatever a value of a rule in JSON is, it is one value of one condition.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"192.0.2.1", `", path="`, `a\`, `b\"`, "c\nd", "x\x00", ") where"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) || value == "" || len(value) > 1000 {
			return
		}
		for _, entry := range []map[string]string{
			{"type": "country", "value": value}, {"type": "path", "value": value}, {"type": "headers", "name": value, "value": "x"},
			{"type": "tags", "value": value},
		} {
			text, err := json.Marshal(map[string]any{"rule": map[string]any{"entry": []any{entry}}})
			if err != nil {
				t.Fatal(err)
			}
			rule, err := whatif.Parse(string(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			of := filter.ParseQueryString(rule.Where)
			if len(of.Conditions) != 1 || len(of.Conditions[0].Values) != 1 {
				t.Fatalf("%s becomes %s", text, rule.Where)
			}
			c := of.Conditions[0]
			got := c.Values[0].Text
			if c.Key != nil {
				got = c.Key.Text
			}
			if got != value {
				t.Errorf("%s becomes %s, with the value %q", text, rule.Where, got)
			}
		}
	})
}
