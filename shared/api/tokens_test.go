package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
)

// limitedKeys are a key that sees all branches, two that see staging, and one that an earlier version issued.
var limitedKeys = keys.Static{
	keys.HashOf("all"):   {Name: "all", Scopes: keys.Scopes(), TokenKey: keys.TokenKey{9}},
	keys.HashOf("one"):   {Name: "one", Scopes: keys.Scopes(), Branches: []string{"staging"}, TokenKey: keys.TokenKey{1}},
	keys.HashOf("other"): {Name: "other", Scopes: keys.Scopes(), Branches: []string{"staging"}, TokenKey: keys.TokenKey{2}},
	keys.HashOf("old"):   {Name: "old", Scopes: keys.Scopes(), Branches: []string{"staging"}},
}

// sharedLogs returns n records of each of two logs, which two branches share. Many have the same time. Between two
// records of a log are up to gap lines.
func sharedLogs(random *rand.Rand, n int, gap int64) (rows []*lake.Row) {
	const tenOClock = 1767261600000
	for _, source := range []string{"9f86d081884c7d65", "60303ae22b998861"} {
		line := int64(1) << 40
		for i := range n {
			line += 1 + random.Int64N(gap)
			branch, host := []string{"staging", "prod"}[random.IntN(2)], source[:2]+strconv.Itoa(i)
			rows = append(rows, &lake.Row{
				TsMs: tenOClock + 1000*random.Int64N(9), TsNanos: random.Int64N(2), Source: source, Line: line,
				Branch: &branch, Host: &host,
			})
		}
	}
	slices.SortFunc(rows, lake.Compare)
	return rows
}

// logsPage is an answer of logs.
type logsPage struct {
	Data struct{ Results []json.RawMessage }
	Meta struct {
		Next *string
		Head string
	}
}

const wholeHour = "timestamp between 2026-01-01 10:00 and 2026-01-01 11:00"

// askLogs asks for a page of logs, with pairs of names and values of parameters.
func askLogs(t *testing.T, s *testServer, key string, parameters ...string) reply {
	t.Helper()
	values := url.Values{"filters": {wholeHour}}
	for pair := range slices.Chunk(parameters, 2) {
		values.Set(pair[0], pair[1])
	}
	return s.send(t, get("/api/v4.0/data/logs?"+values.Encode(), "X-API-Key: "+key))
}

func readPage(t *testing.T, r reply) (page logsPage) {
	t.Helper()
	if err := json.Unmarshal(r.body, &page); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %v", r.Status, r.body, err)
	}
	return page
}

// shows reports whether a token contains the line or the source of a record, as bytes or as digits.
func shows(t *testing.T, token string, rows []*lake.Row) bool {
	t.Helper()
	content, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatalf("the token %q: %v", token, err)
	}
	return slices.ContainsFunc(rows, func(r *lake.Row) bool {
		line := binary.BigEndian.AppendUint64(nil, uint64(r.Line))
		return bytes.Contains(content, line[2:]) || bytes.Contains(content, []byte(r.Source)) ||
			bytes.Contains(content, strconv.AppendInt(nil, r.Line, 10))
	})
}

