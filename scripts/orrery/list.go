package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/publicnet"
	"github.com/orrery/orrery/shared/valuelist"
	"github.com/orrery/orrery/shared/valuelist/listsource"
	"github.com/orrery/orrery/shared/wording"
)

type listCommand struct {
	Put      listPutCommand      `cmd:"" help:"Write a list of values from a file or a URL."`
	Get      listGetCommand      `cmd:"" help:"Print the values of a list."`
	List     listListCommand     `cmd:"" help:"List the lists of values."`
	Delete   listDeleteCommand   `cmd:"" help:"Delete a list of values; its versions stay."`
	Versions listVersionsCommand `cmd:"" help:"List the versions of a list of values."`
}

type listPutCommand struct {
	Name string `arg:"" help:"Name: a-z, 0-9 and -."`
	From string `arg:"" help:"A file with one value a line, or a URL that begins with https://; - reads standard input." placeholder:"FILE|URL"`
	documents.Configuration
	IfMatch *string `help:"Replace the list only if it still has this ETag." placeholder:"ETAG"`
}

// Run writes a list and describes it on standard error.
func (l *listPutCommand) Run(ctx context.Context, c terminal.Console) error {
	values, err := l.read(ctx, c.In)
	if err != nil {
		return err
	}
	header := documents.IfMatch(l.IfMatch)
	header.Set("Content-Type", content.Text)
	answer, _, err := l.Do(ctx, c, http.MethodPut, documents.ListPath(l.Name), values, header)
	if err != nil {
		return err
	}
	return describeList(c.Err, answer)
}

// largestFile is more than the API accepts, whose message then says how much that is.
const largestFile = 5_000_000

// read returns the values. Those at a URL come without comments, which may be larger than the API accepts.
func (l *listPutCommand) read(ctx context.Context, in io.Reader) (values []byte, err error) {
	if strings.Contains(l.From, "://") {
		text, err := listsource.Fetch(ctx, publicnet.Network{}, l.From)
		if err == nil {
			_, values, err = valuelist.Parse(text)
		}
		if err != nil {
			return nil, fmt.Errorf("read the values from the URL: %w", err)
		}
		return values, nil
	}
	if l.From != "-" {
		file, err := os.Open(l.From)
		if err != nil {
			return nil, exit.With(exit.Usage, "read the values: "+err.Error())
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		in = file
	}
	values, err = io.ReadAll(io.LimitReader(in, largestFile))
	if err != nil {
		return nil, fmt.Errorf("read the values: %w", err)
	}
	return values, nil
}

// describeList says what a version of a list has, and its ETag.
func describeList(w io.Writer, answer []byte) error {
	list, err := documents.Decoded[resource.ValueList](answer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s has %s (%s), version %d\nETag: %s\n", terminal.Printable(list.Name),
		wording.Plural(int64(list.NumOfValues), "value"), list.Kind, list.Version, terminal.Printable(list.ETag))
	return err
}

type listGetCommand struct {
	Name string `arg:"" help:"Name of the list."`
	documents.Configuration
	Version *int `help:"Version to print; default: the newest." placeholder:"N"`
}

// Run prints the values, one a line. What the list has, and the ETag, for --if-match, go to standard error.
func (l *listGetCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, _, err := l.Do(ctx, c, http.MethodGet, documents.VersionPath(documents.ListPath(l.Name), l.Version), nil, nil)
	if err != nil {
		return err
	}
	list, err := documents.Decoded[resource.ValueList](answer)
	if err != nil {
		return err
	}
	if err := describeList(c.Err, answer); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.Shown(), strings.Join(list.Values, "\n"))
	return err
}

type listListCommand struct{ documents.Configuration }

// Run prints a line per list: name, kind and number of its values, version.
func (l *listListCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, _, err := l.Do(ctx, c, http.MethodGet, "/lists", nil, nil)
	if err != nil {
		return err
	}
	lists, err := documents.Decoded[resource.ValueLists](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.Out)
	fmt.Fprintln(w, "NAME\tKIND\tVALUES\tVERSION")
	for _, one := range lists.Lists {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", one.Name, one.Kind, wording.Count(int64(one.NumOfValues)), one.Version)
	}
	return w.Flush()
}

type listDeleteCommand struct {
	Name string `arg:"" help:"Name of the list."`
	documents.Configuration
	IfMatch *string `help:"Delete the list only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a list.
func (l *listDeleteCommand) Run(ctx context.Context, c terminal.Console) error {
	return l.Delete(ctx, c, documents.ListPath(l.Name), l.Name, l.IfMatch)
}

type listVersionsCommand struct {
	Name string `arg:"" help:"Name of the list."`
	documents.Configuration
}

// Run prints a line per version, newest first.
func (l *listVersionsCommand) Run(ctx context.Context, c terminal.Console) error {
	return l.PrintVersions(ctx, c, documents.ListPath(l.Name))
}
