package whatif_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
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
		"limit 60 per 1m by ip":                                       "limit 60 per 1m by ip",
		" limit 5  per 90s by session,path ":                          "limit 5 per 90s by session, path",
		"limit 0 per 1h by ip with path ban 600":                      "limit 0 per 1h by ip with path ban 10m",
		`limit 3 by ip per 60 action challenge where path="/where"`:   `limit 3 per 1m by ip action challenge where path="/where"`,
		`block where path~"^/wp-"`:                                    `block where path~"^/wp-"`,
		"monitor where country=China":                                 "monitor where country=China",
		`block tag a , "b, \"c\"",d where country=China`:              `block tag a, "b, \"c\"", d where country=China`,
		`limit 3 per 1m by headers["x-api-key"] , ip`:                 `limit 3 per 1m by headers["x-api-key"], ip`,
		`limit 3 per 1m by arguments["a, b \"c\""] with cookies["d"]`: `limit 3 per 1m by arguments["a, b \"c\""] with cookies["d"]`,
		`{"threshold":5,"timeframe":60,"key":[{"headers":"X-Api-Key"},{"args":"a b"}],"pairwith":{"cookies":"Id"}}`: `limit 5 per 1m by headers["x-api-key"], arguments["a b"] with cookies["Id"]`,
		"enforce acl3": `block where monitor_reasons~"(^|[^\w-])acl3([^\w-]|$)"`,
		`{"threshold":5,"timeframe":60,"key":[{"attrs":"ip"}]}`:                                                                                                                                                                                   "limit 5 per 1m by ip",
		`{"threshold":5,"timeframe":60,"key":[{"attrs":"ip"}],"pairwith":{"self":"self"}}`:                                                                                                                                                        "limit 5 per 1m by ip",
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
		"block tag where path=/":                 "is not part of a filter",
		"block tag a b where path=/":             "is not part of a filter",
		"block tag a b c where path=/":           "commas between them",
		"block tags a where path=/":              "is not part of a filter",
		"enforce ":                               "the name or the id",
		"{":                                      "not JSON",
		"{}":                                     "neither rule",
		`{"threshold":5,"key":[{"attrs":"ip"}]}`: "both threshold and timeframe",
		`{"threshold":5,"timeframe":60}`:         "needs a key",
		`{"threshold":5,"timeframe":60,"key":[{"plugins":"jwt.sub"}]}`:                  `key[0]: plugins "jwt.sub" is not knowable`,
		`{"threshold":5,"timeframe":60,"key":[{"attrs":"ip","headers":"x"}]}`:           "one member",
		`{"threshold":-5,"timeframe":60,"key":[{"attrs":"ip"}]}`:                        "negative",
		`{"active":false,"threshold":5,"timeframe":60}`:                                 "not active",
		`{"action":"action-skip","rule":{"entry":[{"type":"ip","value":"192.0.2.1"}]}}`: "stops nothing",
		`{"rule":{}}`: "no entries",
		`{"rule":{"relation":"OR","entry":[{"type":"ip","value":"192.0.2.1"},{"type":"path","value":""}]}}`:                                                                                                                                 "rule has no value",
		`{"rule":{"relation":"OR","entry":[{"type":"ip","value":"192.0.2.1"}],"group":[{"relation":"AND","entry":[{"type":"asn","value":1}],"group":[{"relation":"OR","entry":[{"type":"path","value":"/"},{"type":"asn","value":1}]}]}]}}`: "rule.group[0] has groups",
		`{"rule":{"entry":[{"type":"secpolid","value":"x"}]}}`: `type "secpolid"`,
		`{"rule":{"entry":[{"type":"ip","value":""}]}}`:        "no value",
		`{"rule":{"entry":[{"type":"asn","value":"x"}]}}`:      "not the number",
		strings.Repeat("x", whatif.MaxRule+1):                  "at most",
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

