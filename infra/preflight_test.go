package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// account is a fake of the services that report the limits of an account and that hold the records of a deployment.
type account struct {
	functions, rate, burst int
	queries, ownQueries    int // default of AWS; quota of the account, 0 for none
	denied                 bool

	deployed bool      // the stack of the data exists
	failed   bool      // its first deployment did: it has no outputs
	oldest   time.Time // of all records; zero for none
}

func (l account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	case strings.HasSuffix(target, ".GetItem"):
		answer = l.state()
	case r.FormValue("Action") == "DescribeStacks":
		l.describeStack(w, r.FormValue("StackName"))
		return
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

// state returns the item with the state of the lake.
func (l account) state() any {
	if l.oldest.IsZero() {
		return map[string]any{}
	}
	state, err := json.Marshal(lakestate.State{Extent: lake.Extent{
		MinTsMs: l.oldest.UnixMilli(), MaxTsMs: l.oldest.Add(time.Hour).UnixMilli(), Rows: 2,
	}})
	if err != nil {
		panic(err)
	}
	return map[string]any{"Item": map[string]any{
		"pk": map[string]string{"S": "lake"}, "sk": map[string]string{"S": "state"},
		"revision": map[string]string{"N": "1"}, "body": map[string]string{"S": string(state)},
	}}
}

func (l account) describeStack(w http.ResponseWriter, name string) {
	if !l.deployed || name != "orrery-data" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>"+
			"<Message>Stack with id %s does not exist</Message></Error></ErrorResponse>", name)
		return
	}
	outputs := "<member><OutputKey>TableName</OutputKey><OutputValue>table</OutputValue></member>"
	if l.failed {
		outputs = ""
	}
	_, _ = io.WriteString(w, "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>"+outputs+
		"</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>")
}

// configOf returns the configuration of clients of a fake.
func configOf(server *httptest.Server) aws.Config {
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: &server.URL,
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
}

func TestPreflight(t *testing.T) {
	limits := func(functions, rate, burst, queries int) account {
		return account{functions: functions, rate: rate, burst: burst, queries: queries}
	}
	established := limits(1000, 10_000, 5000, 150)
	deployed := established
	deployed.deployed = true
	failed := deployed
	failed.failed = true
	storing := deployed
	storing.oldest = time.Date(2019, 12, 31, 23, 30, 0, 0, time.UTC)
	from := func(year int) Props {
		p := defaults
		p.ProjectionFrom = year
		return p
	}
	reserving := defaults
	reserving.ReserveConcurrency = true
	undivided := defaults
	undivided.PartsAtOnce = 0
	greedy := defaults
	greedy.IngestConcurrency, greedy.RequestsPerSecond, greedy.Burst = 50, 20_000, 6000
	for _, test := range []struct {
		name     string
		account  account
		props    Props
		problems string // their subjects
	}{
		{"the defaults fit an established account", established, defaults, ""},
		{"large questions take all of 10 functions", limits(10, 10_000, 5000, 150), defaults, "Lambda"},
		{"10 functions are enough without parts", limits(10, 10_000, 5000, 150), undivided, ""},
		{"reservations fit an established account", established, reserving, ""},
		{"nothing can be reserved of 10", limits(10, 10_000, 5000, 150), reserving, "Lambda"},
		{"100 must stay unreserved", limits(105, 10_000, 5000, 150), reserving, "Lambda"},
		{"ingest leaves nothing for requests", limits(50, 30_000, 6000, 20_000), greedy, "Lambda"},
		{"the gateway of the account lets less through", limits(1000, 10_000, 5000, 20_000), greedy, "API Gateway"},
		{"Athena runs fewer queries", limits(1000, 10_000, 5000, 20), defaults, "Athena"},
		{
			"the account's own quota of queries counts",
			account{functions: 1000, rate: 10_000, burst: 5000, queries: 20, ownQueries: 100}, defaults, "",
		},
		{"limits that cannot be read are problems", account{denied: true}, defaults, "Lambda, API Gateway, Athena, Lake"},
		{"a deployment without records may begin with any year", deployed, from(2025), ""},
		{"a deployment whose first attempt failed has no records", failed, from(2025), ""},
		{"the tables may begin before the oldest record", storing, defaults, ""},
		{"the tables may begin with the year of the oldest record", storing, from(2019), ""},
		{"the tables may not begin after the oldest record", storing, from(2020), "Lake"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.account)
			defer server.Close()
			var out strings.Builder
			err := preflight(t.Context(), configOf(server), test.props, checksOf["preflight"], &out)
			var problems []string
			remedy := false
			for line := range strings.Lines(out.String()) {
				text, is := strings.CutPrefix(line, "problem  ")
				if remedy && !strings.HasPrefix(line, "         ") {
					t.Errorf("a problem without a remedy:\n%s", &out)
				}
				if remedy = is; is {
					subject, _, _ := strings.Cut(text, ":")
					problems = append(problems, subject)
				}
			}
			diff := cmp.Diff(test.problems, strings.Join(problems, ", "))
			if diff != "" || (err != nil) != (test.problems != "") {
				t.Errorf("problems (-want +got):\n%s\n%v\n%s", diff, err, &out)
			}
		})
	}
}

// TestPreflightNamesTheFirstYear: the remedy has the value that keeps all records.
func TestPreflightNamesTheFirstYear(t *testing.T) {
	server := httptest.NewServer(account{deployed: true, oldest: time.Date(2019, 12, 31, 23, 30, 0, 0, time.UTC)})
	defer server.Close()
	p := defaults
	p.ProjectionFrom = 2020
	f := firstYear(t.Context(), configOf(server), p)
	const text = "the records begin at 2019-12-31 23:30:00 UTC, the tables with the year 2020"
	if f.text != text || !strings.Contains(f.remedy, "-c projection-from=2019.") {
		t.Errorf("%+v", f)
	}
}

