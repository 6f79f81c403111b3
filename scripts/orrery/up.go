package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/keys"
)

type upCommand struct {
	FromYear int    `default:"2020" help:"First year of the records; each year makes planning slower." placeholder:"YEAR"`
	Dir      string `default:".orrery-up" env:"ORRERY_UP" help:"Folder for the data, the key and the logs." placeholder:"DIR"`
}

// Run deploys the stacks to this machine, prints how to use the deployment, and runs until ctx ends. Then it stops
// every process. The data stays in the folder for the next run.
func (u *upCommand) Run(ctx context.Context, c terminal.Console) error {
	defer uninterrupted()()
	screen := terminal.NewSteps(c.Err)
	acknowledged := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(acknowledged)
		screen.Line("Interrupted. It takes some seconds to stop every process.")
	})
	err := u.serve(ctx, c, screen)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		<-acknowledged
		message := "interrupted; all processes are stopped, and the data stays in " + u.Dir
		return exit.With(exit.Interrupted, message)
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

// serve runs the deployment until ctx ends.
func (u *upCommand) serve(ctx context.Context, c terminal.Console, screen *terminal.Steps) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	screen.Line(fmt.Sprintf("Starting a deployment in %s; %s has the details.", u.Dir, localaws.LogFile(u.Dir)))
	d, err := localaws.Start(ctx, localaws.Options{
		Root: root, Dir: u.Dir, FromYear: u.FromYear, Step: screen.Step,
		Denied: func(reason string) { screen.Line("denied: " + reason) },
	})
	screen.Stop()
	if err != nil {
		return u.withLog(ctx, c, err)
	}
	defer func() { err = localaws.Ended(err, d.Stop()) }()
	if err := u.welcome(ctx, c, d, screen); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// lastLines is how many lines of the log a failure shows.
const lastLines = 20

// withLog prints the end of the log before an error of a step. It returns the error.
func (u *upCommand) withLog(ctx context.Context, c terminal.Console, failed error) error {
	if ctx.Err() != nil || !localaws.FromTool(failed) {
		return failed
	}
	text, err := os.ReadFile(localaws.LogFile(u.Dir))
	if err != nil {
		return failed // which is more important
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	fmt.Fprintf(c.Err, "The end of %s:\n", localaws.LogFile(u.Dir))
	for _, line := range lines[max(0, len(lines)-lastLines):] {
		fmt.Fprintln(c.Err, "  "+terminal.Printable(line, '\t'))
	}
	return failed
}

// welcome prints how to use the deployment. The API's URL, on standard output, comes last.
func (u *upCommand) welcome(
	ctx context.Context, c terminal.Console, d *localaws.Deployment, screen *terminal.Steps,
) error {
	key, err := d.Key(ctx, "up", keys.DataRead, keys.ConfRead, keys.ConfWrite)
	if err != nil {
		return err
	}
	if err := d.Publish(key); err != nil {
		return err
	}
	dir := u.Dir
	if strings.ContainsAny(dir, " '\"$\\") {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	screen.Line(fmt.Sprintf(`  import a log:  orrery put FILE --dir %s
  ask:           curl -u :%s %s/api/v4.0/data/fields
  AWS programs:  %s has the endpoint; %s has the functions' logs
Ctrl-C stops it, and the data stays. The API is at:`,
		dir, key, d.API, filepath.Join(u.Dir, "deployment.json"), filepath.Join(u.Dir, "localstack", "functions")))
	_, err = fmt.Fprintln(c.Out, d.API)
	return err
}
