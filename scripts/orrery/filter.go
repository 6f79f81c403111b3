package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
)

type filterCommand struct {
	Put      filterPutCommand      `cmd:"" help:"Save a filter, which needs no period."`
	Get      filterGetCommand      `cmd:"" help:"Print a saved filter."`
	List     filterListCommand     `cmd:"" help:"List the saved filters."`
	Delete   filterDeleteCommand   `cmd:"" help:"Delete a saved filter; its versions stay."`
	Versions filterVersionsCommand `cmd:"" help:"List the versions of a saved filter."`
}

type filterPutCommand struct {
	Name   string `arg:"" help:"Name: a-z, 0-9 and -."`
	Filter string `arg:"" help:"A filter in either form; - reads it from standard input."`
	documents.Configuration
	Title       *string `help:"A title for lists."`
	Description *string `help:"What the filter is for."`
	IfMatch     *string `help:"Replace the filter only if it still has this ETag." placeholder:"ETAG"`
}

// Run saves a filter and prints its canonical form.
func (f *filterPutCommand) Run(ctx context.Context, c terminal.Console) error {
	text, err := question.FilterText(f.Filter, c.In)
	if err != nil {
		return err
	}
	members := map[string]string{"filters": text}
	for name, value := range map[string]*string{"title": f.Title, "description": f.Description} {
		if value != nil {
			members[name] = *value
		}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return err
	}
	answer, header, err := f.Do(
		ctx, c, http.MethodPut, documents.FilterPath(f.Name), body, documents.IfMatch(f.IfMatch),
	)
	if err != nil {
		return question.DrawRefusal(err, map[string]any{"filters": text}, c.Err)
	}
	return printFilter(c, answer, header)
}

type filterGetCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	documents.Configuration
	Version *int `help:"Version to print; default: the newest." placeholder:"N"`
}

// Run prints the filter in its canonical form. The ETag, for --if-match, goes to standard error.
func (f *filterGetCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, header, err := f.Do(
		ctx, c, http.MethodGet, documents.VersionPath(documents.FilterPath(f.Name), f.Version), nil, nil,
	)
	if err != nil {
		return err
	}
	return printFilter(c, answer, header)
}

func printFilter(c terminal.Console, answer []byte, header http.Header) error {
	saved, err := documents.Decoded[resource.SavedFilter](answer)
	if err != nil {
		return err
	}
	documents.PrintETag(c.Err, header)
	_, err = fmt.Fprintln(c.Shown(), saved.Filters)
	return err
}

type filterListCommand struct{ documents.Configuration }

// Run prints a line per filter: name, filter, title.
func (f *filterListCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, _, err := f.Do(ctx, c, http.MethodGet, "/filters", nil, nil)
	if err != nil {
		return err
	}
	list, err := documents.Decoded[resource.SavedFilters](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.Out)
	fmt.Fprintln(w, "NAME\tFILTER\tTITLE")
	for _, one := range list.Filters {
		fmt.Fprintf(w, "%s\t%s\t%s\n", one.Name, terminal.OneLine(one.Filters), terminal.OneLine(one.Title))
	}
	return w.Flush()
}

type filterDeleteCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	documents.Configuration
	IfMatch *string `help:"Delete the filter only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a filter.
func (f *filterDeleteCommand) Run(ctx context.Context, c terminal.Console) error {
	return f.Delete(ctx, c, documents.FilterPath(f.Name), f.Name, f.IfMatch)
}

type filterVersionsCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	documents.Configuration
}

// Run prints a line per version, newest first.
func (f *filterVersionsCommand) Run(ctx context.Context, c terminal.Console) error {
	return f.PrintVersions(ctx, c, documents.FilterPath(f.Name))
}