// TestTokensOfLimitedKeys: the tokens of a key that is limited to branches show neither lines nor sources, because
// these show how many records of other branches there are. All its pages are the whole answer.
func TestTokensOfLimitedKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	lengths := map[string]bool{}
	for _, key := range []string{"one", "old"} {
		for _, gap := range []int64{1, 1000, 1 << 30} {
			t.Run(fmt.Sprintf("key %s, lines %d apart", key, gap), func(t *testing.T) {
				o := newOracle(t)
				o.rows = sharedLogs(random, 60, gap)
				service := newSearch(t, o, 0)
				s := newServer(t, func(c *Config) { c.Keys, c.Search, c.Queries = limitedKeys, service, service })
				want := readPage(t, askLogs(t, s, key, "limit", "2500"))
				if len(want.Data.Results) == 0 || len(want.Data.Results) == len(o.rows) {
					t.Fatalf("the key sees %d of %d records", len(want.Data.Results), len(o.rows))
				}
				var got []json.RawMessage
				cursor := []string{"limit", "7"}
				for {
					page := readPage(t, askLogs(t, s, key, cursor...))
					table := askLogs(t, s, key, append(cursor, "format", "csv")...)
					got = append(got, page.Data.Results...)
					if page.Meta.Head != want.Meta.Head || table.Header.Get("X-Orrery-Head") != want.Meta.Head {
						t.Fatalf("the head is %s, later %s", want.Meta.Head, page.Meta.Head)
					}
					if shows(t, page.Meta.Head, o.rows) {
						t.Errorf("the head %s shows a record", page.Meta.Head)
					}
					if page.Meta.Next == nil {
						break
					}
					if next := *page.Meta.Next; shows(t, next, o.rows) || table.Header.Get("X-Orrery-Next") != next {
						t.Errorf("the cursor %s shows a record, or differs from the cursor of the table", next)
					}
					lengths[strconv.Itoa(len(*page.Meta.Next))] = true
					cursor = []string{"limit", "7", "cursor", *page.Meta.Next}
				}
				if diff := cmp.Diff(want.Data.Results, got); diff != "" {
					t.Errorf("all pages (-whole +pages):\n%s", diff)
				}
				for _, r := range sharedLogs(random, 20, gap) {
					r.TsMs += 600_000
					o.rows = append(o.rows, r)
				}
				var news []json.RawMessage
				for _, record := range readPage(t, askLogs(t, s, key, "limit", "2500")).Data.Results {
					is := func(r json.RawMessage) bool { return bytes.Equal(r, record) }
					if !slices.ContainsFunc(want.Data.Results, is) {
						news = append(news, record)
					}
				}
				since := readPage(t, askLogs(t, s, key, "limit", "2500", "since", want.Meta.Head))
				if diff := cmp.Diff(news, since.Data.Results); diff != "" || len(news) == 0 {
					t.Errorf("since the head (-want +got):\n%s", diff)
				}
				if shows(t, since.Meta.Head, o.rows) {
					t.Errorf("the head %s shows a record", since.Meta.Head)
				}
				if all := readPage(t, askLogs(t, s, "all", "limit", "7")); !shows(t, all.Meta.Head, o.rows) ||
					!shows(t, *all.Meta.Next, o.rows) {
					t.Error("the tokens of a key that sees all branches show no record, so the test tests nothing")
				}
			})
		}
	}
	if len(lengths) != 1 {
		t.Errorf("the lengths of cursors differ: %v", lengths)
	}
}

// TestTokensOfOtherKeys: a key limited to branches has only the use of its own tokens.
func TestTokensOfOtherKeys(t *testing.T) {
	o := newOracle(t)
	o.rows = sharedLogs(rand.New(rand.NewPCG(2, 0)), 60, 1000)
	service := newSearch(t, o, 0)
	s := newServer(t, func(c *Config) { c.Keys, c.Search, c.Queries = limitedKeys, service, service })
	own, other := readPage(t, askLogs(t, s, "one", "limit", "3")), readPage(t, askLogs(t, s, "other", "limit", "3"))
	all := readPage(t, askLogs(t, s, "all", "limit", "3"))
	changed := []byte(*own.Meta.Next)
	changed[len(changed)/2] ^= 1
	for rule, c := range map[string]struct {
		key, param, token string
		status            int
	}{
		"an own cursor is accepted":                  {"one", "cursor", *own.Meta.Next, 200},
		"an own head is accepted":                    {"one", "since", own.Meta.Head, 200},
		"an own head is no cursor":                   {"one", "cursor", own.Meta.Head, 422},
		"a cursor of another key is refused":         {"one", "cursor", *other.Meta.Next, 422},
		"a head of another key is refused":           {"one", "since", other.Meta.Head, 422},
		"a cursor that is not encrypted is refused":  {"one", "cursor", *all.Meta.Next, 422},
		"a head that is not encrypted is refused":    {"one", "since", all.Meta.Head, 422},
		"an encrypted cursor is of no use to others": {"all", "cursor", *own.Meta.Next, 422},
		"a changed cursor is refused":                {"one", "cursor", string(changed), 422},
		"a cut cursor is refused":                    {"one", "cursor", (*own.Meta.Next)[:20], 422},
		"a text is refused":                          {"one", "since", "yesterday", 422},
		"a long text is refused":                     {"one", "since", strings.Repeat("A", 5000), 422},
	} {
		t.Run(rule, func(t *testing.T) {
			r := askLogs(t, s, c.key, "limit", "3", c.param, c.token)
			if r.StatusCode != c.status || c.status == 422 && !bytes.Contains(r.body, []byte(`"`+c.param+`"`)) {
				t.Errorf("%s %s", r.Status, r.body)
			}
		})
	}
	if *own.Meta.Next == *other.Meta.Next || own.Meta.Head == other.Meta.Head {
		t.Error("two keys have the same token for the same record")
	}
}

