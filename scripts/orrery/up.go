package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/orrery/orrery/scripts/internal/localaws"
)

type upCommand struct {
	FromYear int    `default:"2020" help:"First year of the records; each slows down planning." placeholder:"YEAR"`
	Dir      string `help:"Folder for this run, which keeps its logs; default: temporary." placeholder:"DIR"`
}

// Run deploys the stacks to this machine, prints the API's URL and a key for it, and runs until ctx ends. Then it stops
// every process.
func (u *upCommand) Run(ctx context.Context, c console) error {
	defer uninterrupted()()
	err := u.inFolder(ctx, c)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		const message = "interrupted; all processes are stopped and the data is removed"
		return &exitError{code: exitInterrupted, message: message}
	}
	return err
}

// uninterrupted ignores further signals until resume is called, so that they do not interrupt the clean-up. A terminal
// that is closed sends SIGHUP more than once, and printing to a pipe without a reader raises SIGPIPE.
func uninterrupted() (resume func()) {
	signals := make(chan os.Signal, 1) // never read
	signal.Notify(signals, append(interrupts(), syscall.SIGPIPE)...)
	return func() { signal.Stop(signals) }
}

// inFolder runs the deployment in the folder of --dir, or in a temporary one.
func (u *upCommand) inFolder(ctx context.Context, c console) (err error) {
	dir := u.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "orrery-up-"); err != nil {
			return err
		}
		defer func() { err = localaws.Ended(err, os.RemoveAll(dir)) }()
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	d, err := localaws.Start(ctx, localaws.Options{Root: root, Dir: dir, FromYear: u.FromYear, Progress: c.err})
	if err != nil {
		return err
	}
	defer func() { err = localaws.Ended(err, d.Stop()) }()
	if err := welcome(ctx, c, d); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// welcome prints how to reach the deployment, with a new key. The API's URL, on standard output, comes last.
func welcome(ctx context.Context, c console, d *localaws.Deployment) error {
	key, err := d.IssueKey(ctx, "up", "data:read", "conf:read", "conf:write")
	if err != nil {
		return err
	}
	if err := d.Publish(key); err != nil {
		return err
	}
	fmt.Fprintf(c.err, "\nPut raw logs under s3://%s/raw/. The logs of the functions are in %s.\n",
		d.Outputs["RawBucketName"], d.Functions())
	fmt.Fprintln(c.err, "To use the deployment with an AWS SDK:")
	for _, variable := range d.Environment() {
		fmt.Fprintln(c.err, "  export", variable)
	}
	fmt.Fprintf(c.err, "Try:\n  curl -u :%s %s/api/v4.0/data/fields\nCtrl-C stops it. The API is at:\n", key, d.API)
	_, err = fmt.Fprintln(c.out, d.API)
	return err
}
