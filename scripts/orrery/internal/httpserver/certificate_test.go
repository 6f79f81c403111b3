package httpserver

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/httpserver/httpservertest"
)

func TestServeWithCertificate(t *testing.T) {
	dir := t.TempDir()
	c := Certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	if err := c.Check(); err == nil {
		t.Error("missing files were accepted")
	}
	httpservertest.WriteCertificate(t, c.Cert, c.Key, 1, time.Unix(1_000_000_000, 0))
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- c.Serve(server, listener, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	serial := func() int64 {
		t.Helper()
		unverified := &tls.Config{InsecureSkipVerify: true} // the test compares the certificate itself
		connection, err := tls.Dial("tcp", listener.Addr().String(), unverified)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		return connection.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d, want 1", got)
	}
	httpservertest.WriteCertificate(t, c.Cert, c.Key, 2, time.Unix(1_000_000_001, 0))
	if got := serial(); got != 2 {
		t.Errorf("after the renewal: certificate %d, want 2", got)
	}
	if err := os.WriteFile(c.Cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 {
		t.Errorf("with a damaged file: certificate %d, want 2", got)
	}
}

// TestDamagedCertificateIsLoggedOnceAMinute: the files are examined for every connection.
func TestDamagedCertificateIsLoggedOnceAMinute(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	now := time.Unix(1_000_000_000, 0)
	f := &certificateFiles{
		Certificate: Certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")},
		log:         slog.New(slog.NewTextHandler(&log, nil)),
		now:         func() time.Time { return now },
	}
	for minute := range 3 {
		for range 5 {
			if _, err := f.newest(nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(log.String(), "cannot be renewed"); n != minute+1 {
			t.Errorf("%d records after %d minutes", n, minute)
		}
		now = now.Add(time.Minute)
	}
}
