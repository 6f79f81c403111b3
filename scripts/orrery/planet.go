package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/planet"
)

type planetCommand struct {
	Get planetGetCommand `cmd:"" help:"Print the settings of a configuration's planet."`
	Put planetPutCommand `cmd:"" help:"Replace the settings of a configuration's planet with the JSON on standard input."`
}

type planetGetCommand struct {
	Config string `arg:"" help:"Name of the configuration, such as prod."`
	target.Target
}

// Run prints the settings as the API returns them. The ETag, for put --if-match, goes to standard error.
func (p *planetGetCommand) Run(ctx context.Context, c terminal.Console) error {
	settings, header, err := documents.Configuration{Target: p.Target,
		Config: p.Config}.Do(ctx, c, http.MethodGet, "/planets", nil, nil)
	if err != nil {
		return err
	}
	documents.PrintETag(c.Err, header)
	_, err = c.Shown().Write(append(settings, '\n'))
	return err
}

type planetPutCommand struct {
	Config string `arg:"" help:"Name of the configuration, such as prod."`
	target.Target
	IfMatch *string `help:"Replace the settings only if they still have this ETag." placeholder:"ETAG"`
}

// Run replaces the settings with those on standard input.
func (p *planetPutCommand) Run(ctx context.Context, c terminal.Console) error {
	settings, err := io.ReadAll(c.In)
	if err != nil {
		return fmt.Errorf("read the settings from standard input: %w", err)
	}
	body, _, err := documents.Configuration{Target: p.Target, Config: p.Config}.Do(
		ctx, c, http.MethodPut, "/planets/"+planet.EntryID, settings, documents.IfMatch(p.IfMatch))
	if err != nil {
		return err
	}
	answer, err := documents.Decoded[resource.Message](body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.Out, terminal.Printable(answer.Message))
	return err
}
