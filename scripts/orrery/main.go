// Command orrery is the product on one machine: it serves the API over a folder of Parquet, fills that folder
// from logs or from a generator, and asks it questions. README.md at the top of the repository is its tour.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes, the same for every command.
const (
	exitDone        = 0
	exitFailed      = 1 // what was asked could not be done; standard error says why
	exitUsage       = 2 // the command line makes no sense
	exitRejected    = 3 // imported, but some lines were rejected and kept in quarantine
	exitIncomplete  = 5 // answered, but some objects could not be read
	exitInterrupted = 130
)

// commands is the whole command line. Names are fixed: other people's scripts use them.
type commands struct {
	Serve    serveCommand    `cmd:"" help:"Serve the API, its OpenAPI document and an interactive page."`
	Import   importCommand   `cmd:"" help:"Import logs: once and only once, bad lines kept aside."`
	Generate generateCommand `cmd:"" help:"Make realistic request records, the same for the same seed."`
	Compact  compactCommand  `cmd:"" help:"Merge the small files of each hour into one."`
	Query    queryCommand    `cmd:"" help:"Ask for logs, stats, timeline or topx."`
	Parse    parseCommand    `cmd:"" help:"Read a filter in either form and print it in both."`
	Explain  explainCommand  `cmd:"" help:"Show every stage of a query, from tokens to SQL, without running it."`
	Fields   fieldsCommand   `cmd:"" help:"List the fields a filter can use."`
	DDL      ddlCommand      `cmd:"" name:"ddl" help:"Print the tables for Trino or Athena as SQL."`
	Planet   planetCommand   `cmd:"" help:"Read or replace the planet settings of a configuration."`
	Key      keyCommand      `cmd:"" help:"Make, list and revoke API keys."`
	Up       upCommand       `cmd:"" help:"Deploy the stacks of AWS to this machine, into LocalStack, and print the URL of the API."`
	Invoke   invokeCommand   `cmd:"" help:"Run a function of AWS Lambda on this machine, with one event."`
	Bench    benchCommand    `cmd:"" help:"Measure this machine: every route beside bare DuckDB, with ratios."`
	Cost     costCommand     `cmd:"" help:"Estimate what a deployment on AWS costs a month."`
}

// console is where a command reads and writes: machine output to out, everything else to err.
type console struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	// The first Ctrl-C asks politely; the second one, no longer caught, kills.
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// interrupts is the signals that interrupt a command. One that is started with SIGHUP ignored, as by nohup, keeps
// ignoring it.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func run(ctx context.Context, args []string, c console) int {
	var cli commands
	exit := -1
	parser, err := kong.New(&cli,
		kong.Name("orrery"),
		kong.Description("Answers questions about the traffic that passed a web security gateway, and keeps its planet settings."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(c.out, c.err),
		kong.Exit(func(code int) { exit = code }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		fmt.Fprintln(c.err, "orrery:", err)
		return exitFailed
	}
	chosen, err := parser.Parse(args)
	if exit >= 0 { // --help has been answered
		return exit
	}
	if err != nil {
		fmt.Fprintf(c.err, "orrery: %v\nTry: orrery --help\n", err)
		return exitUsage
	}
	return exitCode(chosen.Run(), ctx, c.err)
}

// exitError is a failure that has its own exit code. An empty message has been told already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

func exitCode(err error, ctx context.Context, stderr io.Writer) int {
	var own *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &own):
		if own.message != "" {
			fmt.Fprintln(stderr, "orrery:", own.message)
		}
		return own.code
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "orrery: interrupted; nothing is half done, run the command again to go on")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "orrery:", err)
	return exitFailed
}
