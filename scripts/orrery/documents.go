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
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/client"
)

// configuration is where saved filters and scheduled reports are.
type configuration struct {
	target
	Config string `help:"Configuration of saved filters and scheduled reports." default:"prod" placeholder:"CONFIG"`
}

// do sends one request about documents, and returns the body and the header of the answer. path is below the
// configuration.
func (s configuration) do(
	ctx context.Context, c console, method, path string, body []byte, header http.Header,
) ([]byte, http.Header, error) {
	api, done, err := s.connect(ctx, c.err)
	if err != nil {
		return nil, nil, err
	}
	answer, err := api.Do(ctx, client.Request{
		Method: method, Path: configPath(s.Config) + path, Header: header, Body: body,
	})
	return answer.Body, answer.Header, errors.Join(err, done())
}

func configPath(config string) string { return "/conf/" + url.PathEscape(config) }

// filterPath and reportPath return the paths of documents below their configuration.
func filterPath(name string) string { return "/filters/" + url.PathEscape(name) }
func reportPath(name string) string { return "/reports/" + url.PathEscape(name) }

// versionPath returns the path of a version of a document. nil is the newest one.
func versionPath(document string, version *int) string {
	if version == nil {
		return document
	}
	return fmt.Sprintf("%s/versions/%d", document, *version)
}

// ifMatch returns the header of a conditional write. Even an empty ETag is sent: the API refuses it.
func ifMatch(etag *string) http.Header {
	header := http.Header{}
	if etag != nil {
		header.Set("If-Match", *etag)
	}
	return header
}

// delete deletes a document.
func (s configuration) delete(ctx context.Context, c console, path, name string, etag *string) error {
	if _, _, err := s.do(ctx, c, http.MethodDelete, path, nil, ifMatch(etag)); err != nil {
		return err
	}
	fmt.Fprintf(c.err, "deleted %s; its versions can still be read and restored\n", terminal.Printable(name))
	return nil
}

// printVersions prints a line per version of a document, newest first.
func (s configuration) printVersions(ctx context.Context, c console, path string) error {
	answer, _, err := s.do(ctx, c, http.MethodGet, path+"/versions", nil, nil)
	if err != nil {
		return err
	}
	return printVersions(c.out, answer)
}

// printVersions prints a line per version of an answer.
func printVersions(out io.Writer, answer []byte) error {
	list, err := decoded[resource.Versions](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(out)
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

// printETag prints the ETag of a document, which --if-match takes.
func printETag(w io.Writer, header http.Header) {
	fmt.Fprintln(w, "ETag:", terminal.Printable(header.Get("ETag")))
}

// oneLine returns text without characters that break a table or the terminal.
func oneLine(text string) string { return terminal.Printable(strings.Join(strings.Fields(text), " ")) }
