package api

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// TestTransferEncoding: a request whose end a proxy may see elsewhere is refused, and the rest of its connection is
// not read as another request.
func TestTransferEncoding(t *testing.T) {
	server := newTestServer(t)
	const second = "GET /api/v4.0/data/fields HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, test := range map[string]struct {
		header  string
		refused bool
	}{
		"both":                {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", true},
		"both, the other way": {"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", true},
		"Transfer-Encoding":   {"Transfer-Encoding: chunked\r\n", true},
		"another coding":      {"Content-Length: 4\r\nTransfer-Encoding: identity\r\n", false}, // 501 of net/http
		"Content-Length":      {"Content-Length: 5\r\n", false},
		"different lengths":   {"Content-Length: 4\r\nContent-Length: 5\r\n", false}, // 400 of net/http
	} {
		t.Run(name, func(t *testing.T) {
			connection, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = connection.Close() }()
			first := "POST /api/v4.0/data/timeline/parse HTTP/1.1\r\nHost: localhost\r\n" + test.header + "\r\n0\r\n\r\n"
			last := strings.Replace(second, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
			if _, err := fmt.Fprint(connection, first, second, last); err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(connection) // a connection may be reset after the answer
			answers := strings.Count(string(text), "HTTP/1.1 ")
			message := strings.Contains(string(text), "Transfer-Encoding is not supported here")
			alone := answers == 1 && strings.HasPrefix(string(text), "HTTP/1.1 400 ")
			if message != test.refused || test.refused && !alone {
				t.Errorf("%d answers:\n%s", answers, text)
			}
			if name == "Content-Length" && answers != 3 {
				t.Errorf("%d answers, want 3:\n%s", answers, text)
			}
		})
	}
}
