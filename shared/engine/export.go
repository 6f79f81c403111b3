package engine

import (
	"context"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Exporter is an engine that reads all records of a query for logs at once, in less time and memory than page by page.
type Exporter interface {
	Engine
	// Export passes all records that answer q to visit, newest first, in parts of a few megabytes. It ignores the limit
	// of q. It passes the same records as the pages of Run: none twice, and every one that was there at the beginning,
	// even if compaction replaces objects meanwhile. visit may keep a part. An error of visit ends the export, which
	// returns it unchanged. Other errors are of the kinds that Engine lists.
	Export(ctx context.Context, q query.Query, visit func(ExportPart) error) error
}

// ExportPart is some of the records of an export.
type ExportPart struct {
	Rows []*lake.Row
	Last bool // no records follow; this part has none
	Cost Cost // of the export, if it is the last part; otherwise only By and Skipped are set
}
