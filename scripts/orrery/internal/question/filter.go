// Package question reads a question from the command line: its filter, its period and its parameters. It shows the
// mistakes of a filter under its text.
package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/savedfilter"
)

// FilterText returns the filter of a command line: the argument itself, or standard input for "-".
func FilterText(arg string, in io.Reader) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read the filter from standard input: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// Drawn prints the mistakes of a filter under its text, and the corrected filter if there is one. It returns other
// errors unchanged.
func Drawn(err error, stderr io.Writer) error {
	var wrong *query.FilterError
	if !errors.As(err, &wrong) {
		return err
	}
	fmt.Fprint(stderr, filter.Draw(wrong.Text, wrong.Errors))
	if wrong.Fixed != "" {
		fmt.Fprintf(stderr, "corrected: %s\n", terminal.Printable(wrong.Fixed))
	}
	return &exit.Error{Code: exit.Failed}
}

// WithSaved returns the filter of a command line: at most one text, and names of saved filters, each after an @. All of
// them must hold.
func WithSaved(
	ctx context.Context, api *client.Client, config string, args []string, c terminal.Console,
) (string, error) {
	text, given := "", false
	var saved []savedfilter.Filter
	for _, arg := range args {
		name, isName := strings.CutPrefix(arg, "@")
		switch {
		case isName:
			path := documents.ConfigPath(config) + documents.FilterPath(name)
			answer, err := api.Do(ctx, client.Request{Method: http.MethodGet, Path: path})
			if err != nil {
				return "", err
			}
			f, err := documents.Decoded[savedfilter.Filter](answer.Body)
			if err != nil {
				return "", err
			}
			saved = append(saved, f)
		case given:
			return "", exit.With(exit.Usage, fmt.Sprintf(
				"there are two filters, %q and %q; write one filter in quotes, and the names of saved filters with @",
				text, arg))
		default:
			var err error
			if text, err = FilterText(arg, c.In); err != nil {
				return "", err
			}
			given = true
		}
	}
	return savedfilter.With(text, saved), nil
}

// DrawRefusal prints the mistakes of a filter, which is one of the parameters, under its text. It returns other errors
// unchanged.
func DrawRefusal(err error, parameters map[string]any, stderr io.Writer) error {
	var r *client.Error
	if !errors.As(err, &r) || len(r.Errors) == 0 {
		return err
	}
	text, _ := parameters[cmp.Or(r.Errors[0].Parameter, "filters")].(string)
	wrong := &query.FilterError{Text: text, Fixed: r.Fixed}
	for _, e := range r.Errors {
		wrong.Errors = append(wrong.Errors, filter.Error{
			Code: e.Code, Message: e.Message, Span: filter.Span{Offset: e.Offset, Length: e.Length},
		})
	}
	return Drawn(wrong, stderr)
}
