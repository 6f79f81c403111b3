package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/orrery/orrery/scripts/internal/local"
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

// connect opens the target. The caller must call done when it has finished. If the target is a folder, internal errors
// are logged to stderr, because no other log has them.
func (t target) connect(ctx context.Context, stderr io.Writer) (c *client.Client, done func() error, err error) {
	if t.URL != "" {
		return &client.Client{BaseURL: t.URL, Key: t.APIKey}, func() error { return nil }, nil
	}
	if err := t.Data.mustExist(); err != nil {
		return nil, nil, err
	}
	product, err := local.Open(ctx, string(t.Data))
	if err != nil {
		return nil, nil, err
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	handler, err := product.Handler(local.ServeOptions{Log: logger})
	if err != nil {
		return nil, nil, errors.Join(err, product.Close())
	}
	inProcess := &http.Client{Transport: handlerTransport{handler}}
	return &client.Client{BaseURL: "http://localhost", HTTP: inProcess, Retries: -1}, product.Close, nil
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
