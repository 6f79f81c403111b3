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

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/httpserver/httpservertest"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
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
	if bytes.Contains(b, []byte(`"msg":"serving"`)) {
		w.stop()
	}
	return w.text.Write(b)
}

// TestServeWarnsWithoutTLS: a server that other machines can reach warns if it serves no HTTPS, and needs a key of at
// least 16 characters.
func TestServeWarnsWithoutTLS(t *testing.T) {
	const warning = "and their keys are not encrypted"
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	httpservertest.WriteCertificate(t, cert, key, 1, time.Unix(1_000_000_000, 0))
	encrypted := []string{
		"--listen", "0.0.0.0:0", "--api-key", "sixteen--letters", "--tls-cert", cert, "--tls-key", key,
	}
	for name, test := range map[string]struct {
		args  []string
		warns bool
		code  int
	}{
		"on a public address":       {[]string{"--listen", "0.0.0.0:0", "--api-key", "sixteen--letters"}, true, exit.Done},
		"not with a short key":      {[]string{"--listen", "0.0.0.0:0", "--api-key", "fifteen-letters"}, false, exit.Usage},
		"not on a loopback address": {[]string{"--listen", "127.0.0.1:0", "--api-key", "short"}, false, exit.Done},
		"not with HTTPS":            {encrypted, false, exit.Done},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stderr := &untilServing{stop: cancel}
			args := append([]string{"serve", "--data", t.TempDir(), "--no-demo"}, test.args...)
			code := run(ctx, args, terminal.Console{In: strings.NewReader(""), Out: io.Discard, Err: stderr})
			if code != test.code || strings.Contains(stderr.text.String(), warning) != test.warns {
				t.Errorf("exit code %d:\n%s", code, &stderr.text)
			}
		})
	}
}
