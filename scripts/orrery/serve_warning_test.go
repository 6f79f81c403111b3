package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// untilServing is the standard error of a server, which it stops as soon as it serves.
type untilServing struct {
	mu   sync.Mutex
	text bytes.Buffer
	stop context.CancelFunc
}

func (w *untilServing) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if bytes.Contains(b, []byte("Ctrl-C stops it")) {
		w.stop()
	}
	return w.text.Write(b)
}

// TestServeWarnsWithoutTLS: a server that other machines can reach warns if it serves no HTTPS, and needs a key of at least
// 16 characters.
func TestServeWarnsWithoutTLS(t *testing.T) {
	const warning = "and their keys are not encrypted: set --tls-cert and --tls-key"
	dir := t.TempDir()
	c := certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	writeCertificate(t, c, 1, time.Unix(1_000_000_000, 0))
	encrypted := []string{
		"--listen", "0.0.0.0:0", "--api-key", "sixteen--letters", "--tls-cert", c.Cert, "--tls-key", c.Key,
	}
	for name, test := range map[string]struct {
		args  []string
		warns bool
		code  int
	}{
		"on a public address":       {[]string{"--listen", "0.0.0.0:0", "--api-key", "sixteen--letters"}, true, exitDone},
		"not with a short key":      {[]string{"--listen", "0.0.0.0:0", "--api-key", "fifteen-letters"}, false, exitUsage},
		"not on a loopback address": {[]string{"--listen", "127.0.0.1:0", "--api-key", "short"}, false, exitDone},
		"not with HTTPS":            {encrypted, false, exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stderr := &untilServing{stop: cancel}
			args := append([]string{"serve", "--data", t.TempDir(), "--no-demo"}, test.args...)
			code := run(ctx, args, console{in: strings.NewReader(""), out: io.Discard, err: stderr})
			if code != test.code || strings.Contains(stderr.text.String(), warning) != test.warns {
				t.Errorf("exit code %d:\n%s", code, &stderr.text)
			}
		})
	}
}
