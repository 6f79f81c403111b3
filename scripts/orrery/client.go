package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// target is what a command queries: a server, or a folder of data in this process.
type target struct {
	Data   folder `help:"Folder that holds the data." default:".orrery" env:"ORRERY_DATA"`
	URL    string `help:"Base URL of a server to query instead." placeholder:"URL"`
	APIKey string `help:"API key of that server." env:"ORRERY_API_KEY" name:"api-key" placeholder:"KEY"`
}

// client sends requests to the API of a target.
type client struct {
	http *http.Client
	base string
	key  string
}

// connect opens the target. The caller must call done when it has finished. If the target is a folder, internal errors
// are logged to stderr, because no other log has them.
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
	inProcess := &http.Client{Transport: handlerTransport{handler}}
	return &client{http: inProcess, base: "http://localhost"}, product.Close, nil
}

// baseOf removes the API's base path from a server's address.
func baseOf(address string) string {
	address = strings.TrimRight(address, "/")
	for _, path := range api.BasePaths() {
		address = strings.TrimSuffix(address, path)
	}
	return address
}

// call sends one request and returns the body and the header of a successful response. Other responses are errors.
func (c *client) call(
	ctx context.Context, method, path string, body []byte, header http.Header,
) ([]byte, http.Header, error) {
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

// refusal is an error response of the API.
type refusal struct {
	Status  int
	Message string `json:"message"`
	Errors  []struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Offset    int    `json:"offset"`
		Length    int    `json:"length"`
		Parameter string `json:"parameter"`
	} `json:"errors"`
	Fixed  string `json:"fixed_filter"`
	Detail []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	} `json:"detail"`
	RequestID string `json:"request_id"`
}

// refusalOf returns the error of a response: a *refusal, if the body is one.
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

// drawRefusal prints the mistakes of a filter, which is one of the parameters, under its text. It returns other errors
// unchanged.
func drawRefusal(err error, parameters map[string]any, stderr io.Writer) error {
	var r *refusal
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
