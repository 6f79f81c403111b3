package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
)

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
