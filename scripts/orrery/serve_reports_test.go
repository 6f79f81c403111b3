package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/report/delivery/deliverytest"
)

// minuteServer is a running `orrery serve` in this process, of which a test makes the minutes.
type minuteServer struct {
	t       *testing.T
	minutes chan time.Time
	log     *lockedBuffer
	stop    context.CancelFunc
	ended   chan int // the exit code
}

// serveAt starts a server over a folder at a time.
func serveAt(t *testing.T, data string, now time.Time) *minuteServer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-over
	})
	s := &minuteServer{t: t, minutes: make(chan time.Time), log: &lockedBuffer{}, stop: stop, ended: make(chan int, 1)}
	args := []string{"serve", "--data", data, "--no-demo", "--listen", "127.0.0.1:0"}
	k := clock{func() time.Time { return now }, func() <-chan time.Time { return s.minutes }}
	go func() {
		defer close(over)
		s.ended <- runAt(ctx, args, terminal.Console{In: strings.NewReader(""), Out: io.Discard, Err: s.log}, k)
	}()
	return s
}

// minute makes a minute. It returns when the server begins to run the reports, which it does one minute after the
// other.
func (s *minuteServer) minute() {
	s.t.Helper()
	select {
	case s.minutes <- time.Time{}:
	case code := <-s.ended:
		s.t.Fatalf("the server ended with %d:\n%s", code, s.log)
	}
}

// end interrupts the server and waits for its end.
func (s *minuteServer) end() {
	s.t.Helper()
	s.stop()
	if code := <-s.ended; code != exit.Done {
		s.t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
}

// queueDaily schedules a report, and has a server queue it when it is due. It returns a time when the report no longer
// waits for late logs, and before it is due again.
func queueDaily(t *testing.T, data string, to ...string) time.Time {
	t.Helper()
	args := append([]string{"report", "put", "daily", "--data", data, "--period", "day", "--at", "07:00"}, to...)
	if out, stderr, code := inProcess(t, args...); code != exit.Done {
		t.Fatal(out, stderr)
	}
	evening := time.Now().UTC().Truncate(24 * time.Hour).Add(3*24*time.Hour + 20*time.Hour)
	s := serveAt(t, data, evening)
	s.minute()
	s.minute() // the first one is over
	s.end()
	return evening.Add(7 * time.Hour)
}

// TestServeRunsScheduledReports: a server makes a report that is due and delivers it once.
func TestServeRunsScheduledReports(t *testing.T) {
	data := reportFolder(t)
	s := serveAt(t, data, queueDaily(t, data, "--to", "archive"))
	s.minute()
	s.minute()
	s.minute() // nothing was due in the one before, which is over
	s.end()
	reports, err := filepath.Glob(filepath.Join(data, "sent", "prod-daily-*.html"))
	if err != nil || len(reports) != 1 {
		t.Errorf("%q %v\n%s", reports, err, s.log)
	}
	if n := strings.Count(s.log.String(), `"state":"delivered"`); n != 1 {
		t.Errorf("the log has %d reports that were delivered:\n%s", n, s.log)
	}
}

// TestServeEndsWhileAReportRuns: a server that is interrupted while it delivers a report ends, and the next one
// delivers the report.
func TestServeEndsWhileAReportRuns(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a mail server that says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	asked := make(chan net.Conn, 1)
	go func() {
		if connection, err := silent.Accept(); err == nil {
			asked <- connection
		}
	}()
	data := reportFolder(t)
	mailBy := func(server string) {
		t.Helper()
		settings := fmt.Sprintf("[mail]\nserver = %q\nfrom = \"orrery@example.com\"\ndomains = [\"example.com\"]\n", server)
		if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mailBy(silent.Addr().String())
	now := queueDaily(t, data, "--mail", "ops@example.com")
	s := serveAt(t, data, now)
	s.minute()
	select {
	case connection := <-asked:
		defer func() { _ = connection.Close() }()
	case code := <-s.ended:
		t.Fatalf("the server ended with %d:\n%s", code, s.log)
	}
	s.end()

	mails := deliverytest.Start(t)
	mailBy(mails.Address)
	s = serveAt(t, data, now)
	s.minute()
	s.minute() // the first one is over
	s.end()
	if n := len(mails.Mails()); n != 1 {
		t.Errorf("the next server sent %d mails, want 1:\n%s", n, s.log)
	}
}