func TestPreflightReadsProperties(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cdk.json")
	if err := os.WriteFile(file, []byte(`{"app":"x","context":{"burst":300,"name":"shop"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readArguments([]string{
		"-c", "burst=50", "--context=ingest-concurrency=4", "--profile", "shop", "--region=eu-west-1",
	}, file)
	want := given{map[string]any{"burst": "50", "name": "shop", "ingest-concurrency": "4"}, "shop", "eu-west-1"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(given{})); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
	if got, err := readArguments(nil, filepath.Join(t.TempDir(), "none")); err != nil || len(got.properties) > 0 {
		t.Errorf("without a file: %v, %v", got, err)
	}
	for _, arguments := range [][]string{{"-c", "burst"}, {"deploy"}, {"-x"}} {
		if _, err := readArguments(arguments, file); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	err = runPreflight(t.Context(), "preflight", []string{"-c", "ingest-concurrency=1"}, io.Discard)
	if err == nil || !strings.Contains(fmt.Sprint(err), "property ingest-concurrency") {
		t.Errorf("a property that makes no sense: %v", err)
	}
	err = runPreflight(t.Context(), "preflight", nil, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
	if err := runPreflight(t.Context(), "deploy", nil, io.Discard); err == nil {
		t.Error("an unknown command is accepted")
	}
}

// TestPredeploy: whatever the limits of the account are, a deployment is refused if it would hide stored records, or if
// the check fails.
func TestPredeploy(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	for name, value := range map[string]string{
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "",
		"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
	} {
		t.Setenv(name, value)
	}
	storing := account{deployed: true, oldest: time.Date(2019, 12, 31, 23, 30, 0, 0, time.UTC)}
	for _, test := range []struct {
		name      string
		account   account
		arguments string
		refusal   string // in the output or the error; "" for none
	}{
		{"the tables keep all records", storing, "deploy --all -c projection-from=2019", ""},
		{"the default keeps them", storing, "deploy -e orrery-api --require-approval never", ""},
		{"a later year hides records", storing, "deploy --all -c projection-from=2020", "Deploy with -c projection-from=2019."},
		{"the long form", storing, "deploy --context=projection-from=2020 --all", "the tables with the year 2020"},
		{"after other options", storing, "--ci deploy --context projection-from=2020", "the tables with the year 2020"},
		{"another deployment", storing, "deploy --all -c projection-from=2020 -c name=shop", ""},
		{"the first deployment", account{}, "deploy --all -c projection-from=2020", ""},
		{"no permission", account{denied: true}, "deploy --all", "Allow cloudformation:DescribeStacks"},
		{"templates without properties", storing, "deploy --all --app cdk.out", "properties of templates"},
		{"an invalid property", storing, "deploy --all -c projection-from", "NAME=VALUE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.account)
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL", server.URL)
			var out strings.Builder
			arguments := append(strings.Fields(test.arguments), "--region", "eu-central-1")
			err := runPreflight(t.Context(), predeploy, arguments, &out)
			said := fmt.Sprint(out.String(), err)
			if (err != nil) != (test.refusal != "") || !strings.Contains(said, test.refusal) {
				t.Errorf("said %q, want %q", said, test.refusal)
			}
		})
	}
}

// TestDeployRunsPredeploy: scripts/cdk.sh asks this program before it deploys, and only then. A deployment imports the
// resources that deleted stacks have left.
func TestDeployRunsPredeploy(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is missing")
	}
	const script = "../scripts/cdk.sh"
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^version=(.*)$`).FindSubmatch(text)
	folder := t.TempDir()
	for file, text := range map[string]string{
		"bin/node": "exit 0\n",
		"bin/go":   "echo \"go $*\"\nexit \"$CODE_OF_GO\"\n",
		fmt.Sprintf("orrery/cdk-%s/node_modules/.bin/cdk", version[1]): "echo \"cdk $*\"\n",
	} {
		file = filepath.Join(folder, file)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, arguments, code string
		want                  string // output of the programs, and then of the script
	}{
		{
			"a deployment that is refused", "deploy --all -c burst=2", "1", "go run ./infra predeploy deploy --all -c burst=2\n" +
				"cdk.sh: nothing was deployed; --no-preflight deploys without this check\n",
		},
		{
			"one that is not", "--profile shop deploy -e orrery-api", "0",
			"go run ./infra predeploy --profile shop deploy -e orrery-api\n" +
				"cdk --no-notices --profile shop deploy -e orrery-api --import-existing-resources\n",
		},
		{
			"one without the check", "deploy --no-preflight --all", "1",
			"cdk --no-notices deploy --all --import-existing-resources\n",
		},
		{"another command", "synth -c burst=2", "1", "cdk --no-notices synth -c burst=2\n"},
		{"no command", "", "1", "cdk --no-notices\n"},
		{"only the check", "preflight -c burst=2", "1", "go run ./infra preflight -c burst=2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "bash", append([]string{script}, strings.Fields(test.arguments)...)...)
			path := filepath.Join(folder, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
			command.Env = append(os.Environ(), "PATH="+path, "XDG_CACHE_HOME="+folder, "CODE_OF_GO="+test.code)
			out, err := command.CombinedOutput()
			if diff := cmp.Diff(test.want, string(out)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if runs := strings.Contains(test.want, "cdk --no-notices"); (err == nil) != runs {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
