package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/orrery/orrery/shared/client"
)

type planetCommand struct {
	Get planetGetCommand `cmd:"" help:"Print the settings of a configuration's planet."`
	Put planetPutCommand `cmd:"" help:"Replace them with the JSON on standard input."`
}

type planetGetCommand struct {
	Config string `arg:"" help:"Name of the configuration, such as prod."`
	target
}

// Run prints the settings as the API returns them. The ETag, for put --if-match, goes to standard error.
func (p *planetGetCommand) Run(ctx context.Context, c console) error {
	api, done, err := p.connect(ctx, c.err)
	if err != nil {
		return err
	}
	settings, err := api.Do(ctx, client.Request{Method: http.MethodGet, Path: planetPath(p.Config)})
	if closing := done(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	printETag(c.err, settings.Header)
	_, err = c.shown().Write(append(settings.Body, '\n'))
	return err
}

type planetPutCommand struct {
	Config string `arg:"" help:"Name of the configuration, such as prod."`
	target
	IfMatch *string `help:"Replace the settings only if they still have this ETag." placeholder:"ETAG"`
}

// Run replaces the settings with those on standard input.
func (p *planetPutCommand) Run(ctx context.Context, c console) error {
	settings, err := io.ReadAll(c.in)
	if err != nil {
		return fmt.Errorf("read the settings from standard input: %w", err)
	}
	header := http.Header{}
	if p.IfMatch != nil { // even an empty one: the API refuses it
		header.Set("If-Match", *p.IfMatch)
	}
	api, done, err := p.connect(ctx, c.err)
	if err != nil {
		return err
	}
	response, err := api.Do(ctx, client.Request{
		Method: http.MethodPut, Path: planetPath(p.Config) + "/__default__", Header: header, Body: settings,
	})
	if closing := done(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	var answer struct{ Message string }
	if err := json.Unmarshal(response.Body, &answer); err != nil {
		return fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	_, err = fmt.Fprintln(c.out, printable(answer.Message))
	return err
}

func planetPath(config string) string {
	return "/conf/" + url.PathEscape(config) + "/planets"
}
