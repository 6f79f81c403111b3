// Package target opens what a command is about: a folder of data in this process, a server, a Trino cluster, or a
// deployment on AWS.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
)

// Target is what a command queries: a server, or a folder of data in this process.
type Target struct {
	Data   Folder `help:"Folder that holds the data." default:".orrery" env:"ORRERY_DATA" placeholder:"DIR"`
	URL    string `help:"Base URL of a server to query instead." placeholder:"URL"`
	APIKey string `help:"API key of that server." env:"ORRERY_API_KEY" name:"api-key" placeholder:"KEY"`
}

// AfterApply refuses an empty --api-key, because a user who gives one expects that it is sent. The variable may be
// empty, which means that it is not set.
func (t *Target) AfterApply(c *kong.Context) error {
	for _, p := range c.Path { // the flags on the command line
		if p.Flag != nil && p.Flag.Name == "api-key" && strings.TrimSpace(t.APIKey) == "" {
			return errors.New("--api-key is empty: set it to a key of the server, or leave it out to send none")
		}
	}
	return nil
}

// Connect opens the target. The caller must call done when it has finished. If the target is a folder, internal errors
// are logged to stderr, because no other log has them.
func (t Target) Connect(ctx context.Context, stderr io.Writer) (c *client.Client, done func() error, err error) {
	c, _, done, err = t.OpenProduct(ctx, stderr)
	return c, done, err
}

// OpenProduct is like Connect, and also returns the product over the folder; nil if the target is a server.
func (t Target) OpenProduct(
	ctx context.Context, stderr io.Writer,
) (c *client.Client, product *local.Product, done func() error, err error) {
	if t.URL != "" {
		busy := func(refused *client.Error, wait time.Duration) {
			fmt.Fprintf(stderr, "the server refused the request (%d: %s); trying again in %s\n",
				refused.Status, terminal.Printable(refused.Message), wait)
		}
		server := &client.Client{BaseURL: t.URL, Key: t.APIKey, Busy: busy}
		return server, nil, func() error { return nil }, nil
	}
	if err := t.Data.MustExist(); err != nil {
		return nil, nil, nil, err
	}
	if product, err = local.Open(ctx, string(t.Data)); err != nil {
		return nil, nil, nil, err
	}
	handler, err := product.Handler(local.ServeOptions{Log: Warnings(stderr), Version: version.String()})
	if err != nil {
		return nil, nil, nil, errors.Join(err, product.Close())
	}
	inProcess := &http.Client{Transport: handlerTransport{handler}}
	return &client.Client{BaseURL: "http://localhost", HTTP: inProcess, Retries: -1}, product, product.Close, nil
}

// Warnings returns a log that has only warnings and errors.
func Warnings(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
