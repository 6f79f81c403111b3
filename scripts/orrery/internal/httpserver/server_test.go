package httpserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRefusedBodies: a proxy that sends a whole body before it reads the answer gets the answer of a handler that does not
// read the body. The connection can be used again.
func TestRefusedBodies(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no")
	})
	server := httptest.NewUnstartedServer(refuse)
	server.Config = New(refuse, slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	answers := bufio.NewReader(connection)
	for range 2 {
		_, err := fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", maxRest)
		if err == nil {
			_, err = connection.Write(bytes.Repeat([]byte{'x'}, maxRest))
		}
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusForbidden || string(body) != "no" {
			t.Errorf("%s, %q, %v", answer.Status, body, err)
		}
	}
}
