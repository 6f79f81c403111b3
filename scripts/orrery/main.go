// Command orrery runs the product on one machine: it serves the API over a folder of Parquet objects, imports logs and
// generated records into that folder, and queries it. README.md at the top of the repository shows how to use it.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// Exit codes, the same for every command.
const (
	exitDone        = 0
	exitFailed      = 1 // standard error has the reason
	exitUsage       = 2 // the command line is invalid
	exitRejected    = 3 // imported, but some lines were rejected and put into quarantine
	exitDoubt       = 4 // not imported, because it is probably a mistake, or is JSON of no known format
	exitIncomplete  = 5 // answered or compacted, but some objects could not be read
	exitInterrupted = 130
)

// commands is the whole command line. Its names must not change, because scripts of users depend on them.
type commands struct {
	Serve      serveCommand      `cmd:"" help:"Serve the console, the API and its OpenAPI document."`
	Import     importCommand     `cmd:"" help:"Import logs, each exactly once; bad lines are put into quarantine."`
	Imports    importsCommand    `cmd:"" help:"List what was imported."`
	Forget     forgetCommand     `cmd:"" help:"Take the records of an import out of the data again."`
	Quarantine quarantineCommand `cmd:"" help:"List rejected lines by reason, or import them again."`

	Generate generateCommand `cmd:"" help:"Generate realistic request records, the same for the same seed."`
	Compact  compactCommand  `cmd:"" help:"Merge the small files of each hour into one."`
	Query    queryCommand    `cmd:"" help:"Query logs, stats, timeline, topx, facets, histogram, diff or values."`
	Report   reportCommand   `cmd:"" help:"Report on the traffic of a period, for people to read."`
	Parse    parseCommand    `cmd:"" help:"Read a filter in either form and print it in both."`
	Explain  explainCommand  `cmd:"" help:"Show every stage of a query, from tokens to SQL, without running it."`
	Status   statusCommand   `cmd:"" help:"Show what a folder, a server or a deployment has and allows."`
	Fields   fieldsCommand   `cmd:"" help:"List the fields a filter can use."`
	Formats  formatsCommand  `cmd:"" help:"List the log formats, or describe one."`
	DDL      ddlCommand      `cmd:"" name:"ddl" help:"Print the DDL of the tables for Trino or Athena."`
	Planet   planetCommand   `cmd:"" help:"Read or replace the planet settings of a configuration."`
	Filter   filterCommand   `cmd:"" help:"Save, read, list and delete filters with names, for query … @NAME."`
	Key      keyCommand      `cmd:"" help:"Create, list and revoke API keys."`
	Put      putCommand      `cmd:"" help:"Put logs into the bucket of a deployment, which imports them."`
	Up       upCommand       `cmd:"" help:"Deploy the AWS stacks to LocalStack on this machine."`
	Invoke   invokeCommand   `cmd:"" help:"Run an AWS Lambda function on this machine with one event."`
	Bench    benchCommand    `cmd:"" help:"Measure every route on this machine and compare it with plain DuckDB."`
	Cost     costCommand     `cmd:"" help:"Estimate the monthly cost of a deployment on AWS."`
	Version  versionCommand  `cmd:"" help:"Print the version of the program."`

	// For deployments in AWS only.
	Reconcile reconcileCommand `cmd:"" help:"Have a deployment in AWS send lost logs again."`
}

// console holds the streams of a command. Answers go to out, everything else to err.
type console struct {
	in       io.Reader
	out, err io.Writer
}

// shown returns where an answer goes: to out as it is, so that programs read it exactly, but printable if out is a
// terminal.
func (c console) shown() io.Writer {
	if terminal.Is(c.out) {
		return terminal.PrintableWriter{To: c.out}
	}
	return c.out
}

// confirms asks a question on the terminal and reports whether the answer is yes. Without a terminal it reports false.
// If ctx ends before the answer, it returns the error of ctx.
func (c console) confirms(ctx context.Context, question string) (bool, error) {
	if !terminal.Is(c.in) || !terminal.Is(c.err) {
		return false, nil
	}
	fmt.Fprintf(c.err, "%s [y/N] ", terminal.Printable(question))
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1) // the reader cannot be interrupted; nothing waits for it
	go func() {
		text, err := bufio.NewReader(c.in).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.err) // ends the line of the question
		return false, ctx.Err()
	case answer := <-lines:
		if answer.err != nil && !errors.Is(answer.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", answer.err)
		}
		text := strings.ToLower(strings.TrimSpace(answer.text))
		return text == "y" || text == "yes", nil
	}
}

func main() {
	// The first Ctrl-C cancels ctx. The second one is no longer caught and kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// interrupts returns the signals that interrupt a command. A command that was started with SIGHUP ignored, as by nohup,
// keeps ignoring it.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// clock is the time by which a server runs scheduled reports.
type clock struct {
	now     func() time.Time
	minutes func() <-chan time.Time // a tick for each minute
}

// run runs the command line args and returns its exit code.
func run(ctx context.Context, args []string, c console) int {
	return runAt(ctx, args, c, clock{time.Now, func() <-chan time.Time { return time.Tick(time.Minute) }})
}

// runAt is like run, by a clock.
func runAt(ctx context.Context, args []string, c console, k clock) int {
	code := -1
	parser, err := newParser(
		kong.Description("Answers questions about the traffic that passed a web security gateway, "+
			"and stores its planet settings and saved filters."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(helpWithDefault),
		kong.Writers(c.out, c.err),
		kong.Exit(func(c int) { code = c }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, k),
	)
	if err != nil {
		fmt.Fprintln(c.err, "orrery:", err)
		return exitFailed
	}
	if slices.Equal(args, []string{"--version"}) { // no flag, because some commands have one of that name
		args = []string{"version"}
	}
	chosen, err := parser.Parse(withLongLast(args))
	if code >= 0 { // --help has been printed
		return code
	}
	if err != nil {
		fmt.Fprintf(c.err, "orrery: %s\nTry: orrery --help\n", terminal.Printable(err.Error(), '\n', '\t')) // it repeats arguments
		return exitUsage
	}
	return exitCode(chosen.Run(), ctx, c.err)
}

// newParser returns the parser of the command line.
func newParser(options ...kong.Option) (*kong.Kong, error) {
	var cli commands
	cli.Query.parameterFlags = newParameterFlags()
	cli.Explain.parameterFlags = newParameterFlags("cursor", "since", "dry_run")
	routes := make([]string, len(search.Routes))
	for i, r := range search.Routes {
		routes[i] = string(r)
	}
	return kong.New(&cli, append(options, kong.Name("orrery"), kong.Vars{"routes": strings.Join(routes, ",")})...)
}

// helpWithDefault returns the help of a flag with its default, which kong omits if the flag has a placeholder.
func helpWithDefault(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || v.Flag.PlaceHolder == "" || v.Default == "" || v.IsBool() {
		return help
	}
	return fmt.Sprintf("%s Default: %s.", help, v.Default)
}

// exitError is an error with its own exit code. The message is empty if it has been printed already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

// exitCode prints an error and returns its exit code.
func exitCode(err error, ctx context.Context, stderr io.Writer) int {
	var own *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &own):
		if own.message != "" {
			fmt.Fprintln(stderr, "orrery:", terminal.Printable(own.message, '\n', '\t'))
		}
		return own.code
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "orrery: interrupted; no partial results are left, run the command again to continue")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "orrery:", terminal.Printable(err.Error(), '\n', '\t')) // names of files may contain any character
	return exitFailed
}
