package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/report/destination"
)

// limited is a context whose time is over when its channel is closed.
type limited struct {
	context.Context
	over chan struct{}
}

func (l limited) Done() <-chan struct{} { return l.over }

func (l limited) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// drip writes single bytes, calls over, and waits until the other side ends the connection.
func drip(to io.ReadWriter, over func()) {
	for range 10 {
		if _, err := io.WriteString(to, "2"); err != nil {
			break
		}
	}
	over()
	_, _ = io.Copy(io.Discard, to)
}

// TestMailServersThatDoNotEnd: a mail server that hangs, or sends its answers byte by byte, has the time of a mail,
// after any number of answers.
func TestMailServersThatDoNotEnd(t *testing.T) {
	answers := []string{"220 ready\r\n", "250 hello\r\n", "250 sender\r\n", "250 receiver\r\n", "354 go on\r\n"}
	for n := range len(answers) + 1 {
		for _, hangs := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d answers, hangs %t", n, hangs), func(t *testing.T) {
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				ctx := limited{t.Context(), make(chan struct{})}
				over := func() { close(ctx.over) }
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					connection, err := listener.Accept()
					if err != nil {
						return
					}
					defer func() { _ = connection.Close() }()
					_, _ = io.WriteString(connection, strings.Join(answers[:n], "")) // the client reads them one by one
					if !hangs {
						drip(connection, over)
						return
					}
					over()
					_, _ = io.Copy(io.Discard, connection)
				}()
				s := Sender{Settings: destination.Settings{Mail: &destination.Mail{
					Server: listener.Addr().String(), From: "a@example.com", Domains: []string{"example.com"},
				}}}
				_, err = s.Deliver(ctx, to("b@example.com"), mailFiles)
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrRefused) {
					t.Errorf("%v", err)
				}
				if err := listener.Close(); err != nil {
					t.Error(err)
				}
				<-ended
			})
		}
	}
}

// TestWebhooksThatDoNotEnd: a webhook that sends its answer byte by byte has the time of an answer.
func TestWebhooksThatDoNotEnd(t *testing.T) {
	for _, begin := range []string{"", "HTTP/1.1 200 OK\r\nX-Slow: "} {
		t.Run(begin, func(t *testing.T) {
			h := startHook(t)
			ctx := limited{t.Context(), make(chan struct{})}
			h.answer = func(w http.ResponseWriter, _ *http.Request) {
				connection, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = connection.Close() }()
				if _, err := io.WriteString(connection, begin); err != nil {
					t.Error(err)
				}
				drip(connection, func() { close(ctx.over) })
			}
			err := h.deliver(ctx, destination.Webhook{URL: secret(t, h.url)})
			if err == nil || !strings.Contains(err.Error(), "no answer in time") {
				t.Errorf("%v", err)
			}
		})
	}
}
