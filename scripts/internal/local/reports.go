package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/delivery/deliveryaws"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runssqlite"
	"github.com/orrery/orrery/shared/report/worker"
	"github.com/orrery/orrery/shared/valuelist/listsource"
)

// reports are the stores of scheduled reports. They are nil if the disk was full, and in a read-only folder without
// runs.
type reports struct {
	runs     runs.Store
	readOnly bool
}

// openReports opens the runs of scheduled reports.
func (p *Product) openReports(ctx context.Context, data string) error {
	open, readOnly := runssqlite.Open, readOnly(data)
	if readOnly {
		open = runssqlite.OpenReadOnly
	}
	store, err := open(ctx, filepath.Join(data, runsFile))
	switch {
	case fault.IsFull(err), readOnly && (errors.Is(err, fs.ErrNotExist) || fault.KindOf(err) == fault.ReadOnly):
		return nil
	case err != nil:
		return err
	}
	p.reports = reports{store, readOnly}
	p.files = append(p.files, store)
	return nil
}

// reportSettings returns where scheduled reports may be sent. A mistake in the file is an error of a server; a command
// that answers its own requests, such as a query, only logs it.
func (p *Product) reportSettings(s ServeOptions) (destination.Settings, error) {
	settings, err := destination.Read(p.folder, os.LookupEnv)
	if err != nil && s.Access == nil {
		s.Log.Warn("scheduled reports have no destinations", "error", err)
		return destination.Settings{}, nil
	}
	return settings, err
}

// ReportRunner returns what runs the scheduled reports of the folder that are due by a clock, or nil if the folder is
// read-only or its disk was full. The links of reports are those of the settings, or lead to the address of the
// options. The options must have an Access.
func (p *Product) ReportRunner(s ServeOptions, now func() time.Time) (*worker.Runner, error) {
	if p.reports.runs == nil || p.reports.readOnly {
		return nil, nil
	}
	settings, err := p.reportSettings(s)
	if err != nil {
		return nil, err
	}
	for _, file := range settings.Exposed() {
		s.Log.Warn("every user of this machine may read a secret", "file", file, "remedy", "chmod 600 "+file)
	}
	settings.Link = cmp.Or(settings.Link, s.Address)
	return p.reportRunner(s.Access, settings, s.Log, now), nil
}

func (p *Product) reportRunner(
	access *Access, settings destination.Settings, log *slog.Logger, now func() time.Time,
) *worker.Runner {
	return worker.New(worker.Config{
		Documents: p.documents, Runs: p.reports.runs, Settings: settings, Log: log, Now: now,
		AtOnce:  inquiry.Few,
		Deliver: delivery.Sender{Settings: settings, AWS: deliveryaws.Default()},
		Ask: func(branches []string, key string) asking.Source {
			return reportSource{p, answering.AskAs(p.Search, branches, "report "+key, now)}
		},
		Complete: p.completeThrough,
		Key:      func(ctx context.Context, id string) (string, error) { return access.whyUnusable(ctx, id, now()) },
	})
}

// ListRefresher returns what refreshes the published lists that orrery.toml names, or nil if it names none or the folder
// is read-only.
func (p *Product) ListRefresher(log *slog.Logger, now func() time.Time) (*listsource.Refresher, error) {
	sources, err := listsource.Read(p.folder)
	if err != nil || len(sources) == 0 || readOnly(p.folder) {
		return nil, err
	}
	return &listsource.Refresher{Sources: sources, Documents: p.documents, Objects: p.lists, Log: log, Now: now}, nil
}

// completeThrough returns through which time the data is complete, or the zero time if the engine cannot know it. At
// the start of a server that watches a folder, nothing is complete.
func (p *Product) completeThrough(ctx context.Context) (time.Time, error) {
	_, complete, err := p.freshness(ctx)
	if p.Store != nil && complete.IsZero() {
		complete = time.Unix(0, 0)
	}
	return complete, err
}

// reportSource answers the questions of a report, each from one set of records.
type reportSource struct {
	product *Product
	ask     answering.Ask
}

// Ask implements asking.Source.
func (s reportSource) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if s.product.demo != nil {
		ctx = s.product.demo.pin(ctx)
	}
	return s.ask(ctx, route, params)
}

// whyUnusable returns why a key with an ID cannot be used, in words after because; "": it can. "" is the ID of callers
// who needed no key.
func (a Access) whyUnusable(ctx context.Context, id string, now time.Time) (string, error) {
	if id == "" || a.APIKey != "" && id == keys.IDOf(keys.HashOf(a.APIKey)) {
		return "", nil
	}
	return keys.WhyUnusable(ctx, a.Keys, id, now)
}
