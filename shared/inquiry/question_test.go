package inquiry_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/search"
)

// source answers with the text of a route, or with its error.
type source map[string]any

func (s source) Ask(_ context.Context, route string, _ map[string]string) ([]byte, error) {
	if err, ok := s[route].(error); ok {
		return nil, err
	}
	return []byte(s[route].(string)), nil
}

// TestAsk: the metas of answers are joined, the first error is the error, and a question may be optional.
func TestAsk(t *testing.T) {
	failed := errors.New("failed")
	from := source{
		"one":   `{"data":{"results":[1,2]},"meta":{"bytes_scanned":3,"segment_seconds":60}}`,
		"two":   `{"data":{"results":["a"]},"meta":{"bytes_scanned":4}}`,
		"large": fault.New(fault.EngineLimit, "too large"),
		"down":  failed,
	}
	var numbers []int
	var about search.Meta
	into := func(text json.RawMessage) error { return json.Unmarshal(text, &numbers) }
	nothing := func(json.RawMessage) error { return nil }
	one := inquiry.Question{Route: "one", Into: into, About: &about}
	optional := inquiry.Question{Route: "large", Into: nothing, Optional: true}

	var m inquiry.Meta
	if err := m.Ask(t.Context(), from, 2, one, inquiry.Question{Route: "two", Into: nothing}, optional); err != nil {
		t.Fatal(err)
	}
	if joined := m.Joined(0); joined.BytesScanned != 7 || len(numbers) != 2 || about.SegmentSeconds != 60 || about.BytesScanned != 3 {
		t.Errorf("%d bytes, %v, %+v", joined.BytesScanned, numbers, about)
	}
	for name, test := range map[string]struct {
		list []inquiry.Question
		want error
	}{
		"the first error":       {[]inquiry.Question{one, {Route: "down", Into: nothing}, {Route: "large", Into: nothing}}, failed},
		"an error of an answer": {[]inquiry.Question{{Route: "two", Into: into}}, nil},
		"optional":              {[]inquiry.Question{{Route: "down", Into: nothing, Optional: true}}, failed},
	} {
		var m inquiry.Meta
		if err := m.Ask(t.Context(), from, 0, test.list...); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := m.Ask(ended, from, 0, one); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// dry answers each question with an estimate, if it is a dry run.
type dry struct{ source }

func (d dry) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if params["dry_run"] != "true" || params["filters"] != "f" {
		return nil, errors.New("the question is no dry run")
	}
	return d.source.Ask(ctx, route, params)
}

// TestEstimate: the estimates of questions are added, without their results, and each answer must have one.
func TestEstimate(t *testing.T) {
	from := dry{source{
		"one":  `{"data":{"results":[]},"meta":{"dry_run":true,"estimate":{"bytes":{"low":1,"high":3}}}}`,
		"none": `{"data":{"results":[]},"meta":{"dry_run":true}}`,
	}}
	q := inquiry.Question{Route: "one", Params: map[string]string{"filters": "f"}, Into: func(json.RawMessage) error {
		return errors.New("an estimate has no results")
	}}
	var m inquiry.Meta
	if err := m.Estimate(t.Context(), from, 0, q, q); err != nil {
		t.Fatal(err)
	}
	if bytes := m.Estimated(0).Estimate.Bytes; bytes.Low != 2 || bytes.High != 6 || len(q.Params) != 1 {
		t.Errorf("%+v, parameters %v", bytes, q.Params)
	}
	without := q
	without.Route = "none"
	if err := m.Estimate(t.Context(), from, 0, q, without); err == nil {
		t.Error("an answer without an estimate is none")
	}
}
