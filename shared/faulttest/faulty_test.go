package faulttest_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/faulttest"
)

// answer is what a client saw of a request, and what the server had to do for it.
type answer struct {
	Status  int
	Body    string
	Broken  bool
	Carried []string // bodies the server got
}

func ask(t *testing.T, fault faulttest.Fault, target string) (a answer) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a.Carried = append(a.Carried, string(body))
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
		a.Broken = errors.Is(err, faulttest.ErrBroken)
		return a
	}
	body, err := io.ReadAll(response.Body)
	a.Broken = err != nil
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	a.Status, a.Body = response.StatusCode, string(body)
	return a
}

func TestFaults(t *testing.T) {
	once := []string{"body"}
	for name, test := range map[string]struct {
		fault  faulttest.Fault
		target string
		want   answer
	}{
		"none":          {faulttest.None, "", answer{Status: 200, Body: "0123456789", Carried: once}},
		"throttle":      {faulttest.Throttle, "", answer{Status: 503, Body: "<Error><Code>SlowDown</Code><Message>a fault on demand</Message></Error>"}},
		"throttle_json": {faulttest.Throttle, "X", answer{Status: 400, Body: `{"__type":"ThrottlingException","message":"a fault on demand"}`}},
		"fail":          {faulttest.Fail, "", answer{Status: 500, Body: "<Error><Code>InternalError</Code><Message>a fault on demand</Message></Error>"}},
		"break":         {faulttest.Break, "", answer{Broken: true}},
		"lose":          {faulttest.Lose, "", answer{Broken: true, Carried: once}},
		"mislead":       {faulttest.Mislead, "X", answer{Status: 500, Body: `{"__type":"InternalError","message":"a fault on demand"}`, Carried: once}},
		"duplicate":     {faulttest.Duplicate, "", answer{Status: 200, Body: "0123456789", Carried: []string{"body", "body"}}},
		"delay":         {faulttest.Delay, "", answer{Broken: true, Carried: once}},
		"cut":           {faulttest.Cut, "", answer{Status: 200, Body: "01234", Broken: true, Carried: once}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ask(t, test.fault, test.target)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	run := func(s faulttest.Script) (list []faulttest.Fault) {
		for n := range 6 {
			list = append(list, s(n, nil))
		}
		return list
	}
	if diff := cmp.Diff([]faulttest.Fault{0, 0, faulttest.Fail, 0, 0, 0}, run(faulttest.At(2, faulttest.Fail))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]faulttest.Fault{0, 0, 0, 0, faulttest.Lose, faulttest.Lose}, run(faulttest.From(4, faulttest.Lose))); diff != "" {
		t.Error(diff)
	}
	sometimes := faulttest.Sometimes(1, 0.5, faulttest.Fail, faulttest.Lose)
	harmed := map[faulttest.Fault]int{}
	for n := range 1000 {
		fault := sometimes(n, nil)
		harmed[fault]++
		if again := faulttest.Sometimes(1, 0.5, faulttest.Fail, faulttest.Lose)(n, nil); again != fault {
			t.Fatalf("request %d: %v, then %v", n, fault, again)
		}
	}
	if harmed[faulttest.None] < 400 || harmed[faulttest.Fail] < 150 || harmed[faulttest.Lose] < 150 {
		t.Errorf("%v", harmed)
	}
}
