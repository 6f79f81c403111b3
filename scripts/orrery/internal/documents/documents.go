// Package documents reads and writes the documents of a configuration, such as saved filters, through the API.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/client"
)

// Configuration is where saved filters, lists of values and scheduled reports are.
type Configuration struct {
	target.Target
	Config string `help:"Configuration of saved filters, lists and scheduled reports." default:"prod" placeholder:"CONFIG"`
}

// Do sends one request about documents, and returns the body and the header of the answer. path is below the
// configuration.
func (s Configuration) Do(
	ctx context.Context, c terminal.Console, method, path string, body []byte, header http.Header,
) ([]byte, http.Header, error) {
	api, done, err := s.Connect(ctx, c.Err)
	if err != nil {
		return nil, nil, err
	}
	answer, err := api.Do(ctx, client.Request{
		Method: method, Path: ConfigPath(s.Config) + path, Header: header, Body: body,
	})
	return answer.Body, answer.Header, errors.Join(err, done())
}

func ConfigPath(config string) string { return "/conf/" + url.PathEscape(config) }

// FilterPath, ListPath and ReportPath return the paths of documents below their configuration.
func FilterPath(name string) string { return "/filters/" + url.PathEscape(name) }
func ListPath(name string) string   { return "/lists/" + url.PathEscape(name) }
func ReportPath(name string) string { return "/reports/" + url.PathEscape(name) }

// VersionPath returns the path of a version of a document. nil is the newest one.
func VersionPath(document string, version *int) string {
	if version == nil {
		return document
	}
	return fmt.Sprintf("%s/versions/%d", document, *version)
}

// IfMatch returns the header of a conditional write. Even an empty ETag is sent: the API refuses it.
func IfMatch(etag *string) http.Header {
	header := http.Header{}
	if etag != nil {
		header.Set("If-Match", *etag)
	}
	return header
}

// Delete deletes a document.
func (s Configuration) Delete(ctx context.Context, c terminal.Console, path, name string, etag *string) error {
	if _, _, err := s.Do(ctx, c, http.MethodDelete, path, nil, IfMatch(etag)); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "deleted %s; its versions can still be read and restored\n", terminal.Printable(name))
	return nil
}

// PrintVersions prints a line per version of a document, newest first.
func (s Configuration) PrintVersions(ctx context.Context, c terminal.Console, path string) error {
	answer, _, err := s.Do(ctx, c, http.MethodGet, path+"/versions", nil, nil)
	if err != nil {
		return err
	}
	return printVersions(c.Out, answer)
}

// printVersions prints a line per version of an answer.
func printVersions(out io.Writer, answer []byte) error {
	list, err := Decoded[resource.Versions](answer)
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

func Decoded[T any](answer []byte) (T, error) {
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	return v, nil
}

// PrintETag prints the ETag of a document, which --if-match takes.
func PrintETag(w io.Writer, header http.Header) {
	fmt.Fprintln(w, "ETag:", terminal.Printable(header.Get("ETag")))
}

// Ask sends a request and decodes the answer.
func Ask[T any](ctx context.Context, server *client.Client, request client.Request) (v T, err error) {
	answer, err := server.Do(ctx, request)
	if err != nil {
		return v, err
	}
	return Decoded[T](answer.Body)
}