// TestForms: a rule in the gateway's JSON is read as the rule that it was written from. Conditions that a rate limit does
// not have become a global filter, whose tag the limit includes.
func TestForms(t *testing.T) {
	for text, want := range map[string][]string{
		"limit 60 per 1m by ip":                                      {`limit 60 per 1m by ip where tags in ("all")`},
		"limit 2 per 1h by session, user_agent with path ban 10m":    {`limit 2 per 1h by session, user_agent with path ban 10m where tags in ("all")`},
		`limit 5 per 1m by headers["x-api-key"] with arguments["q"]`: {`limit 5 per 1m by headers["x-api-key"] with arguments["q"] where tags in ("all")`},
		`limit 5 per 1m by ip where tags="a", tags!="b"`:             {`limit 5 per 1m by ip where tags in ("a"), tags not in ("b")`},
		`limit 5 per 1m by ip where tags="a", tags="c"`:              {`limit 5 per 1m by ip where tags="a", tags="c"`},
		`block where path~"^/it's", country in ("China", "Peru")`: {
			`block tag block-where-path-it-s-country-in-china-peru where path~"^/it's", country in ("China", "Peru")`,
		},
		`challenge where headers["x-a"]~"b", asn=64500, method="POST"`: {
			`challenge tag challenge-where-headers-x-a-b-asn-64500-method-post where headers["x-a"]~"b", asn in ("64500"), method~"^POST$"`,
		},
		`limit 5 per 1m by ip action monitor where path="/a.b"`: {
			`monitor tag counted-limit-5-per-1m-by-ip-action-monitor-where-path-a-b where path~"^/a\.b$"`,
			`limit 5 per 1m by ip action monitor where tags in ("counted-limit-5-per-1m-by-ip-action-monitor-where-path-a-b")`,
		},
		`limit 5 per 1m by ip where tags in ("a", "b"), tags="c"`: {
			`monitor tag counted-limit-5-per-1m-by-ip-where-tags-in-a-b-tags-c where tags in ("c"), tags in ("a", "b")`,
			`limit 5 per 1m by ip where tags in ("counted-limit-5-per-1m-by-ip-where-tags-in-a-b-tags-c")`,
		},
		"block where path!=/": nil, "block where status=404": nil, "limit 5 per 1m by ip/24": nil, "limit 5 per 1m by ip with status": nil,
		"block where ip in @tor": nil, `block where headers="b"`: nil, `limit 5 per 1m by ip where human is false`: nil,
	} {
		rule, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		forms := rule.Forms()
		var got []string
		for _, f := range forms {
			again, err := whatif.Parse(f.JSON)
			if err != nil {
				t.Fatalf("%s: %v", f.JSON, err)
			}
			got = append(got, again.String())
			if shell := strings.ReplaceAll(f.JSON, "'", `'\''`); !strings.Contains(f.Curl, "--data '"+shell+"'") {
				t.Errorf("%s: the command lacks the JSON:\n%s", text, f.Curl)
			}
			if !strings.HasPrefix(f.Terraform, `resource "link11waap_`) || strings.Count(f.Terraform, "{") != strings.Count(f.Terraform, "}") {
				t.Errorf("%s: %s", text, f.Terraform)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestTerraform: a limit whose conditions need a global filter, as Terraform and as a command.
func TestTerraform(t *testing.T) {
	rule, err := whatif.Parse(`limit 5 per 1m by ip, user_agent with session where path~"^/${a}"`)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, f := range rule.Forms() {
		got += "-- " + f.To + " --\n" + f.Terraform + f.Curl
	}
	golden, err := os.ReadFile("testdata/forms.txt")
	if err != nil || *update {
		err = os.WriteFile("testdata/forms.txt", []byte(got), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(golden) && !*update {
		t.Errorf("got\n%s\nwant\n%s", got, golden)
	}
}

var update = flag.Bool("update", false, "write testdata/forms.txt")

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
