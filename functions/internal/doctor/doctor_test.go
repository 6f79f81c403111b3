package doctor_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/shared/keys"
)

func TestExamineReportsEveryCheckAndItsRemedy(t *testing.T) {
	good := doctor.Check{
		Name:   "a",
		Remedy: "-",
		Run:    func(context.Context) (string, error) { return "it exists", nil },
	}
	bad := doctor.Check{
		Name:   "b",
		Remedy: "create it",
		Run:    func(context.Context) (string, error) { return "half of it", errors.New("it is gone") },
	}
	broken := doctor.Check{
		Name:   "c",
		Remedy: "fix the check",
		Run:    func(context.Context) (string, error) { panic("nil map") },
	}
	got := doctor.Examine(t.Context(), "topx", "1.2.3", []doctor.Check{good, bad, broken})
	want := doctor.Report{Function: "topx", Version: "1.2.3", Checks: []doctor.Line{
		{Check: "a", Status: doctor.OK, Found: "it exists"},
		{Check: "b", Status: doctor.Problem, Found: "it is gone", Remedy: "create it"},
		{Check: "c", Status: doctor.Problem, Found: "the check itself panicked: nil map", Remedy: "fix the check"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !doctor.Examine(t.Context(), "topx", "1", []doctor.Check{good}).OK {
		t.Error("the report is not OK, though every check is")
	}
}

// answers is a DynamoDB that always returns the same response.
type answers struct {
	status int
	body   string
	header http.Header
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: a.header, Body: http.NoBody, Request: r}, nil
}

func (a answers) Do(r *http.Request) (*http.Response, error) {
	w, err := a.RoundTrip(r)
	w.Body = body{strings.NewReader(a.body)}
	return w, err
}

type body struct{ *strings.Reader }

func (body) Close() error { return nil }

func client(a answers) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		HTTPClient:  a,
		Retryer:     aws.NopRetryer{},
	})
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestTable(t *testing.T) {
	failure := func(body string) answers { return answers{status: 400, body: body} }
	for _, test := range []struct {
		name    string
		answers answers
		status  string
		found   string
	}{
		{
			name:    "the table can be read",
			answers: answers{status: 200, body: `{}`},
			status:  doctor.OK,
			found:   "the table orrery can be read",
		},
		{
			name:    "the table does not exist",
			answers: failure(`{"__type":"x#ResourceNotFoundException","message":"secret"}`),
			status:  doctor.Problem,
			found:   "the table orrery does not exist",
		},
		{
			name:    "access is denied",
			answers: failure(`{"__type":"x#AccessDeniedException","message":"secret"}`),
			status:  doctor.Problem,
			found:   "the function's role does not allow reading the table orrery",
		},
		{
			name:    "requests are throttled",
			answers: failure(`{"__type":"x#ThrottlingException"}`),
			status:  doctor.Problem,
			found:   "the table orrery answered with ThrottlingException",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := doctor.Table(client(test.answers), "orrery", "keys")
			line := look(t, check)
			wantRemedy := test.status == doctor.Problem
			if line.Status != test.status || line.Found != test.found || (line.Remedy != "") != wantRemedy {
				t.Errorf("%+v", line)
			}
		})
	}
}

func TestClock(t *testing.T) {
	for name, test := range map[string]struct {
		date  time.Time
		found string
	}{
		"agrees": {
			now.Add(-59 * time.Second),
			"the clock agrees with DynamoDB's: 2026-01-02 03:04:05 UTC",
		},
		"slow": {
			now.Add(61 * time.Second),
			"the clock is 1m1s off: it shows 2026-01-02 03:04:05, the clock of DynamoDB 2026-01-02 03:05:06",
		},
		"fast": {
			now.Add(-time.Hour),
			"the clock is 1h0m0s off: it shows 2026-01-02 03:04:05, the clock of DynamoDB 2026-01-02 02:04:05",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := answers{status: 200, body: `{}`, header: http.Header{"Date": {test.date.Format(http.TimeFormat)}}}
			check := doctor.Clock(client(a), "orrery", "keys", func() time.Time { return now })
			if line := look(t, check); line.Found != test.found {
				t.Errorf("%+v", line)
			}
		})
	}
}

type keyList []keys.Key

func (k keyList) List(context.Context) ([]keys.Key, error) { return k, nil }

func TestKeys(t *testing.T) {
	usable, revoked := keys.Key{Created: now}, keys.Key{Created: now, Revoked: now.Add(-time.Second)}
	for name, test := range map[string]struct {
		keys  keyList
		found string
	}{
		"some keys are usable": {keyList{usable, revoked, usable}, "2 API keys are usable"},
		"one key is usable":    {keyList{usable, revoked}, "1 API key is usable"},
		"all keys are revoked": {keyList{revoked}, "no API key is usable; 1 exist"},
		"there are no keys":    {nil, "no API key is usable; 0 exist"},
	} {
		t.Run(name, func(t *testing.T) {
			check := doctor.Keys(test.keys, func() time.Time { return now })
			if line := look(t, check); line.Found != test.found {
				t.Errorf("%+v", line)
			}
		})
	}
}
