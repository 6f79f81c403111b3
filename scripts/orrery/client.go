package main

import (
	"cmp"
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
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// target is what a command queries: a server, or a folder of data in this process.
type target struct {
	Data   folder `help:"Folder that holds the data." default:".orrery" env:"ORRERY_DATA"`
	URL    string `help:"Base URL of a server to query instead." placeholder:"URL"`
	APIKey string `help:"API key of that server." env:"ORRERY_API_KEY" name:"api-key" placeholder:"KEY"`
}

// AfterApply refuses an empty --api-key, because a user who gives one expects that it is sent. The variable may be empty,
// which means that it is not set.
func (t *target) AfterApply(c *kong.Context) error {
	for _, p := range c.Path { // of what is on the command line
		if p.Flag != nil && p.Flag.Name == "api-key" && strings.TrimSpace(t.APIKey) == "" {
			return errors.New("--api-key is empty: set it to a key of the server, or leave it out to send none")
		}
	}
	return nil
}

// connect opens the target. The caller must call done when it has finished. If the target is a folder, internal errors
// are logged to stderr, because no other log has them.
func (t target) connect(ctx context.Context, stderr io.Writer) (c *client.Client, done func() error, err error) {
	c, _, done, err = t.open(ctx, stderr)
	return c, done, err
}

// open is like connect, and also returns the product over the folder; nil if the target is a server.
func (t target) open(
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
	if err := t.Data.mustExist(); err != nil {
		return nil, nil, nil, err
	}
	if product, err = local.Open(ctx, string(t.Data)); err != nil {
		return nil, nil, nil, err
	}
	handler, err := product.Handler(local.ServeOptions{Log: warnings(stderr)})
	if err != nil {
		return nil, nil, nil, errors.Join(err, product.Close())
	}
	inProcess := &http.Client{Transport: handlerTransport{handler}}
	return &client.Client{BaseURL: "http://localhost", HTTP: inProcess, Retries: -1}, product, product.Close, nil
}

// warnings returns a log that has only warnings and errors.
func warnings(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// drawRefusal prints the mistakes of a filter, which is one of the parameters, under its text. It returns other errors
// unchanged.
func drawRefusal(err error, parameters map[string]any, stderr io.Writer) error {
	var r *client.Error
	if !errors.As(err, &r) || len(r.Errors) == 0 {
		return err
	}
	text, _ := parameters[cmp.Or(r.Errors[0].Parameter, "filters")].(string)
	wrong := &query.FilterError{Text: text, Fixed: r.Fixed}
	for _, e := range r.Errors {
		wrong.Errors = append(wrong.Errors, filter.Error{
			Code: e.Code, Message: e.Message, Span: filter.Span{Offset: e.Offset, Length: e.Length},
		})
	}
	return drawn(wrong, stderr)
}
