package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestServeWithCertificate(t *testing.T) {
	dir := t.TempDir()
	c := certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	if err := c.check(); err == nil {
		t.Error("missing files were accepted")
	}
	writeCertificate(t, c, 1, time.Unix(1_000_000_000, 0))
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- c.serve(server, listener, slog.New(slog.DiscardHandler)) }()
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
	writeCertificate(t, c, 2, time.Unix(1_000_000_001, 0))
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
		certificate: certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")},
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

// writeCertificate writes a certificate with a serial number and its key. The file of the certificate gets a time of
// its own, because two writes may have the same.
func writeCertificate(t *testing.T, c certificate, serial int64, changed time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: "orrery"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter:     time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		c.Cert: {Type: "CERTIFICATE", Bytes: cert}, c.Key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(c.Cert, changed, changed); err != nil {
		t.Fatal(err)
	}
}
