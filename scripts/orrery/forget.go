package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

type forgetCommand struct {
	Data    target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Missing bool          `help:"Instead of an import, forget the objects whose files have been removed, so that answers no longer report them."`
	Yes     bool          `help:"With --missing: forget the objects even if they have more than 10 % of the records."`
	Imports []string      `arg:"" optional:"" name:"import" help:"IDs of imports, or unique beginnings of them; 'orrery imports' lists them."`
}

// Run takes the records of imports out of the data, one import after the other, or objects that are missing.
func (f *forgetCommand) Run(ctx context.Context, c terminal.Console) error {
	switch {
	case f.Missing == (len(f.Imports) > 0):
		return exit.With(exit.Usage, "name the imports to forget, or write --missing without imports")
	case f.Yes && !f.Missing:
		return exit.With(exit.Usage, "--yes is for --missing")
	}
	if err := f.Data.MustExist(); err != nil {
		return err
	}
	defer memory.ForImport()()
	product, err := local.Open(ctx, string(f.Data))
	if err != nil {
		return err
	}
	if f.Missing {
		err = f.missing(ctx, c, product.Store)
	}
	for _, text := range f.Imports {
		if err = f.forget(ctx, c, product.Store, text); err != nil {
			break
		}
	}
	rollingUp := product.RenewRollups(ctx) // no rollup keeps figures of the records
	return errors.Join(err, rollingUp, product.Close())
}

func (f *forgetCommand) forget(ctx context.Context, c terminal.Console, store *datadir.Store, text string) error {
	id, err := logs.FindImport(ctx, store, text)
	if err != nil {
		return err
	}
	report, err := store.Forget(ctx, id)
	if err != nil {
		return err
	}
	return printForgotten(c.Out, report)
}

// missing forgets the objects whose files have been removed, and prints their names.
func (f *forgetCommand) missing(ctx context.Context, c terminal.Console, store *datadir.Store) error {
	r, err := store.ForgetMissing(ctx, f.Yes)
	if err != nil {
		return err
	}
	for _, name := range r.Objects {
		if _, err := fmt.Fprintln(c.Out, terminal.Printable(name)); err != nil {
			return err
		}
	}
	if r.Unconfirmed {
		return exit.With(exit.Doubt, "nothing was changed: the files of these objects are missing, with "+shareText(r)+
			". To forget the objects, add --yes")
	}
	if len(r.Objects) == 0 {
		_, err = fmt.Fprintln(c.Out, "no object is missing")
		return err
	}
	_, err = fmt.Fprintf(c.Out, "forgot %s, with %s. To import their logs again, forget the imports first\n",
		terminal.Counted(r.Hours, "hour"), shareText(r))
	return err
}

func printForgotten(w io.Writer, r datadir.ForgetReport) error {
	name := terminal.Printable(cmp.Or(r.Source.Name, r.Source.Log))
	if r.Before {
		_, err := fmt.Fprintf(w, "%s (%s) was forgotten at %s\n", r.Source.ID, name, terminal.Time(r.Source.Forgotten))
		return err
	}
	text := fmt.Sprintf("forgot %s (%s): %s of %s; %s replaced, %d removed",
		r.Source.ID, name, terminal.Counted(r.Records, "record"), terminal.Counted(r.Hours, "hour"),
		terminal.Counted(r.Rewritten, "object"), r.Removed)
	if r.Gone > 0 {
		text += fmt.Sprintf("; %s had been removed before", terminal.Counted(r.Gone, "record"))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
