package wire

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/console"
)

// TestConsoleBelowAStage: the function console answers with the page and its files below the path of a stage, with the
// policy of the page.
func TestConsoleBelowAStage(t *testing.T) {
	f, err := Console(lookupIn(nil), function.SetLog("console", new(bytes.Buffer)))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(resource, path string) events.APIGatewayProxyResponse {
		t.Helper()
		event := events.APIGatewayProxyRequest{HTTPMethod: "GET", Resource: resource, Path: path}
		event.RequestContext.Stage = "live"
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := f.Invoke(t.Context(), payload)
		if err != nil {
			t.Fatal(err)
		}
		var response events.APIGatewayProxyResponse
		if err := json.Unmarshal(answer, &response); err != nil {
			t.Fatal(err)
		}
		return response
	}
	names, err := fs.Glob(console.Files, "*-????????.js")
	if err != nil || len(names) < 2 {
		t.Fatalf("the console has the scripts %q: %v", names, err)
	}
	for _, name := range append(names, "index.html") {
		t.Run(name, func(t *testing.T) {
			want, err := fs.ReadFile(console.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			got := ask("/console/{file}", "/live/console/"+name)
			if name == "index.html" {
				got = ask("/", "/live/")
			}
			policy := strings.Join(got.MultiValueHeaders["Content-Security-Policy"], "")
			if got.StatusCode != 200 || got.Body != string(want) || !strings.Contains(policy, "require-trusted-types-for 'script'") {
				t.Errorf("%d with %d bytes, want %d; the policy is %q", got.StatusCode, len(got.Body), len(want), policy)
			}
		})
	}
}

func TestOnlyItsEventRunsTheDoctor(t *testing.T) {
	var logs bytes.Buffer
	f, err := NotFound(lookupIn(nil), function.SetLog("not-found", &logs))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := f.Invoke(t.Context(), []byte(` { "doctor" : true } `))
	if err != nil {
		t.Fatal(err)
	}
	var report doctor.Report
	if err := json.Unmarshal(answer, &report); err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Function != "not-found" || len(report.Checks) != 1 {
		t.Errorf("%s", answer)
	}
	for _, payload := range []string{`{"doctor":false}`, `{"doctor":"true"}`, `{"other":1}`, `[]`} {
		if answer, err := f.Invoke(t.Context(), []byte(payload)); err == nil {
			t.Errorf("%s: %s", payload, answer)
		}
	}
	const request = `{"httpMethod":"GET","path":"/x","headers":{"x":"\"doctor\": true"},` +
		`"requestContext":{"requestId":"c6af9ac6-7b61"}}`
	answer, err = f.Invoke(t.Context(), []byte(request))
	if err != nil || !strings.Contains(string(answer), `"statusCode":404`) {
		t.Errorf("%s %v", answer, err)
	}
	for _, want := range []string{`"function":"not-found"`, `"request_id":"c6af9ac6-7b61"`} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("the log lacks %s: %s", want, logs.String())
		}
	}
}
