package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/orrery/orrery/scripts/internal/localaws"
)

type upCommand struct {
	FromYear int    `default:"2020" help:"First year that can be asked about; every one makes planning a query longer." placeholder:"YEAR"`
	Dir      string `help:"Folder for everything of this run. Without: a temporary one that goes with it." placeholder:"DIR"`
}

// Run deploys the stacks to this machine, prints the API's URL and a key for it, and keeps them until ctx ends.
func (u *upCommand) Run(ctx context.Context, c console) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir := u.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "orrery-up-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	d, err := localaws.Start(ctx, localaws.Options{Root: root, Dir: dir, FromYear: u.FromYear, Progress: c.err})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	key, err := d.IssueKey(ctx, "up", "data:read", "conf:read", "conf:write")
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "\nLogs go under s3://%s/raw/, functions write theirs to %s.\nThe SDKs reach all of it with:\n", d.Outputs["RawBucketName"], d.Functions())
	for _, variable := range d.Environment() {
		fmt.Fprintln(c.err, "  export", variable)
	}
	fmt.Fprintf(c.err, "Try:\n  curl -u :%s %s/api/v4.0/data/fields\nCtrl-C ends it. The API is at:\n", key, d.API)
	if _, err := fmt.Fprintln(c.out, d.API); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
