package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
)

// Prober is the part of *hybrid.Engine that Scan uses.
type Prober interface {
	// Probe counts the records of the newest hour by a scan. The error is a scan.ErrUnsupported if the hour is too large.
	Probe(ctx context.Context) (engine.Cost, error)
}

// Scan checks that the function can answer small questions without Athena. megabytes is the limit of their columns.
func Scan(engine Prober, megabytes int) Check {
	return Check{
		Name: "scan",
		Remedy: "Athena answers instead, more slowly; the role must allow s3:GetObject on lake/ and s3:ListBucket on " +
			"lake/fresh/ and lake/compact/; if an object is damaged, see the check \"damaged objects\"",
		Run: func(ctx context.Context) (string, error) {
			if megabytes == 0 {
				return "Athena answers all questions", nil
			}
			_, err := engine.Probe(ctx)
			switch {
			case errors.Is(err, scan.ErrUnsupported):
				return fmt.Sprintf("Athena answers questions about the newest hour, whose columns have more than %d MB", megabytes), nil
			case err != nil:
				return "", refused(err, "the objects of the newest hour")
			}
			return fmt.Sprintf("the function can count the records of the newest hour; it answers questions about up to %d MB",
				megabytes), nil
		},
	}
}