// keptTokenKeys makes token keys, and keeps them by the ID of the key.
type keptTokenKeys map[string]keys.TokenKey

func (k keptTokenKeys) TokenKeyOf(_ context.Context, id string) (keys.TokenKey, error) {
	if _, made := k[id]; !made {
		k[id] = keys.NewTokenKey()
	}
	return k[id], nil
}

// TestTokensOfKeysWithoutTokenKeys: if their token keys are kept, every process reads the tokens of API keys that an
// earlier version issued.
func TestTokensOfKeysWithoutTokenKeys(t *testing.T) {
	o := newOracle(t)
	o.rows = sharedLogs(rand.New(rand.NewPCG(3, 0)), 60, 1000)
	service, kept := newSearch(t, o, 0), keptTokenKeys{}
	process := func() *testServer {
		return newServer(t, func(c *Config) { c.Keys, c.TokenKeys, c.Search, c.Queries = limitedKeys, kept, service, service })
	}
	first := readPage(t, askLogs(t, process(), "old", "limit", "3"))
	second := readPage(t, askLogs(t, process(), "old", "limit", "3", "cursor", *first.Meta.Next))
	if len(second.Data.Results) != 3 || second.Meta.Head != first.Meta.Head {
		t.Errorf("the second page: %d records, head %s, the first has %s",
			len(second.Data.Results), second.Meta.Head, first.Meta.Head)
	}
	since := readPage(t, askLogs(t, process(), "old", "since", first.Meta.Head))
	if len(since.Data.Results) > 0 {
		t.Errorf("%d records since the head", len(since.Data.Results))
	}
	readPage(t, askLogs(t, process(), "one", "limit", "3"))
	if id := keys.IDOf(keys.HashOf("old")); len(kept) != 1 || kept[id].IsZero() {
		t.Errorf("there are %d token keys", len(kept))
	}
}

// brokenTokenKeys is a store of token keys that cannot be reached.
type brokenTokenKeys struct{}

func (brokenTokenKeys) TokenKeyOf(context.Context, string) (keys.TokenKey, error) {
	return keys.TokenKey{}, fault.New(fault.Unavailable, "no table")
}

func TestTokensWithoutTheStoreOfTokenKeys(t *testing.T) {
	o := newOracle(t)
	service := newSearch(t, o, 0)
	s := newServer(t, func(c *Config) {
		c.Keys, c.TokenKeys, c.Search, c.Queries = limitedKeys, brokenTokenKeys{}, service, service
	})
	for key, want := range map[string]int{"old": 503, "one": 200, "all": 200} {
		if r := askLogs(t, s, key); r.StatusCode != want {
			t.Errorf("key %s: %s %s", key, r.Status, r.body)
		}
	}
}
