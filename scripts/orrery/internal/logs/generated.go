package logs

import (
	"context"
	"errors"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// ImportGenerated imports the records of a generator as a log.
func ImportGenerated(
	ctx context.Context, store *datadir.Store, name string, options gen.Options, stderr io.Writer,
) (ingest.Report, error) {
	defer memory.ForImport()()
	bar := terminal.NewProgress(stderr, int64(options.Records), "generating records", false)
	report, err := store.Import(ctx, name, gen.New(options), ingest.Options{
		Format:   "orrery",
		Progress: func(p ingest.Progress) { terminal.Show(bar, p.Records) },
	})
	return report, errors.Join(err, bar.Finish())
}
