package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/ingest/source"
)

type statusCommand struct {
	target.Target
	Stack  string `help:"Name of a deployment on AWS, instead of --url." placeholder:"NAME"`
	Hours  int    `default:"12" help:"Number of hours in the table, the newest first."`
	Format string `enum:"auto,table,json" default:"auto" help:"table or json; auto: table on a terminal, json elsewhere."`
}

// Run prints the status of a server, of a deployment or of a folder.
func (s *statusCommand) Run(ctx context.Context, c terminal.Console) error {
	switch {
	case s.Stack != "" && s.URL != "":
		return exit.With(exit.Usage, "--stack and --url name two servers; give one of them")
	case s.Hours < 0:
		return exit.With(exit.Usage, "--hours must not be negative")
	}
	if s.Stack != "" {
		var err error
		if s.URL, err = target.URLOfStack(ctx, s.Stack); err != nil {
			return err
		}
	}
	server, done, err := s.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	response, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: "/status"})
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	if s.Format == "json" || s.Format == "auto" && !terminal.Is(c.Out) {
		_, err := c.Shown().Write(append(response.Body, '\n'))
		return err
	}
	answer, err := client.DecodeStatus(response.Body)
	if err != nil {
		return err
	}
	return s.print(c.Out, answer, time.Now())
}

// print prints a status as a table: a line for each member, then the newest hours.
func (s *statusCommand) print(out io.Writer, a client.Status, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, terminal.Printable(value)) }
	line("version", a.Version)
	line("engine", a.Engine)
	line("records", recordsText(a))
	if a.Demo {
		line("demo", "the records come from the demo, which the first import removes")
	}
	if a.Complete != nil {
		line("complete", "through "+*a.Complete+terminal.Ago(*a.Complete, now))
	} else {
		line("complete", "not known")
	}
	if k := a.Kept; k != nil {
		line("kept", source.FormatKeep(time.Duration(k.Hours)*time.Hour)+", records from before "+k.From+" are removed")
	}
	if a.Objects != nil && a.Bytes != nil {
		line("stored", fmt.Sprintf("%s in %s", terminal.Bytes(*a.Bytes), terminal.Counted(*a.Objects, "object")))
	}
	if i := a.Ingest; i != nil {
		line("imports", importsText(*i, now))
		line("quarantine", quarantineText(i.Quarantined))
	}
	if p := a.Price; p != nil {
		line("price", fmt.Sprintf(
			"$%g for each TB, at least %s for each query", p.USDPerTB, terminal.Bytes(p.MinimumBytes),
		))
	}
	if wait := a.Limits.Wait; wait != nil {
		line("wait", fmt.Sprintf("%g s for a query", *wait))
	}
	line("routes", strings.Join(a.Features, " "))
	if k := a.Key; k != nil {
		line("key", keyText(*k))
	}
	if hours := a.Hours[:min(len(a.Hours), s.Hours)]; len(hours) > 0 {
		fmt.Fprintln(w, "\nhour\tobjects\trecords\tbytes\tcompacted")
		for _, h := range hours {
			records := "-"
			if h.Records != nil {
				records = fmt.Sprint(*h.Records)
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%t\n", h.Partition, h.Objects, records, h.Bytes, h.Compacted)
		}
	}
	return w.Flush()
}

func recordsText(a client.Status) string {
	if a.Extent == nil {
		return "none"
	}
	text := "up to " + a.Extent.To
	if a.Extent.From != nil {
		text = "from " + *a.Extent.From + " to " + a.Extent.To
	}
	if a.Records != nil {
		text = fmt.Sprint(*a.Records, " ", text)
	}
	return text
}

func importsText(i client.Ingest, now time.Time) string {
	text := "none"
	if i.LastSource != nil {
		text = "the latest of " + *i.LastSource
	}
	if i.LastAt != nil {
		text += " at " + *i.LastAt + terminal.Ago(*i.LastAt, now)
	}
	if i.Watching {
		text += "; raw logs are watched"
	}
	return text
}

func quarantineText(q client.Quarantined) string {
	text := "number of lines not known"
	if q.Lines != nil {
		text = terminal.Counted(*q.Lines, "line")
	}
	if q.NewestCode != nil {
		text += ", the newest " + *q.NewestCode
	}
	if q.Unreadable != nil {
		text += "; those of " + *q.Unreadable + " cannot be read, because their file is damaged"
	}
	return text
}

func keyText(k client.Key) string {
	branches, expires := "all branches", "never expires"
	if k.Branches != nil {
		branches = strings.Join(k.Branches, ",")
	}
	if k.Expires != nil {
		expires = "expires " + *k.Expires
	}
	scopes := strings.Join(slices.Sorted(slices.Values(k.Scopes)), ",")
	return fmt.Sprintf("%s: %s on %s, %s", k.Name, scopes, branches, expires)
}
