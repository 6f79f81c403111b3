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

// ImportGenerated imports the records of a generator as a log. The number of records is only for the progress.
func ImportGenerated(
	ctx context.Context, store *datadir.Store, name string, g *gen.Generator, records int, stderr io.Writer,
) (ingest.Report, error) {
	defer memory.ForImport()()
	bar := terminal.NewProgress(stderr, int64(records), "generating records", false)
	report, err := store.Import(ctx, name, g, ingest.Options{
		Format:   "orrery",
		Progress: func(p ingest.Progress) { terminal.Show(bar, p.Records) },
	})
	return report, errors.Join(err, bar.Finish())
}
