package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/client"
)

func TestStatusOfAFolder(t *testing.T) {
	data, log := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "a.log")
	text := `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}` + "\n" +
		`{"processing_stage":6,"timestamp":"2026-01-01T11:00:00Z"}` + "\n{\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := runHere(t.Context(), "", "import", "--data", data, log); code != exit.Rejected {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for rule, c := range map[string]struct {
		args    []string
		code    int
		want    []string // parts of the output
		without string   // a text that is not in it
	}{
		"a table has a line for each member": {
			[]string{"--format", "table"}, exit.Done, []string{
				"records     2 from 2026-01-01T10:00:00Z to 2026-01-01T11:00:00Z\n", " in 2 objects\n",
				"quarantine  1 line, the newest bad_json\n", "routes      topx stats ", "\nwait        60 s for a query\n",
				"\nhour           objects  records", "\n2026/01/01/11  1        1 ", "\n2026/01/01/10  1        1 ",
			}, "price",
		},
		"hours can be left out": {
			[]string{"--format", "table", "--hours", "1"}, exit.Done, []string{"\n2026/01/01/11  1"}, "2026/01/01/10  1",
		},
		"elsewhere than on a terminal it is the answer of the API": {
			nil, exit.Done, []string{`{"data":{"version":"dev","engine":"`, `"records":2,"objects":2,`, `"key":null}}`}, "\n{",
		},
		"two servers are one too many": {
			[]string{"--stack", "orrery", "--url", "http://localhost"}, exit.Usage, []string{"give one of them"}, "records",
		},
		"a folder without data is an error": {
			[]string{"--data", filepath.Join(data, "none")}, exit.Failed, []string{"there is no data in"}, "records",
		},
	} {
		t.Run(rule, func(t *testing.T) {
			stdout, stderr, code := runHere(t.Context(), "", append([]string{"status", "--data", data}, c.args...)...)
			if code != c.code || strings.Contains(stdout, c.without) {
				t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("%q is missing in:\n%s%s", want, stdout, stderr)
				}
			}
		})
	}
}

// TestStatusOfAStack: --stack finds the URL of a deployment in its stack, and sends the key there.
func TestStatusOfAStack(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/live/api/v4.0/status":
			fmt.Fprintf(w, `{"data":{"version":"1.0.0","key":{"name":%q}}}`, r.Header.Get("Authorization"))
		case r.FormValue("StackName") == "shop-api":
			fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>shop-api</StackName>`+
				`<CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs><member>`+
				`<OutputKey>URL</OutputKey><OutputValue>%s/live/</OutputValue></member></Outputs></member></Stacks>`+
				`</DescribeStacksResult></DescribeStacksResponse>`, server.URL)
		default:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>`+
				`<Message>Stack with id x does not exist</Message></Error></ErrorResponse>`)
		}
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "ORRERY_API_KEY": "secret",
	} {
		t.Setenv(name, value)
	}
	stdout, stderr, code := runHere(t.Context(), "", "status", "--stack", "shop")
	if code != exit.Done || !strings.Contains(stdout, `"name":"Bearer secret"`) {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
	_, stderr, code = runHere(t.Context(), "", "status", "--stack", "store")
	if code != exit.Failed || !strings.Contains(stderr, "there is no stack store-api in eu-central-1") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestStatusTable: what is not known is named or left out, and no text can rewrite a line of the terminal.
func TestStatusTable(t *testing.T) {
	at, source, code, expires := "2026-01-01T10:00:00Z", "raw/a\x1b[2K.log", "too_old", "2026-02-01T00:00:00Z"
	limited := client.Status{
		Version: "1.0.0", Engine: "athena", Extent: &client.Extent{To: at}, Features: []string{"topx", "logs"},
		Price: &client.Price{USDPerTB: 5, MinimumBytes: 10_000_000},
		Key:   &client.Key{Name: "shop", Scopes: []string{"data:read"}, Branches: []string{"staging"}, Expires: &expires},
	}
	deployed := limited
	deployed.Extent = &client.Extent{From: &at, To: at}
	objects, bytes := 1, int64(8_250_000)
	deployed.Complete, deployed.Objects, deployed.Bytes = &at, &objects, &bytes
	deployed.Ingest = &client.Ingest{
		Watching: true, LastSource: &source, LastAt: &at, Quarantined: client.Quarantined{NewestCode: &code},
	}
	deployed.Hours = []client.Hour{{Partition: "2026/01/01/10", Objects: 1, Bytes: bytes, Compacted: true}}
	for name, c := range map[string]struct {
		status client.Status
		want   string
	}{
		"of a key limited to branches": {limited, `
version   1.0.0
engine    athena
records   up to 2026-01-01T10:00:00Z
complete  not known
price     $5 for each TB, at least 10 MB for each query
routes    topx logs
key       shop: data:read on staging, expires 2026-02-01T00:00:00Z
`},
		"of a deployment": {deployed, `
version     1.0.0
engine      athena
records     from 2026-01-01T10:00:00Z to 2026-01-01T10:00:00Z
complete    through 2026-01-01T10:00:00Z (1m0s ago)
stored      8.25 MB in 1 object
imports     the latest of raw/a\u{1b}[2K.log at 2026-01-01T10:00:00Z (1m0s ago); raw logs are watched
quarantine  number of lines not known, the newest too_old
price       $5 for each TB, at least 10 MB for each query
routes      topx logs
key         shop: data:read on staging, expires 2026-02-01T00:00:00Z

hour           objects  records  bytes    compacted
2026/01/01/10  1        -        8250000  true
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			now := time.Date(2026, 1, 1, 10, 1, 0, 0, time.UTC)
			if err := (&statusCommand{Hours: 12}).print(&out, c.status, now); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want[1:] {
				t.Errorf("got\n%swant%s", out.String(), c.want)
			}
		})
	}
}
