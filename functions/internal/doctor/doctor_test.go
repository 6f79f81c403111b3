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

func TestReportSaysEveryCheckAndHowToMend(t *testing.T) {
	well := doctor.Check{Name: "a", Mend: "-", Look: func(context.Context) (string, error) { return "it is there", nil }}
	ill := doctor.Check{Name: "b", Mend: "put it there", Look: func(context.Context) (string, error) { return "half of it", errors.New("it is gone") }}
	broken := doctor.Check{Name: "c", Mend: "mend us", Look: func(context.Context) (string, error) { panic("nil map") }}
	got := doctor.Examine(t.Context(), "topx", "1.2.3", []doctor.Check{well, ill, broken})
	want := doctor.Report{Function: "topx", Version: "1.2.3", Checks: []doctor.Line{
		{Check: "a", Status: doctor.Well, Found: "it is there"},
		{Check: "b", Status: doctor.Problem, Found: "it is gone", Mend: "put it there"},
		{Check: "c", Status: doctor.Problem, Found: "the check itself broke: nil map", Mend: "mend us"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !doctor.Examine(t.Context(), "topx", "1", []doctor.Check{well}).OK {
		t.Error("all is well, and the report says it is not")
	}
}

// answers is a DynamoDB that always answers the same.
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
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), HTTPClient: a, Retryer: aws.NopRetryer{},
	})
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestTable(t *testing.T) {
	for name, test := range map[string]struct {
		answers answers
		status  string
		found   string
	}{
		"there":      {answers{status: 200, body: `{}`}, doctor.Well, "the table orrery can be read"},
		"not_there":  {answers{status: 400, body: `{"__type":"x#ResourceNotFoundException","message":"secret"}`}, doctor.Problem, "the table orrery does not exist"},
		"not_ours":   {answers{status: 400, body: `{"__type":"x#AccessDeniedException","message":"secret"}`}, doctor.Problem, "the function's role does not allow to read the table orrery"},
		"throttling": {answers{status: 400, body: `{"__type":"x#ThrottlingException"}`}, doctor.Problem, "the table orrery answered with ThrottlingException"},
	} {
		t.Run(name, func(t *testing.T) {
			check := doctor.Table(client(test.answers), "orrery", "keys")
			line := doctor.Examine(t.Context(), "", "", []doctor.Check{check}).Checks[0]
			if line.Status != test.status || line.Found != test.found || (line.Mend != "") != (test.status == doctor.Problem) {
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
		"agrees": {now.Add(-59 * time.Second), "the clock agrees with DynamoDB's: 2026-01-02 03:04:05 UTC"},
		"slow":   {now.Add(61 * time.Second), "the clock is 1m1s off: here it is 2026-01-02 03:04:05, at DynamoDB 2026-01-02 03:05:06"},
		"fast":   {now.Add(-time.Hour), "the clock is 1h0m0s off: here it is 2026-01-02 03:04:05, at DynamoDB 2026-01-02 02:04:05"},
	} {
		t.Run(name, func(t *testing.T) {
			a := answers{status: 200, body: `{}`, header: http.Header{"Date": {test.date.Format(http.TimeFormat)}}}
			check := doctor.Clock(client(a), "orrery", "keys", func() time.Time { return now })
			if line := doctor.Examine(t.Context(), "", "", []doctor.Check{check}).Checks[0]; line.Found != test.found {
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
		"some":    {keyList{usable, revoked, usable}, "2 of the API keys can be used"},
		"revoked": {keyList{revoked}, "none of the API keys can be used; there are 1"},
		"none":    {nil, "none of the API keys can be used; there are 0"},
	} {
		t.Run(name, func(t *testing.T) {
			check := doctor.Keys(test.keys, func() time.Time { return now })
			if line := doctor.Examine(t.Context(), "", "", []doctor.Check{check}).Checks[0]; line.Found != test.found {
				t.Errorf("%+v", line)
			}
		})
	}
}
