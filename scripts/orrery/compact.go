package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/keep"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/source"
)

type compactCommand struct {
	Data    target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Rollups bool          `xor:"keep" help:"Only roll up days, for questions about long periods, and merge no files."`
	Keep    *keep.Age     `xor:"keep" help:"Keep records up to this age, such as 90d: remove older hours, and leave older records out of imports; 0d keeps all; default: the value of keep in orrery.toml." placeholder:"AGE"`
	Yes     bool          `help:"Remove the old hours even if they have more than 10 % of the records."`
}

// Run removes hours that are too old, merges the objects of every other hour that has several, and rolls up days. A
// server over the same folder keeps answering requests.
func (k *compactCommand) Run(ctx context.Context, c terminal.Console) error {
	if err := k.Data.MustExist(); err != nil {
		return err
	}
	age, err := keep.Of(k.Keep, k.Data)
	if err != nil {
		return err
	}
	if age == nil && k.Yes {
		return exit.With(exit.Usage, "--yes is for --keep, or keep of "+source.FileName)
	}
	defer memory.ForImport()()
	product, err := local.Open(ctx, string(k.Data))
	if err != nil {
		return err
	}
	err = k.run(ctx, c, product, age)
	return errors.Join(err, product.Close())
}

func (k *compactCommand) run(
	ctx context.Context, c terminal.Console, product *local.Product, age *time.Duration,
) error {
	if k.Rollups {
		return rollUp(ctx, c, product)
	}
	if age != nil {
		if err := k.expire(ctx, c, product, *age); err != nil {
			return err
		}
	}
	var report datadir.CompactReport
	err := withBar(c, "compacting hours", func(progress func(done, total int)) (err error) {
		report, err = product.Store.Compact(ctx, datadir.CompactOptions{Memory: memory.Merge, Progress: progress})
		return err
	})
	if err == nil || report.Removed > 0 && fault.IsFull(err) {
		err = errors.Join(err, printCompacted(c, report))
	}
	if err == nil {
		err = rollUp(ctx, c, product)
	}
	if err == nil && len(report.Damaged) > 0 {
		return &exit.Error{Code: exit.Incomplete}
	}
	return err
}

// expire removes hours that are too old, and prints what it has removed.
func (k *compactCommand) expire(
	ctx context.Context, c terminal.Console, product *local.Product, age time.Duration,
) error {
	product.Store.SetKeep(age)
	r, err := product.Expire(ctx, age, k.Yes)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s older than %s, with %s", terminal.Counted(r.Hours, "hour"), source.FormatKeep(age),
		shareText(r))
	switch {
	case r.Unconfirmed:
		return exit.With(exit.Doubt, "nothing was changed: "+what+" would be removed. To remove them, add --yes")
	case r.Hours == 0:
		return nil
	}
	_, err = fmt.Fprintf(c.Out, "removed %s; the next compaction after %g minutes removes their files\n", what,
		datadir.DefaultGrace.Minutes())
	return err
}

// shareText describes the objects of a removal.
func shareText(r datadir.Removal) string {
	return fmt.Sprintf("%d of %s (%.1f %%, %s in %s)", r.Records, terminal.Counted(r.Of, "record"),
		100*float64(r.Records)/float64(max(1, r.Of)), terminal.Bytes(r.Bytes),
		terminal.Counted(len(r.Objects), "object"))
}

// rollUp rolls up days, and says how many.
func rollUp(ctx context.Context, c terminal.Console, product *local.Product) error {
	var report local.RollUpReport
	err := withBar(c, "rolling up days", func(progress func(done, total int)) (err error) {
		report, err = product.RollUp(ctx, progress)
		return err
	})
	if err != nil {
		return err
	}
	text := "rolled up " + terminal.Counted(report.Days, "day")
	if report.Weeks > 0 {
		text += " and " + terminal.Counted(report.Weeks, "week")
	}
	if report.Removed > 0 {
		text += ", removed " + terminal.Counted(report.Removed, "rollup") + " of records that have changed"
	}
	_, err = fmt.Fprintln(c.Out, text)
	return err
}

// withBar shows the progress of work.
func withBar(c terminal.Console, what string, work func(progress func(done, total int)) error) error {
	bar := terminal.NewProgress(c.Err, -1, what, false)
	err := work(func(done, total int) {
		bar.ChangeMax(total)
		terminal.Show(bar, int64(done))
	})
	return errors.Join(err, bar.Finish())
}

func printCompacted(c terminal.Console, report datadir.CompactReport) error {
	for _, name := range report.Newer {
		if _, err := fmt.Fprintf(
			c.Err, "%s was written by a newer orrery and is not merged\n", terminal.Printable(name),
		); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(report.Damaged)) {
		_, err := fmt.Fprintf(c.Err, "%s is not merged, and answers leave it out: %s; restore the file from a backup, "+
			"or import its logs into a new folder\n", terminal.Printable(name),
			terminal.Printable(report.Damaged[name]))
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(c.Out,
		"merged %s of %s (%s, %d to %s), removed %s no longer needed\n",
		terminal.Counted(report.Objects, "object"), terminal.Counted(report.Hours, "hour"),
		terminal.Counted(report.Rows, "record"),
		report.Before, terminal.Counted(report.After, "byte"), terminal.Counted(report.Removed, "file"))
	return err
}
