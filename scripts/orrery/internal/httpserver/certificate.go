package httpserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// Certificate is a certificate for HTTPS in two files in PEM format.
type Certificate struct {
	Cert string `name:"tls-cert" env:"ORRERY_TLS_CERT" help:"Certificate to serve HTTPS with, in PEM format; a renewed one is used at once." placeholder:"FILE"`
	Key  string `name:"tls-key" env:"ORRERY_TLS_KEY" help:"Private key of the certificate, in PEM format." placeholder:"FILE"`
}

func (c Certificate) Given() bool { return c.Cert != "" }

// Serve serves on the listener, with HTTPS if there is a certificate.
func (c Certificate) Serve(server *http.Server, listener net.Listener, log *slog.Logger) error {
	if !c.Given() {
		return server.Serve(listener)
	}
	files := &certificateFiles{Certificate: c, log: log, now: time.Now}
	if err := files.load(); err != nil {
		return errors.Join(err, listener.Close())
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: files.newest}
	return server.ServeTLS(listener, "", "")
}

// Check returns an error if the files cannot be used, or if only one is named.
func (c Certificate) Check() error {
	if (c.Cert == "") != (c.Key == "") {
		return exit.With(exit.Usage, "HTTPS needs both --tls-cert and --tls-key")
	}
	if !c.Given() {
		return nil
	}
	return (&certificateFiles{Certificate: c}).load()
}

// certificateFiles reads the certificate anew when its file has changed.
type certificateFiles struct {
	Certificate
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	warned  time.Time // when a failure was logged last
	changed time.Time // of the file that was read last
	pair    *tls.Certificate
}

// load reads both files.
func (f *certificateFiles) load() error {
	info, err := os.Stat(f.Cert)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return fmt.Errorf("read the certificate %s with the key %s: %w", f.Cert, f.Key, err)
	}
	f.pair, f.changed = &pair, info.ModTime()
	return nil
}

// warnEvery is the time between two log records about a certificate that cannot be renewed. It is examined for every
// connection.
const warnEvery = time.Minute

// newest returns the certificate as it is in the files. If they cannot be read, for example while they are being
// replaced, it returns the last one.
func (f *certificateFiles) newest(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.Cert)
	if err == nil && info.ModTime().Equal(f.changed) {
		return f.pair, nil
	}
	if err == nil {
		err = f.load()
	}
	if now := f.now(); err != nil && now.Sub(f.warned) >= warnEvery {
		f.warned = now
		f.log.Warn("the certificate cannot be renewed", "error", err.Error())
	}
	return f.pair, nil
}
