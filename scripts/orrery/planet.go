package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/planet"
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
	settings, header, err := configuration{p.target, p.Config}.do(ctx, c, http.MethodGet, "/planets", nil, nil)
	if err != nil {
		return err
	}
	printETag(c.err, header)
	_, err = c.shown().Write(append(settings, '\n'))
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
	body, _, err := configuration{p.target, p.Config}.do(
		ctx, c, http.MethodPut, "/planets/"+planet.EntryID, settings, ifMatch(p.IfMatch))
	if err != nil {
		return err
	}
	answer, err := decoded[resource.Message](body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, terminal.Printable(answer.Message))
	return err
}
