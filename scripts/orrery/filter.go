package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/savedfilter"
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
	configuration
	Title       *string `help:"A title for lists."`
	Description *string `help:"What the filter is for."`
	IfMatch     *string `help:"Replace the filter only if it still has this ETag." placeholder:"ETAG"`
}

// Run saves a filter and prints its canonical form.
func (f *filterPutCommand) Run(ctx context.Context, c console) error {
	text, err := filterText(f.Filter, c.in)
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
	answer, header, err := f.do(ctx, c, http.MethodPut, filterPath(f.Name), body, ifMatch(f.IfMatch))
	if err != nil {
		return drawRefusal(err, map[string]any{"filters": text}, c.err)
	}
	return printFilter(c, answer, header)
}

type filterGetCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	configuration
	Version *int `help:"A version; default: the newest." placeholder:"N"`
}

// Run prints the filter in its canonical form. The ETag, for --if-match, goes to standard error.
func (f *filterGetCommand) Run(ctx context.Context, c console) error {
	answer, header, err := f.do(ctx, c, http.MethodGet, versionPath(filterPath(f.Name), f.Version), nil, nil)
	if err != nil {
		return err
	}
	return printFilter(c, answer, header)
}

func printFilter(c console, answer []byte, header http.Header) error {
	saved, err := decoded[resource.SavedFilter](answer)
	if err != nil {
		return err
	}
	printETag(c.err, header)
	_, err = fmt.Fprintln(c.shown(), saved.Filters)
	return err
}

type filterListCommand struct{ configuration }

// Run prints a line per filter: name, filter, title.
func (f *filterListCommand) Run(ctx context.Context, c console) error {
	answer, _, err := f.do(ctx, c, http.MethodGet, "/filters", nil, nil)
	if err != nil {
		return err
	}
	list, err := decoded[resource.SavedFilters](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.out)
	fmt.Fprintln(w, "NAME\tFILTER\tTITLE")
	for _, one := range list.Filters {
		fmt.Fprintf(w, "%s\t%s\t%s\n", one.Name, oneLine(one.Filters), oneLine(one.Title))
	}
	return w.Flush()
}

type filterDeleteCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	configuration
	IfMatch *string `help:"Delete the filter only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a filter.
func (f *filterDeleteCommand) Run(ctx context.Context, c console) error {
	return f.delete(ctx, c, filterPath(f.Name), f.Name, f.IfMatch)
}

type filterVersionsCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	configuration
}

// Run prints a line per version, newest first.
func (f *filterVersionsCommand) Run(ctx context.Context, c console) error {
	return f.printVersions(ctx, c, filterPath(f.Name))
}

// withSaved returns the filter of a command line: at most one text, and names of saved filters, each after an @. All of
// them must hold.
func withSaved(ctx context.Context, api *client.Client, config string, args []string, c console) (string, error) {
	text, given := "", false
	var saved []savedfilter.Filter
	for _, arg := range args {
		name, isName := strings.CutPrefix(arg, "@")
		switch {
		case isName:
			path := configPath(config) + filterPath(name)
			answer, err := api.Do(ctx, client.Request{Method: http.MethodGet, Path: path})
			if err != nil {
				return "", err
			}
			f, err := decoded[savedfilter.Filter](answer.Body)
			if err != nil {
				return "", err
			}
			saved = append(saved, f)
		case given:
			return "", &exitError{code: exitUsage, message: fmt.Sprintf(
				"there are two filters, %q and %q; write one filter in quotes, and the names of saved filters with @",
				text, arg)}
		default:
			var err error
			if text, err = filterText(arg, c.in); err != nil {
				return "", err
			}
			given = true
		}
	}
	return savedfilter.With(text, saved), nil
}
