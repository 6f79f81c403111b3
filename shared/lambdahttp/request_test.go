package lambdahttp

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

func readRequest(t testing.TB, raw string) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventOf converts a request like the gateway: it keeps the path, decodes the parameters and encodes the body as
// base64.
func eventOf(t testing.TB, r *http.Request) events.APIGatewayProxyRequest {
	t.Helper()
	event := get(r.URL.EscapedPath())
	event.HTTPMethod = r.Method
	event.MultiValueHeaders = r.Header.Clone()
	event.MultiValueHeaders["Host"] = []string{r.Host}
	event.MultiValueQueryStringParameters = map[string][]string{}
	for _, pair := range strings.Split(r.URL.RawQuery, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			name = decoded(t, name)
			values := event.MultiValueQueryStringParameters
			values[name] = append(values[name], decoded(t, value))
		}
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return event
}

func decoded(t testing.TB, s string) string {
	t.Helper()
	text, err := url.QueryUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// searchSpy records the filters of searches.
type searchSpy struct{ filters []string }

func (a *searchSpy) Search(_ context.Context, r search.Request) (search.Result, error) {
	a.filters = append(a.filters, r.Filters)
	return search.Result{}, nil
}

func newAPI(t *testing.T, searcher answering.Searcher) http.Handler {
	t.Helper()
	handler, err := api.New(api.Config{
		Search: searcher, Keys: keys.OneKey("key"), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Serves: []string{"stats", "stats-post"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

const period = "timestamp between 2026-01-01 and 2026-01-02"

// filters are filters as clients send them and as a search must receive them.
var filters = map[string]struct{ sent, want string }{
	"encoded": {
		url.QueryEscape(period + `, path="/a+b;c%2Fd&e=f"`), period + `, path="/a+b;c%2Fd&e=f"`,
	},
	"a plus for a space": {strings.ReplaceAll(period, " ", "+"), period},
	"%20 for a space":    {strings.ReplaceAll(period, " ", "%20") + ",ip%3D::1", period + ",ip=::1"},
	"an encoded plus":    {"tags%3Da%2Bb", "tags=a+b"},
	"encoded twice":      {"path%3D%252F%252e", "path=%2F%2e"},
	"semicolons":         {"tags=a;b;c", "tags=a;b;c"},
	"raw JSON": {
		`[{"field":"path","op":"regex","value":"^\\d{1,2}|x[a-z]$"}]`,
		`[{"field":"path","op":"regex","value":"^\\d{1,2}|x[a-z]$"}]`,
	},
	"equals signs":            {"path==a=b=", "path==a=b="},
	"other alphabets":         {"%E6%97%A5=%F0%9F%92%A9", "日=💩"},
	"line breaks":             {"a%0D%0A%09b%00c", "a\r\n\tb\x00c"},
	"nothing":                 {"", ""},
	"surrounding white space": {"+%20a+%20", "  a  "},
}

func TestFilterIsDecodedOnce(t *testing.T) {
	for name, test := range filters {
		t.Run(name, func(t *testing.T) {
			var direct, through searchSpy
			target := "/api/v4.0/data/stats?segment=1h&filters=" + test.sent + "&_=1"
			request := func() *http.Request {
				r := httptest.NewRequest("GET", "/api/v4.0/data/stats", nil)
				r.URL.RawQuery = strings.SplitN(target, "?", 2)[1]
				r.Header.Set("X-Api-Key", "key")
				return r
			}
			newAPI(t, &direct).ServeHTTP(httptest.NewRecorder(), request())
			invoke(t, t.Context(), newAPI(t, &through).ServeHTTP, eventOf(t, request()))
			want := []string{test.want}
			if diff := cmp.Diff(want, direct.filters); diff != "" {
				t.Errorf("directly (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, through.filters); diff != "" {
				t.Errorf("through the gateway (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueryKeepsParameters: the query decodes to the parameters that the gateway decoded.
func TestQueryKeepsParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("&;+%=#?/\\{}[]|\"' ,~\x00\n")), rapid.Rune()))
		values := rapid.MapOf(text, rapid.SliceOfN(text, 1, 3)).Draw(t, "parameters")
		query := queryOf(events.APIGatewayProxyRequest{MultiValueQueryStringParameters: values})
		got, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(url.Values(values), got); diff != "" {
			t.Fatalf("%s (-sent +got):\n%s", query, diff)
		}
		if again := queryOf(events.APIGatewayProxyRequest{MultiValueQueryStringParameters: values}); again != query {
			t.Fatalf("%s, then %s", query, again)
		}
	})
}

// TestRepeatedParametersAreKept: the API refuses them, so the conversion must not drop any.
func TestRepeatedParametersAreKept(t *testing.T) {
	event := get("/api/v4.0/data/stats")
	event.MultiValueHeaders = map[string][]string{"x-api-key": {"key"}}
	event.QueryStringParameters = map[string]string{"filters": "b"} // the last one, as the gateway sends it too
	event.MultiValueQueryStringParameters = map[string][]string{"filters": {"a", "b"}}
	var searched searchSpy
	response, body := invoke(t, t.Context(), newAPI(t, &searched).ServeHTTP, event)
	if response.StatusCode != http.StatusUnprocessableEntity || len(searched.filters) > 0 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	event.MultiValueQueryStringParameters = nil
	invoke(t, t.Context(), newAPI(t, &searched).ServeHTTP, event)
	if len(searched.filters) != 1 || searched.filters[0] != "b" {
		t.Errorf("%q", searched.filters)
	}
}

// TestLongestURL: the gateway accepts URLs of up to 10,240 bytes.
func TestLongestURL(t *testing.T) {
	path := "/api/v4.0/data/stats?filters="
	filter := strings.Repeat("é", (10_240-len(path))/6)
	r := httptest.NewRequest("GET", path+url.QueryEscape(filter), nil)
	r.Header.Set("X-Api-Key", "key")
	var searched searchSpy
	invoke(t, t.Context(), newAPI(t, &searched).ServeHTTP, eventOf(t, r))
	if len(searched.filters) != 1 || searched.filters[0] != filter {
		t.Errorf("a filter of %d bytes: %d searches", len(filter), len(searched.filters))
	}
}

func TestPath(t *testing.T) {
	const planets = "/api/v4.0/conf/{config}/planets"
	for name, test := range map[string]struct {
		path, resource, stage string
		parameters            map[string]string
		want                  string
	}{
		"the path of the resource": {"/api/v4.0/data/topx", "/api/v4.0/data/topx", "prod", nil, "/api/v4.0/data/topx"},
		"a base path": {
			"/gateway/api/v4.0/data/topx", "/api/v4.0/data/topx", "prod", nil, "/api/v4.0/data/topx",
		},
		"a base path and a stage": {
			"/gateway/prod/api/v4.0/data/topx", "/api/v4.0/data/topx", "prod", nil, "/api/v4.0/data/topx",
		},
		"a stage": {
			"/prod/api/v4.0/data/topx", "/api/v4.0/data/topx", "prod", nil, "/api/v4.0/data/topx",
		},
		"a stage with the name of the first segment": {
			"/api/v4.0/data/topx", "/api/v4.0/data/topx", "api", nil, "/api/v4.0/data/topx",
		},
		"a base path of two segments": {
			"/a/b/api/v4/conf/prod/planets", "/api/v4/conf/{config}/planets", "x", nil, "/api/v4/conf/prod/planets",
		},
		"a final slash": {
			"/g/api/v4.0/conf/prod/planets/", planets, "x", nil, "/api/v4.0/conf/prod/planets/",
		},
		"an encoded slash": {
			"/g/api/v4.0/conf/a%2Fb/planets", planets, "x", nil, "/api/v4.0/conf/a%2Fb/planets",
		},
		"a decoded space": {
			"/api/v4.0/conf/a b%/planets", planets, "x", nil, "/api/v4.0/conf/a%20b%25/planets",
		},
		"a decoded question mark": {
			"/api/v4.0/conf/a?b#c/planets", planets, "x", nil, "/api/v4.0/conf/a%3Fb%23c/planets",
		},
		"decoded letters": {
			"/api/v4.0/conf/é/planets", planets, "x", nil, "/api/v4.0/conf/%C3%A9/planets",
		},
		"a greedy path": {
			"/nothing/here", "/{proxy+}", "prod", map[string]string{"proxy": "nothing/here"}, "/nothing/here",
		},
		"a greedy path under a base path": {
			"/g/nothing/here", "/{proxy+}", "prod", map[string]string{"proxy": "nothing/here"}, "/nothing/here",
		},
		"a decoded greedy path": {
			"/g/a%20b", "/{proxy+}", "prod", map[string]string{"proxy": "a b"}, "/a%20b",
		},
		"a greedy path without its parameter": {"/g/a", "/{proxy+}", "prod", nil, "/g/a"},
		"root":                                {"/", "/", "prod", nil, "/"},
		"the root under a base path":          {"/g", "/", "prod", nil, "/"},
		"written by hand with a stage": {
			"/prod/api/v4.0/data/topx", "", "prod", nil, "/api/v4.0/data/topx",
		},
		"written by hand":                         {"/api/v4.0/data/topx", "", "", nil, "/api/v4.0/data/topx"},
		"written by hand without a slash":         {"healthz", "", "", nil, "/healthz"},
		"a path that does not match the resource": {"/a/b", "/c/{d}", "prod", nil, "/a/b"},
		"two slashes":                             {"//a", "", "", nil, "//a"},
	} {
		t.Run(name, func(t *testing.T) {
			event := get(test.path)
			event.Resource, event.PathParameters = test.resource, test.parameters
			event.RequestContext.Stage = test.stage
			var got string
			invoke(t, t.Context(), func(_ http.ResponseWriter, r *http.Request) { got = r.URL.EscapedPath() }, event)
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestRecordedEvents converts recorded events of gateways. The expected request is in a file beside each event.
func TestRecordedEvents(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d events, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			invoke(t, t.Context(), func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				fmt.Fprintf(&got, "%s %s\nHost: %s\nFrom: %s\n", r.Method, r.RequestURI, r.Host, r.RemoteAddr)
				for _, name := range []string{"Accept", "Cookie", "Content-Type", "X-Request-Id", "X-Many"} {
					for _, value := range r.Header.Values(name) {
						fmt.Fprintf(&got, "%s: %s\n", name, value)
					}
				}
				fmt.Fprintf(&got, "\n%s\n", body)
			}, json.RawMessage(payload))
			want, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
