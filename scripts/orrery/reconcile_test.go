package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// lambdaServer starts a server that answers invocations, and has the command use it. The returned function returns the
// path and the body of the last request.
func lambdaServer(t *testing.T, status int, header http.Header, answer string) (last func() string) {
	t.Helper()
	var path, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, body = r.URL.Path, string(text)
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	configureAWS(t, map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
	})
	return func() string { return path + " " + body }
}

func TestReconcileCommand(t *testing.T) {
	for _, test := range []struct {
		name, args, answer string
		want, request      string
	}{
		{
			"all logs have arrived", "--stack shop", `{"Listed":12,"Arrived":11,"Recent":1,"Elapsed":2500000000}`,
			"compared 12 logs in 2.5 s: 11 arrived, 1 may be on their way\nsent 0 lost logs again\n",
			`/2015-03-31/functions/shop-reconcile/invocations {"limit":0,"min_age":"6h0m0s"}`,
		},
		{
			"logs are lost", "--stack shop --limit 3 --min-age 0s",
			`{"Listed":12,"Arrived":1,"Lost":3,"Earlier":2,"EarlierSent":1,"Left":5,"Unfinished":true}`,
			"compared 12 logs in 0.0 s: 1 arrived, 0 may be on their way\nsent 3 lost logs again\n" +
				"sent 2 logs again that an earlier version may have imported; of those sent before, 1 did not arrive\n" +
				"left 5 logs for the next run, because of the limit\n" +
				"the time was up before all logs were compared; the next run continues\n",
			`/2015-03-31/functions/shop-reconcile/invocations {"limit":3,"min_age":"0s"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			last := lambdaServer(t, http.StatusOK, nil, test.answer)
			stdout, stderr, code := orrery(t, "", append([]string{"reconcile"}, strings.Fields(test.args)...)...)
			if code != exit.Done || stdout != test.want || stderr != "" {
				t.Errorf("exit %d, output %q, error %q", code, stdout, stderr)
			}
			if last() != test.request {
				t.Errorf("the request is %s, want %s", last(), test.request)
			}
		})
	}
}

func TestReconcileCommandErrors(t *testing.T) {
	failed := http.Header{"X-Amz-Function-Error": {"Unhandled"}}
	unknown := http.Header{"X-Amzn-Errortype": {"ResourceNotFoundException"}}
	for _, test := range []struct {
		name, args string
		status     int
		header     http.Header
		answer     string
		code       int
		want       string
	}{
		{"the function fails", "--stack shop", 200, failed, `{"errorMessage":"the table is down"}`, exit.Failed,
			`the function shop-reconcile failed: {"errorMessage":"the table is down"}`},
		{"there is no such deployment", "--stack shop", 404, unknown, `{"Message":"Function not found"}`, exit.Failed,
			"there is no function shop-reconcile in this account and region"},
		{"a data folder has nothing to reconcile", "", 500, nil, "", exit.Usage, "import the files again"},
		{"a negative limit", "--stack shop --limit=-1", 500, nil, "", exit.Usage, "must not be negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lambdaServer(t, test.status, test.header, test.answer)
			_, stderr, code := orrery(t, "", append([]string{"reconcile"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d, error %q", code, stderr)
			}
		})
	}
	t.Run("the region is unknown", func(t *testing.T) {
		configureAWS(t, nil)
		if _, stderr, code := orrery(t, "", "reconcile", "--stack", "shop"); code != exit.Failed ||
			!strings.Contains(stderr, "set AWS_REGION") {
			t.Errorf("exit %d, error %q", code, stderr)
		}
	})
}
