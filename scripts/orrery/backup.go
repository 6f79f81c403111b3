package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/backup"
	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type backupCommand struct {
	Data   target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Force  bool          `help:"Replace the tar file if it exists, without asking."`
	Verify bool          `help:"Make no backup, but read the whole existing one and compare it with its digests."`
	To     string        `arg:"" help:"Folder, to which further backups add what is new, or a file that ends in .tar, or - for a tar file on standard output." placeholder:"DIR|FILE.tar"`
}

// Run copies the data folder while it is used.
func (b *backupCommand) Run(ctx context.Context, c terminal.Console) error {
	if b.Verify {
		return b.verify(ctx, c)
	}
	if err := b.Data.MustExist(); err != nil {
		return err
	}
	toFile := isTar(b.To)
	if toFile {
		if err := mayReplace(ctx, c, b.To, b.Force); err != nil {
			return err
		}
	}
	defer memory.ForImport()()
	var report backup.Report
	err := withBytes(c, "copying objects", func(o backup.Options) (err error) {
		switch {
		case b.To == "-":
			report, err = backup.ToStream(ctx, string(b.Data), c.Out, o)
		case toFile:
			report, err = backup.ToFile(ctx, string(b.Data), b.To, o)
		default:
			report, err = backup.ToFolder(ctx, string(b.Data), b.To, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	out := c.Out
	if b.To == "-" {
		out = c.Err
	}
	return printBackup(c.Err, out, report)
}

// isTar reports whether a backup at a path is a tar file.
func isTar(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() || err != nil && strings.HasSuffix(path, ".tar")
}

func printBackup(stderr, out io.Writer, r backup.Report) error {
	for _, name := range r.Missing {
		_, err := fmt.Fprintf(stderr, "%s is missing, so the backup lacks it; restore the file, or forget it with "+
			"orrery forget --missing\n", terminal.Printable(name))
		if err != nil {
			return err
		}
	}
	text := fmt.Sprintf("backed up %s in %s: copied %s (%s)", terminal.Counted(r.Records, "record"),
		terminal.Counted(r.Objects, "object"), terminal.Counted(r.Copied, "object"), terminal.Bytes(r.Bytes))
	if r.Removed > 0 {
		text += ", removed " + terminal.Counted(r.Removed, "file") + " of the backup before"
	}
	if _, err := fmt.Fprintln(out, text); err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		return &exit.Error{Code: exit.Incomplete}
	}
	return nil
}

// verify reads a backup and prints how many records and files are in it.
func (b *backupCommand) verify(ctx context.Context, c terminal.Console) error {
	from, err := backupAt(c, b.To)
	if err != nil {
		return err
	}
	m, err := backup.Verify(ctx, from, backup.Options{})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "the backup of %s is complete: %s in %s\n", terminal.Time(m.At),
		terminal.Counted(m.Records, "record"), terminal.Counted(len(m.Files), "file"))
	return err
}

// backupAt returns the backup at a path, or on standard input.
func backupAt(c terminal.Console, path string) (backup.Source, error) {
	if path == "-" {
		return backup.FromStream(c.In), nil
	}
	return backup.From(path)
}

// withBytes shows the progress of copied bytes.
func withBytes(c terminal.Console, what string, work func(backup.Options) error) error {
	bar := terminal.NewProgress(c.Err, -1, what, true)
	err := work(backup.Options{Program: version.String(), Now: time.Now, Progress: func(done, total int64) {
		bar.ChangeMax64(total)
		terminal.Show(bar, done)
	}})
	return errors.Join(err, bar.Finish())
}
