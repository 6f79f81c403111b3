package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// target says whom a command asks: a server, or a folder of data in this process.
type target struct {
	Data   folder `help:"Folder of data to ask." default:".orrery" env:"ORRERY_DATA"`
	URL    string `help:"Ask a server instead, by its base address." placeholder:"URL"`
	APIKey string `help:"API key of that server." env:"ORRERY_API_KEY" name:"api-key" placeholder:"KEY"`
}

// client speaks the API to a target.
type client struct {
	http *http.Client
	base string
	key  string
}

// connect opens the target. The caller calls done at the end. In this process, what goes wrong on our side is told on
// stderr: there is no other log to find it in.
func (t target) connect(ctx context.Context, stderr io.Writer) (c *client, done func() error, err error) {
	if t.URL != "" {
		return &client{http: http.DefaultClient, base: baseOf(t.URL), key: t.APIKey}, func() error { return nil }, nil
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
	return &client{http: &http.Client{Transport: handlerTransport{handler}}, base: "http://localhost"}, product.Close, nil
}

// baseOf is a server's address as people copy it, without the API's base path.
func baseOf(address string) string {
	address = strings.TrimRight(address, "/")
	for _, path := range []string{"/api/v4.0", "/api/v4"} {
		address = strings.TrimSuffix(address, path)
	}
	return address
}

// call sends one request and returns the body of a successful answer. The API's refusal is the error.
func (c *client) call(ctx context.Context, method, path string, body []byte, header http.Header) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode/100 != 2 {
		return nil, nil, refusalOf(response, answer)
	}
	return answer, response.Header, nil
}

// refusal is what the API said instead of an answer: contract of every error body.
type refusal struct {
	Status  int
	Message string `json:"message"`
	Errors  []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Offset  int    `json:"offset"`
		Length  int    `json:"length"`
	} `json:"errors"`
	Fixed  string `json:"fixed_filter"`
	Detail []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	} `json:"detail"`
	RequestID string `json:"request_id"`
}

func refusalOf(response *http.Response, body []byte) error {
	r := &refusal{Status: response.StatusCode}
	if json.Unmarshal(body, r) != nil || r.Message == "" {
		return fmt.Errorf("%s answered %d", response.Request.URL.Host, response.StatusCode)
	}
	return r
}

func (r *refusal) Error() string {
	lines := []string{r.Message}
	for _, d := range r.Detail {
		where := make([]string, len(d.Loc))
		for i, part := range d.Loc {
			where[i] = fmt.Sprint(part)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", strings.Join(where, "."), d.Msg))
	}
	if r.Status >= http.StatusInternalServerError {
		lines = append(lines, "  request id: "+r.RequestID)
	}
	return strings.Join(lines, "\n")
}

// drawRefusal shows mistakes of a filter under its text; other errors stay as they are.
func drawRefusal(err error, text string, stderr io.Writer) error {
	var r *refusal
	if !errors.As(err, &r) || len(r.Errors) == 0 {
		return err
	}
	wrong := &query.FilterError{Text: text, Fixed: r.Fixed}
	for _, e := range r.Errors {
		wrong.Errors = append(wrong.Errors, filter.Error{Code: e.Code, Message: e.Message, Span: filter.Span{Offset: e.Offset, Length: e.Length}})
	}
	return drawn(wrong, stderr)
}
