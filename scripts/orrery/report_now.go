package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/scheduled"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/schedule"
	"github.com/orrery/orrery/shared/report/worker"
	"github.com/orrery/orrery/shared/zone"
)

// scheduled returns the name of the scheduled report that is to be made. No filter is such a name.
func (r *reportRunCommand) scheduled() (name string, ok bool) {
	if len(r.Filter) != 1 || r.Filter[0] == "-" || !document.ValidName(r.Filter[0]) {
		return "", false
	}
	return r.Filter[0], true
}

// makeNow makes a scheduled report about a period, delivers it, and prints who has it. A server makes it by itself; in
// a folder, this process does.
func (r *reportRunCommand) makeNow(ctx context.Context, c terminal.Console, name string) (err error) {
	server, runner, done, err := r.connectRunner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	path := "/conf/" + url.PathEscape(r.Config) + "/reports/" + url.PathEscape(name)
	one, err := documents.Ask[resource.ScheduledReport](ctx, server, client.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	from, to, err := r.period(one.Definition, time.Now())
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"from": from.Format(time.RFC3339), "to": to.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	run, err := documents.Ask[resource.ReportRun](
		ctx, server, client.Request{Method: http.MethodPost, Path: path + "/run", Body: body},
	)
	for state := runs.State(""); err == nil && !scheduled.Settled(run); {
		if run.State != state {
			state = run.State
			fmt.Fprintf(c.Err, "orrery: %s\n", terminal.Printable(string(state)))
		}
		if runner == nil {
			err = pause.For(ctx, time.Second)
		} else {
			err = runner.Advance(ctx, run.ID)
		}
		if err == nil {
			run, err = documents.Ask[resource.ReportRun](
				ctx, server, client.Request{Method: http.MethodGet, Path: path + "/runs/" + run.ID},
			)
		}
		if err == nil && runner != nil && !scheduled.Settled(run) { // a server is at it
			err = pause.For(ctx, time.Second)
		}
	}
	if err != nil {
		return err
	}
	return scheduled.PrintRun(c, run)
}

// connectRunner opens the target, and what makes the reports of a folder.
func (r *reportRunCommand) connectRunner(
	ctx context.Context, c terminal.Console,
) (server *client.Client, runner *worker.Runner, done func() error, err error) {
	if r.URL != "" {
		server, done, err = r.Connect(ctx, c.Err)
		return server, nil, done, err
	}
	server, product, closeProduct, err := r.OpenProduct(ctx, c.Err)
	if err != nil {
		return nil, nil, nil, err
	}
	known, err := local.OpenKeys(ctx, string(r.Data))
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeProduct())
	}
	closeAll := func() error { return errors.Join(known.Close(), closeProduct()) }
	runner, err = product.ReportRunner(local.ServeOptions{
		Access: &local.Access{APIKey: r.APIKey, Keys: known}, Log: target.Warnings(c.Err),
	}, time.Now)
	if err == nil && runner == nil {
		err = errors.New("the data folder is read-only or its disk is full, so no report can be made in it")
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeAll())
	}
	return server, runner, closeAll, nil
}

// period returns the period of --from and --to or of --last, or the last one that the report would be made about.
func (r *reportRunCommand) period(d definition.Definition, now time.Time) (from, to time.Time, err error) {
	location, err := zone.Load(d.TZ)
	if err != nil {
		return from, to, err
	}
	switch {
	case r.From != "" && len(r.To) == 1 && r.Last == "":
		if from, err = timeOf("--from", r.From, location); err == nil {
			to, err = timeOf("--to", r.To[0], location)
		}
		return from, to, err
	case r.From != "" || len(r.To) > 0:
		return from, to, exit.With(exit.Usage, "a scheduled report needs --from and --to, or neither, or --last alone")
	}
	p, err := schedule.Last(d, now)
	if r.Last != "" {
		p = r.Last.Last(now.In(location))
	}
	return time.UnixMilli(p.FromMs).UTC(), time.UnixMilli(p.ToMs + 1).UTC(), err
}

// timeOf reads the value of a flag, in a zone unless it has one.
func timeOf(flag, text string, location *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, location); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, exit.With(exit.Usage, fmt.Sprintf(
		"%s: %q is not a time; write one such as 2026-11-16, \"2026-11-16 07:00\" or 2026-11-16T07:00:00Z", flag, text))
}
