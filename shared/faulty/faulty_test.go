package faulty_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/faulty"
)

// answer is what a client saw of a request, and what the server had to do for it.
type answer struct {
	Status  int
	Body    string
	Broken  bool
	Carried []string // bodies the server got
}

func ask(t *testing.T, fault faulty.Fault, target string) (a answer) {
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
	network := &faulty.Transport{Script: faulty.At(0, fault)}
	defer func() {
		if n, err := network.Deliver(); err != nil || (n == 1) != (fault == faulty.Delay) {
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
		a.Broken = errors.Is(err, faulty.ErrBroken)
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
		fault  faulty.Fault
		target string
		want   answer
	}{
		"none":          {faulty.None, "", answer{Status: 200, Body: "0123456789", Carried: once}},
		"throttle":      {faulty.Throttle, "", answer{Status: 503, Body: "<Error><Code>SlowDown</Code><Message>a fault on demand</Message></Error>"}},
		"throttle_json": {faulty.Throttle, "X", answer{Status: 400, Body: `{"__type":"ThrottlingException","message":"a fault on demand"}`}},
		"fail":          {faulty.Fail, "", answer{Status: 500, Body: "<Error><Code>InternalError</Code><Message>a fault on demand</Message></Error>"}},
		"break":         {faulty.Break, "", answer{Broken: true}},
		"lose":          {faulty.Lose, "", answer{Broken: true, Carried: once}},
		"mislead":       {faulty.Mislead, "X", answer{Status: 500, Body: `{"__type":"InternalError","message":"a fault on demand"}`, Carried: once}},
		"duplicate":     {faulty.Duplicate, "", answer{Status: 200, Body: "0123456789", Carried: []string{"body", "body"}}},
		"delay":         {faulty.Delay, "", answer{Broken: true, Carried: once}},
		"cut":           {faulty.Cut, "", answer{Status: 200, Body: "01234", Broken: true, Carried: once}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ask(t, test.fault, test.target)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	run := func(s faulty.Script) (list []faulty.Fault) {
		for n := range 6 {
			list = append(list, s(n, nil))
		}
		return list
	}
	if diff := cmp.Diff([]faulty.Fault{0, 0, faulty.Fail, 0, 0, 0}, run(faulty.At(2, faulty.Fail))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]faulty.Fault{0, 0, 0, 0, faulty.Lose, faulty.Lose}, run(faulty.From(4, faulty.Lose))); diff != "" {
		t.Error(diff)
	}
	sometimes := faulty.Sometimes(1, 0.5, faulty.Fail, faulty.Lose)
	harmed := map[faulty.Fault]int{}
	for n := range 1000 {
		fault := sometimes(n, nil)
		harmed[fault]++
		if again := faulty.Sometimes(1, 0.5, faulty.Fail, faulty.Lose)(n, nil); again != fault {
			t.Fatalf("request %d: %v, then %v", n, fault, again)
		}
	}
	if harmed[faulty.None] < 400 || harmed[faulty.Fail] < 150 || harmed[faulty.Lose] < 150 {
		t.Errorf("%v", harmed)
	}
}
