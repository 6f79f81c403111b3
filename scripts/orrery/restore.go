package main

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/scripts/internal/backup"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type restoreCommand struct {
	Data target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder for the data, which must be empty or missing." placeholder:"DIR"`
	From string        `arg:"" name:"backup" help:"Folder or tar file of 'orrery backup', or - for a tar file on standard input." placeholder:"DIR|FILE.tar"`
}

// Run makes a data folder from a backup.
func (r *restoreCommand) Run(ctx context.Context, c terminal.Console) error {
	from, err := backupAt(c, r.From)
	if err != nil {
		return err
	}
	var restored backup.Restored
	err = withBytes(c, "restoring files", func(o backup.Options) (err error) {
		restored, err = backup.Restore(ctx, from, string(r.Data), o)
		return err
	})
	if err != nil {
		return err
	}
	period := ""
	if !restored.From.IsZero() {
		period = fmt.Sprintf(" from %s to %s", terminal.Time(restored.From), terminal.Time(restored.To))
	}
	_, err = fmt.Fprintf(c.Out, "restored the backup of %s: %s%s\n", terminal.Time(restored.Manifest.At),
		terminal.Counted(restored.Manifest.Records, "record"), period)
	return err
}
