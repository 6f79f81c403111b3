// Package watch imports the logs that are put into watched folders. Meanwhile it removes old data, and compacts and
// rolls up the rest.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/logformat"
)

const (
	lookEvery = 500 * time.Millisecond // how often a watching server looks for new logs
)

// Days is a number of days.
type Days uint

func (d Days) Duration() time.Duration { return time.Duration(d) * 24 * time.Hour }

// Run imports files that are put into the watched folder, and the other files, until ctx ends. It logs errors, because
// they must not stop the server. The options apply to the files of the watched folder.
func Run(
	ctx context.Context, product *local.Product, options ingest.Options, others []datadir.Watched, logger *slog.Logger,
) {
	watcher, err := datadir.NewWatcher(product.Store, options)
	if err != nil {
		logger.Error("not watching", "error", err)
		return
	}
	for _, files := range others {
		watcher.Watch(files)
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	watcher.Run(ctx, ticker.C, func(r datadir.FileResult) { logResult(logger, r) })
}

func logResult(logger *slog.Logger, r datadir.FileResult) {
	if r.Again {
		logger.Error("not imported yet; it is tried again", "file", r.Path, "error", r.Err)
		return
	}
	if r.Err != nil {
		fields := []any{"file", r.Path, "error", r.Err}
		if unknown, is := errors.AsType[*logformat.UnrecognizedError](r.Err); is && unknown.Members != nil {
			fields = append(fields, "members", unknown.ShownMembers())
			if len(unknown.Map) > 0 {
				fields = append(fields, "remedy", "orrery import "+logformat.MapFlags(unknown.Map)+" FILE",
					"source", logs.TOMLOf(unknown.Map))
			}
		}
		logger.Error("not imported", fields...)
		return
	}
	if r.Report.Forgotten != "" {
		logger.Warn("not imported, because the log was forgotten", "file", r.Path, "import", r.Report.Forgotten,
			"remedy", "to import it anew: orrery import FILE")
		return
	}
	fields := []any{
		"file", r.Path, "records", r.Report.Records, "rejected", r.Report.RejectedLines(),
		"known", r.Report.Known, "ms", r.Report.Elapsed.Milliseconds(),
	}
	if r.Report.Resumed > 0 {
		fields = append(fields, "resumed", r.Report.Resumed)
	}
	if r.Report.Expired > 0 {
		fields = append(fields, "expired", r.Report.Expired)
	}
	logger.Info("imported", append(fields, r.Report.Oddities()...)...)
	if r.Report.Overlaps() {
		logger.Warn("most of the first records are in the data already and are counted twice", "file", r.Path,
			"records", r.Report.Judged, "seen", r.Report.Seen, "in", r.Report.SeenIn, "import", r.Report.Source,
			"remedy", "if the log is a copy or a part of an imported one: orrery forget IMPORT")
	}
	if n := r.Report.Rejected[ingest.TooOld]; n > 0 {
		logger.Warn("records are older than the horizon and in quarantine",
			"file", r.Path, "records", n, "quarantine", r.Report.Quarantine,
			"remedy", "if their times are right, import these lines; shared/ingest/README.md describes how")
	}
	if r.Report.Left > 0 && !r.Busy {
		logger.Warn("the last line has no newline and is left until the file grows",
			"file", r.Path, "bytes", r.Report.Left,
			"remedy", "if the file is complete: orrery import --take-last FILE")
	}
}
