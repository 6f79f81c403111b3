package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest/source"
	"github.com/orrery/orrery/shared/lake"
)

// notices are what a server prints about itself: sentences on a terminal. Elsewhere, such as in a journal, they are
// lines of the log, so that the whole log has one format.
type notices struct {
	person bool // at a terminal
	stderr io.Writer
	log    *slog.Logger // of requests, imports and all else
}

func newNotices(stderr io.Writer) notices {
	return notices{terminal.Is(stderr), stderr, slog.New(slog.NewJSONHandler(stderr, nil))}
}

// say prints a sentence and reports true, or reports false if no person reads it.
func (n notices) say(format string, args ...any) bool {
	if n.person {
		fmt.Fprintf(n.stderr, format, args...)
	}
	return n.person
}

func (n notices) notEncrypted(listen string) {
	const remedy = "set --tls-cert and --tls-key, or put a proxy that serves HTTPS before it"
	if !n.say("warning: requests to %s and their keys are not encrypted: %s\n", terminal.Printable(listen), remedy) {
		n.log.Warn("requests and their keys are not encrypted", "listen", listen, "remedy", remedy)
	}
}

// sameFiles warns of files that several sources have.
func (n notices) sameFiles(o source.Overlap) {
	more := ""
	if count := len(o.Files) - 1; count > 0 {
		more = " and " + terminal.Counted(count, "other file")
	}
	if !n.say("warning: the sources %s of %s have the same files: %s%s. Source %s imports them, because it is the first "+
		"in alphabetical order\n", strings.Join(o.Sources, ", "), source.FileName, terminal.Printable(o.Files[0]), more,
		o.Sources[0]) {
		n.log.Warn("several sources have the same files", "sources", o.Sources, "files", len(o.Files),
			"first_file", o.Files[0], "imported_by", o.Sources[0])
	}
}

func (n notices) demo(data string) {
	if !n.say("there is no data in %s yet: generating a demo of three days with %d records, which the first import "+
		"removes (--no-demo prevents this)\n", terminal.Printable(data), demoRecords) {
		n.log.Info("there is no data, so a demo is generated, which the first import removes", "data", data,
			"records", demoRecords, "remedy", "--no-demo prevents this")
	}
}

func (n notices) metrics(url string) {
	if !n.say("Metrics are on %s.\n", url) {
		n.log.Info("serving metrics", "url", url)
	}
}

// logServing logs the URL of the server, and the number of its records with their times.
func (s *serveCommand) logServing(log *slog.Logger, base string, extent lake.Extent, keyed bool) {
	fields := []any{"url", base, "version", version.String(), "needs_key", keyed, "records", extent.Rows}
	if extent.Rows > 0 {
		fields = append(fields, "from", time.UnixMilli(extent.MinTsMs).UTC(), "to", time.UnixMilli(extent.MaxTsMs).UTC())
	}
	log.Info("serving", append(fields, "watching", s.Watch)...)
}

func (n notices) stopping() {
	if !n.say("stopping: waiting for running requests\n") {
		n.log.Info("stopping: waiting for running requests")
	}
}

// ended returns the error with which the command ends. Without a terminal, it logs the message, so that nothing else
// prints it.
func (n notices) ended(ctx context.Context, err error) error {
	if err == nil || n.person {
		return err
	}
	var message bytes.Buffer
	code := exit.CodeOf(err, ctx, &message)
	n.log.Error("ended with an error", "error", strings.TrimPrefix(strings.TrimSpace(message.String()), "orrery: "))
	return exit.With(code, "")
}
