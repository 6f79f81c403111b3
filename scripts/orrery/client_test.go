package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestEmptyKeyOfAClient: a key that is empty on the command line is refused by every command that sends keys, and
// nothing is sent. An empty variable is like none.
func TestEmptyKeyOfAClient(t *testing.T) {
	var sent []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"planets":[]}`)
	}))
	defer s.Close()
	for _, command := range []string{
		"query stats x", "query topx x", "query logs x", "report list", "status", "planet get prod", "filter list",
	} {
		for _, key := range []string{"", " "} {
			_, stderr, code := inProcess(t, append(strings.Fields(command), "--url", s.URL, "--api-key", key)...)
			const want = "--api-key is empty: set it to a key of the server, or leave it out to send none"
			if code != exit.Usage || !strings.Contains(stderr, want) || len(sent) > 0 {
				t.Errorf("%s with the key %q: exit code %d, sent %q\n%s", command, key, code, sent, stderr)
			}
		}
	}
	for _, test := range []struct{ variable, flag, want string }{
		{"", "", ""}, {"from the variable", "", "from the variable"}, {"", "from the flag", "from the flag"},
	} {
		sent = nil
		t.Setenv("ORRERY_API_KEY", test.variable)
		args := []string{"planet", "get", "prod", "--url", s.URL}
		if test.flag != "" {
			args = append(args, "--api-key", test.flag)
		}
		_, stderr, code := inProcess(t, args...)
		if code != exit.Done || len(sent) != 1 || sent[0] != test.want {
			t.Errorf("variable %q, flag %q: exit code %d, sent %q\n%s", test.variable, test.flag, code, sent, stderr)
		}
	}
}
