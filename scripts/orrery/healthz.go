package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/pause"
)

type healthzCommand struct {
	URL     string        `arg:"" optional:"" help:"Base URL of the server; default: the server of ORRERY_LISTEN."`
	Listen  string        `hidden:"" default:"127.0.0.1:8080" env:"ORRERY_LISTEN"`
	TLSCert string        `hidden:"" name:"tls-cert" env:"ORRERY_TLS_CERT"`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer." placeholder:"DURATION"`
	Wait    time.Duration `help:"How long to keep trying while the server is starting; default: try once." placeholder:"DURATION"`
}

// Run asks a server whether it answers. It fails unless the server does, so that it can be the probe of a container.
func (h *healthzCommand) Run(ctx context.Context, c terminal.Console) error {
	base := h.URL
	if base == "" {
		var err error
		if base, err = h.own(); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(base, "http://") && !strings.HasPrefix(base, "https://") {
		return exit.With(exit.Usage, fmt.Sprintf("%q is not the URL of a server; write http://HOST:PORT", base))
	}
	for until := time.Now().Add(h.Wait); ; {
		err := h.ask(ctx, base)
		if err == nil {
			_, err = fmt.Fprintln(c.Out, "ok")
			return err
		}
		if time.Now().After(until) || pause.For(ctx, askEvery) != nil {
			return err
		}
	}
}

// askEvery is the pause before a server that is starting is asked again.
const askEvery = 100 * time.Millisecond

// ask asks the server once.
func (h *healthzCommand) ask(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	target := strings.TrimSuffix(base, "/") + service.HealthPath
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	transport := &http.Transport{}
	if h.URL == "" {
		// The request stays on this machine, and its certificate is for another name.
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return fmt.Errorf("the server is not up: %w", err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<10))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("the server is not up: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", target, answer.Status)
	}
	return nil
}

// own returns the URL of the server that serve starts with the same variables. If that
// server listens on all interfaces, the URL has the loopback interface.
func (h *healthzCommand) own() (string, error) {
	host, port, err := net.SplitHostPort(h.Listen)
	if err != nil {
		return "", exit.With(exit.Usage, fmt.Sprintf("ORRERY_LISTEN is %q, not an address such as 127.0.0.1:8080", h.Listen))
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = ""
	}
	scheme := "http://"
	if h.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(cmp.Or(host, "localhost"), port), nil
}
