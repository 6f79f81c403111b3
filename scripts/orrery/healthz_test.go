package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

func TestHealthz(t *testing.T) {
	asked := ""
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	})
	server, secure := httptest.NewServer(up), httptest.NewTLSServer(up)
	defer server.Close()
	defer secure.Close()
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	starting, asked503 := httptest.NewServer(nil), 0
	defer starting.Close()
	starting.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked503++; asked503%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		up(w, r)
	})
	address, port := server.Listener.Addr().String(), server.URL[strings.LastIndex(server.URL, ":"):]
	private := secure.Listener.Addr().String()

	for _, c := range []struct {
		rule           string
		listen, cert   string
		args           []string
		code           int
		stdout, stderr string
	}{
		{rule: "a server that answers", args: []string{server.URL}, stdout: "ok\n"},
		{rule: "the base URL may end in a slash", args: []string{server.URL + "/"}, stdout: "ok\n"},
		{rule: "the server of ORRERY_LISTEN", listen: address, stdout: "ok\n"},
		{rule: "the server of ORRERY_LISTEN on all interfaces", listen: "0.0.0.0" + port, stdout: "ok\n"},
		{rule: "the server of ORRERY_LISTEN without a host", listen: port, stdout: "ok\n"},
		{rule: "its certificate is for another name", listen: private, cert: "tls.pem", stdout: "ok\n"},
		{rule: "other certificates are verified", args: []string{secure.URL}, code: exit.Failed, stderr: "certificate"},
		{rule: "a server that is starting", args: []string{starting.URL}, code: exit.Failed, stderr: "/healthz answers 503"},
		{rule: "it is waited for", args: []string{starting.URL, "--wait=1h"}, stdout: "ok\n"},
		{rule: "another status", args: []string{down.URL}, code: exit.Failed, stderr: "/healthz answers 404"},
		{rule: "no server", listen: "127.0.0.1:1", code: exit.Failed, stderr: "the server is not up"},
		{rule: "no URL", args: []string{"localhost:8080"}, code: exit.Usage, stderr: "write http://HOST:PORT"},
		{rule: "no address", listen: "8080", code: exit.Usage, stderr: "ORRERY_LISTEN"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			asked = ""
			t.Setenv("ORRERY_LISTEN", c.listen)
			t.Setenv("ORRERY_TLS_CERT", c.cert)
			stdout, stderr, code := inProcess(t, append([]string{"healthz"}, c.args...)...)
			if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, stdout, stderr)
			}
			if code == exit.Done && asked != "/healthz" {
				t.Errorf("the server was asked for %q", asked)
			}
		})
	}
}
