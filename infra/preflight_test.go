package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
)

// limits is a fake of the services that report the limits of an account.
type limits struct {
	functions, rate, burst int
	queries, ownQueries    int // default of AWS; quota of the account, 0 for none
	denied                 bool
}

func (l limits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	quotas := func(value int) map[string]any {
		list := []map[string]any{{"QuotaName": "Active DDL queries", "Value": 1}}
		if value > 0 {
			list = append(list, map[string]any{"QuotaName": "Active DML queries", "Value": value})
		}
		return map[string]any{"Quotas": list}
	}
	var answer any
	switch target := r.Header.Get("X-Amz-Target"); {
	case l.denied:
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
		answer = map[string]any{"__type": "AccessDeniedException", "message": "not authorized"}
	case strings.HasSuffix(target, ".ListServiceQuotas"):
		answer = quotas(l.ownQueries)
	case strings.HasSuffix(target, ".ListAWSDefaultServiceQuotas"):
		answer = quotas(l.queries)
	case strings.HasSuffix(r.URL.Path, "/account-settings"):
		answer = map[string]any{"AccountLimit": map[string]any{"ConcurrentExecutions": l.functions}}
	case r.URL.Path == "/account":
		answer = map[string]any{"throttleSettings": map[string]any{"rateLimit": l.rate, "burstLimit": l.burst}}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // maps of numbers and strings can be encoded
	}
	_, _ = w.Write(text)
}

func TestPreflight(t *testing.T) {
	account := func(functions, rate, burst, queries int) limits {
		return limits{functions: functions, rate: rate, burst: burst, queries: queries}
	}
	established := account(1000, 10_000, 5000, 150)
	reserving := defaults
	reserving.ReserveConcurrency = true
	greedy := defaults
	greedy.IngestConcurrency, greedy.RequestsPerSecond, greedy.Burst = 50, 20_000, 6000
	for _, test := range []struct {
		name     string
		limits   limits
		props    Props
		problems string // the services with problems
	}{
		{"the defaults fit an established account", established, defaults, ""},
		{"the defaults fit a limit of 10 functions", account(10, 10_000, 5000, 150), defaults, ""},
		{"reservations fit an established account", established, reserving, ""},
		{"nothing can be reserved of 10", account(10, 10_000, 5000, 150), reserving, "Lambda"},
		{"100 must stay unreserved", account(105, 10_000, 5000, 150), reserving, "Lambda"},
		{"ingest leaves nothing for requests", account(50, 30_000, 6000, 20_000), greedy, "Lambda"},
		{"the gateway of the account lets less through", account(1000, 10_000, 5000, 20_000), greedy, "API Gateway"},
		{"Athena runs fewer queries", account(1000, 10_000, 5000, 20), defaults, "Athena"},
		{
			"the account's own quota of queries counts",
			limits{functions: 1000, rate: 10_000, burst: 5000, queries: 20, ownQueries: 100}, defaults, "",
		},
		{"limits that cannot be read are problems", limits{denied: true}, defaults, "Lambda, API Gateway, Athena"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.limits)
			defer server.Close()
			c := aws.Config{
				Region: "eu-central-1", BaseEndpoint: &server.URL,
				Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
				Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
			}
			var out strings.Builder
			err := preflight(t.Context(), c, test.props, &out)
			var problems []string
			remedy := false
			for line := range strings.Lines(out.String()) {
				text, is := strings.CutPrefix(line, "problem  ")
				if remedy && !strings.HasPrefix(line, "         ") {
					t.Errorf("a problem without a remedy:\n%s", &out)
				}
				if remedy = is; is {
					service, _, _ := strings.Cut(text, ":")
					problems = append(problems, service)
				}
			}
			diff := cmp.Diff(test.problems, strings.Join(problems, ", "))
			if diff != "" || (err != nil) != (test.problems != "") {
				t.Errorf("problems (-want +got):\n%s\n%v\n%s", diff, err, &out)
			}
		})
	}
}

func TestPreflightReadsProperties(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cdk.json")
	if err := os.WriteFile(file, []byte(`{"app":"x","context":{"burst":300,"name":"shop"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	values, err := propertiesOf([]string{"-c", "burst=50", "--context=ingest-concurrency=4"}, file)
	want := map[string]any{"burst": "50", "name": "shop", "ingest-concurrency": "4"}
	if diff := cmp.Diff(want, values); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
	if values, err := propertiesOf(nil, filepath.Join(t.TempDir(), "none")); err != nil || len(values) > 0 {
		t.Errorf("without a file: %v, %v", values, err)
	}
	for _, arguments := range [][]string{{"-c", "burst"}, {"deploy"}, {"-x"}} {
		if _, err := propertiesOf(arguments, file); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	err = runPreflight(t.Context(), []string{"-c", "ingest-concurrency=1"}, io.Discard)
	if err == nil || !strings.Contains(fmt.Sprint(err), "property ingest-concurrency") {
		t.Errorf("a property that makes no sense: %v", err)
	}
	if err := runPreflight(t.Context(), nil, io.Discard); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
}
