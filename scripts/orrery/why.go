package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
)

type whyCommand struct {
	Reference string `arg:"" name:"ref" help:"The record_ref of a record, from query logs --fields record_ref, or a link of the console to it."`
	target.Target
	Secrets bool   `help:"Show values that may identify a person or give access."`
	Format  string `enum:"text,json" default:"text" aliases:"output" help:"text or json."`
}

// Run explains one request.
func (w *whyCommand) Run(ctx context.Context, c terminal.Console) error {
	server, done, err := w.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	response, err := server.Do(ctx, client.WhyRequest(referenceIn(w.Reference), w.Secrets))
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	answer, err := client.DecodeWhy(response.Body)
	if err != nil {
		return err
	}
	text := []byte(answer.Results[0].Text())
	if w.Format == "json" {
		text = append(response.Body, '\n')
	}
	if _, err := c.Shown().Write(text); err != nil {
		return err
	}
	for _, object := range answer.Meta.Skipped {
		fmt.Fprintf(c.Err, "orrery: %s could not be read; its records are missing\n", terminal.Printable(object))
	}
	if len(answer.Meta.Skipped) > 0 {
		return exit.With(exit.Incomplete, "the reasons are incomplete")
	}
	return nil
}

// referenceIn returns the reference in a link of the console, or the text itself.
func referenceIn(text string) string {
	if _, after, ok := strings.Cut(text, "#/events/"); ok {
		text, _, _ = strings.Cut(after, "?")
	}
	return text
}
