package faulttest_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// result is the response to a request that the client got, and the requests that the server got.
type result struct {
	Status   int
	Body     string
	Broken   bool     // the connection broke
	Received []string // the bodies of requests that the server got
}

// put sends one PUT request with a fault. target is its X-Amz-Target header, if not empty.
func put(t *testing.T, fault faulttest.Fault, target string) (res result) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		res.Received = append(res.Received, string(body))
		if _, err := io.WriteString(w, "0123456789"); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	network := &faulttest.Transport{Script: faulttest.At(0, fault)}
	defer func() {
		if n, err := network.Deliver(); err != nil || (n == 1) != (fault == faulttest.Delay) {
			t.Errorf("%d requests were delayed, %v", n, err)
		}
	}()
	client := http.Client{Transport: network}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	if target != "" {
		request.Header.Set("X-Amz-Target", target)
	}
	response, err := client.Do(request)
	if err != nil {
		res.Broken = errors.Is(err, faulttest.ErrBroken)
		return res
	}
	body, err := io.ReadAll(response.Body)
	res.Broken = err != nil
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	res.Status, res.Body = response.StatusCode, string(body)
	return res
}

func TestFaults(t *testing.T) {
	const (
		slowDownXML = "<Error><Code>SlowDown</Code><Message>a fault on demand</Message></Error>"
		errorXML    = "<Error><Code>InternalError</Code><Message>a fault on demand</Message></Error>"
		throttled   = `{"__type":"ThrottlingException","message":"a fault on demand"}`
		errorJSON   = `{"__type":"InternalError","message":"a fault on demand"}`
	)
	once, twice := []string{"body"}, []string{"body", "body"}
	for _, test := range []struct {
		name   string
		fault  faulttest.Fault
		target string
		want   result
	}{
		{"none", faulttest.None, "", result{Status: 200, Body: "0123456789", Received: once}},
		{"throttle", faulttest.Throttle, "", result{Status: 503, Body: slowDownXML}},
		{"throttle with JSON", faulttest.Throttle, "X", result{Status: 400, Body: throttled}},
		{"fail", faulttest.Fail, "", result{Status: 500, Body: errorXML}},
		{"break", faulttest.Break, "", result{Broken: true}},
		{"lose", faulttest.Lose, "", result{Broken: true, Received: once}},
		{"fail late", faulttest.FailLate, "X", result{Status: 500, Body: errorJSON, Received: once}},
		{"duplicate", faulttest.Duplicate, "", result{Status: 200, Body: "0123456789", Received: twice}},
		{"delay", faulttest.Delay, "", result{Broken: true, Received: once}},
		{"cut", faulttest.Cut, "", result{Status: 200, Body: "01234", Broken: true, Received: once}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, put(t, test.fault, test.target)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	check := func(script faulttest.Script, want ...faulttest.Fault) {
		t.Helper()
		var got []faulttest.Fault
		for n := range want {
			got = append(got, script(n, nil))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check(faulttest.At(2, faulttest.Fail), 0, 0, faulttest.Fail, 0, 0, 0)
	check(faulttest.From(4, faulttest.Lose), 0, 0, 0, 0, faulttest.Lose, faulttest.Lose)
	sometimes := faulttest.Sometimes(1, 0.5, faulttest.Fail, faulttest.Lose)
	counts := map[faulttest.Fault]int{}
	for n := range 1000 {
		fault := sometimes(n, nil)
		counts[fault]++
		if again := faulttest.Sometimes(1, 0.5, faulttest.Fail, faulttest.Lose)(n, nil); again != fault {
			t.Fatalf("request %d: %v, then %v", n, fault, again)
		}
	}
	if counts[faulttest.None] < 400 || counts[faulttest.Fail] < 150 || counts[faulttest.Lose] < 150 {
		t.Errorf("1000 requests had the faults %v", counts)
	}
}
