package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

type forgetCommand struct {
	Data    target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Imports []string      `arg:"" name:"import" help:"IDs of imports, or unique beginnings of them; 'orrery imports' lists them."`
}

// Run takes the records of imports out of the data, one import after the other.
func (f *forgetCommand) Run(ctx context.Context, c terminal.Console) error {
	if err := f.Data.MustExist(); err != nil {
		return err
	}
	defer memory.ForImport()()
	product, err := local.Open(ctx, string(f.Data))
	if err != nil {
		return err
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

func printForgotten(w io.Writer, r datadir.ForgetReport) error {
	name := terminal.Printable(cmp.Or(r.Source.Name, r.Source.Log))
	if r.Before {
		_, err := fmt.Fprintf(w, "%s (%s) was forgotten at %s\n", r.Source.ID, name, terminal.Time(r.Source.Forgotten))
		return err
	}
	_, err := fmt.Fprintf(w, "forgot %s (%s): %s of %s; %s replaced, %d removed\n",
		r.Source.ID, name, terminal.Counted(r.Records, "record"), terminal.Counted(r.Hours, "hour"),
		terminal.Counted(r.Rewritten, "object"), r.Removed)
	return err
}
