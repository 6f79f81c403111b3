package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/shared/api"
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

// savedFilters is where saved filters are.
type savedFilters struct {
	target
	Config string `help:"Configuration of the saved filters." default:"prod" placeholder:"CONFIG"`
}

// do sends one request about saved filters and returns the body and the header of the answer. path is below the
// filters of the configuration.
func (s savedFilters) do(
	ctx context.Context, c console, method, path string, body []byte, header http.Header,
) ([]byte, http.Header, error) {
	api, done, err := s.connect(ctx, c.err)
	if err != nil {
		return nil, nil, err
	}
	answer, err := api.Do(ctx, client.Request{
		Method: method, Path: filtersPath(s.Config) + path, Header: header, Body: body,
	})
	return answer.Body, answer.Header, errors.Join(err, done())
}

func filtersPath(config string) string {
	return "/conf/" + url.PathEscape(config) + "/filters"
}

// ifMatch returns the header of a conditional write. Even an empty ETag is sent: the API refuses it.
func ifMatch(etag *string) http.Header {
	header := http.Header{}
	if etag != nil {
		header.Set("If-Match", *etag)
	}
	return header
}

type filterPutCommand struct {
	Name   string `arg:"" help:"Name: a-z, 0-9 and -."`
	Filter string `arg:"" help:"A filter in either form; - reads it from standard input."`
	savedFilters
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
	answer, header, err := f.do(ctx, c, http.MethodPut, "/"+url.PathEscape(f.Name), body, ifMatch(f.IfMatch))
	if err != nil {
		return drawRefusal(err, map[string]any{"filters": text}, c.err)
	}
	return printFilter(c, answer, header)
}

type filterGetCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	savedFilters
	Version *int `help:"A version; default: the newest." placeholder:"N"`
}

// Run prints the filter in its canonical form. The ETag, for --if-match, goes to standard error.
func (f *filterGetCommand) Run(ctx context.Context, c console) error {
	path := "/" + url.PathEscape(f.Name)
	if f.Version != nil {
		path += fmt.Sprintf("/versions/%d", *f.Version)
	}
	answer, header, err := f.do(ctx, c, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	return printFilter(c, answer, header)
}

func printFilter(c console, answer []byte, header http.Header) error {
	saved, err := decoded[api.SavedFilter](answer)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.err, "ETag:", header.Get("ETag"))
	_, err = fmt.Fprintln(c.out, saved.Filters)
	return err
}

type filterListCommand struct{ savedFilters }

// Run prints a line per filter: name, filter, title.
func (f *filterListCommand) Run(ctx context.Context, c console) error {
	answer, _, err := f.do(ctx, c, http.MethodGet, "", nil, nil)
	if err != nil {
		return err
	}
	list, err := decoded[api.SavedFilters](answer)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFILTER\tTITLE")
	for _, one := range list.Filters {
		fmt.Fprintf(w, "%s\t%s\t%s\n", one.Name, oneLine(one.Filters), oneLine(one.Title))
	}
	return w.Flush()
}

// oneLine returns text without characters that break the table or the terminal.
func oneLine(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }

type filterDeleteCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	savedFilters
	IfMatch *string `help:"Delete the filter only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a filter.
func (f *filterDeleteCommand) Run(ctx context.Context, c console) error {
	_, _, err := f.do(ctx, c, http.MethodDelete, "/"+url.PathEscape(f.Name), nil, ifMatch(f.IfMatch))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "deleted %s; its versions can still be read and restored\n", printable(f.Name))
	return nil
}

type filterVersionsCommand struct {
	Name string `arg:"" help:"Name of the filter."`
	savedFilters
}

// Run prints a line per version, newest first.
func (f *filterVersionsCommand) Run(ctx context.Context, c console) error {
	answer, _, err := f.do(ctx, c, http.MethodGet, "/"+url.PathEscape(f.Name)+"/versions", nil, nil)
	if err != nil {
		return err
	}
	return printVersions(c.out, answer)
}

// printVersions prints a line per version of an answer.
func printVersions(out io.Writer, answer []byte) error {
	list, err := decoded[api.Versions](answer)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tWRITTEN\tBY\tETAG")
	for _, v := range list.Versions {
		deleted := ""
		if v.Deleted {
			deleted = "  (deletion)"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s%s\n", v.Version, v.At.Format(time.RFC3339), v.By, v.ETag, deleted)
	}
	return w.Flush()
}

func decoded[T any](answer []byte) (T, error) {
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	return v, nil
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
			path := filtersPath(config) + "/" + url.PathEscape(name)
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
