// Command orrery runs the product on one machine: it serves the API over a folder of Parquet objects, imports logs and
// generated records into that folder, and queries it. README.md at the top of the repository shows how to use it.
//
// Each command has a file. The packages below internal have what commands share:
//
//	target      what a command is about: a folder, a server, a cluster, a deployment
//	question    a question from the command line: filter, period, parameters
//	answers     the answer, as a table, in CSV or a result a line, and what is missing from it
//	views       programs that read the objects with other tools
//	export      all records of a query, part after part
//	documents   saved filters, reports and planets, through the API
//	scheduled   scheduled reports and their runs, printed
//	logs        lines, files and imports of logs, and the reports of imports
//	httpserver  HTTP and HTTPS: timeouts, certificates, networks
//	watch       watched folders
//	completion  scripts with which shells complete the command line
//	manual      manual pages
//	terminal    streams, tables, progress
//	exit        exit codes
//	memory      limits of memory
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/scripts/orrery/internal/completion"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// commands is the whole command line. Its names must not change, because scripts of users depend on them.
type commands struct {
	Serve      serveCommand      `cmd:"" help:"Serve the console, the API and its OpenAPI document."`
	Import     importCommand     `cmd:"" help:"Import logs, each exactly once; bad lines are put into quarantine."`
	Imports    importsCommand    `cmd:"" help:"List what was imported."`
	Forget     forgetCommand     `cmd:"" help:"Take the records of an import out of the data again."`
	Quarantine quarantineCommand `cmd:"" help:"List rejected lines by reason, or import them again."`

	Generate  generateCommand  `cmd:"" help:"Generate realistic request records, the same for the same seed."`
	Compact   compactCommand   `cmd:"" help:"Merge the small files of each hour into one, and roll up days."`
	Backup    backupCommand    `cmd:"" help:"Copy the data folder while it is used; further backups add what is new."`
	Restore   restoreCommand   `cmd:"" help:"Make a data folder from a backup."`
	Query     queryCommand     `cmd:"" help:"Query logs, stats, timeline, topx, facets, histogram, diff or values."`
	Incidents incidentsCommand `cmd:"" help:"List the attacks of a period: when, what, how many requests, and whether it held."`
	WhatIf    whatIfCommand    `cmd:"" name:"whatif" help:"Show what a rate limit or a filter would have done to past requests."`
	Effect    effectCommand    `cmd:"" help:"Show what a change did: blocked requests before and after a moment, by rule."`
	Report    reportCommand    `cmd:"" help:"Report on the traffic of a period, for people to read."`
	Why       whyCommand       `cmd:"" help:"Explain why a request was stopped, and whether that was a mistake."`
	Parse     parseCommand     `cmd:"" help:"Read a filter in either form and print it in both."`
	Explain   explainCommand   `cmd:"" help:"Show every stage of a query, from tokens to SQL, without running it."`
	Status    statusCommand    `cmd:"" help:"Show the data and the limits of a folder, a server or a deployment."`
	Fields    fieldsCommand    `cmd:"" help:"List the fields a filter can use."`
	Formats   formatsCommand   `cmd:"" help:"List the log formats, or describe one."`
	Files     filesCommand     `cmd:"" help:"List the files of the current objects, each record once."`
	SQL       sqlCommand       `cmd:"" name:"sql" help:"Print a view of the records for DuckDB, pandas, polars, Spark or Trino."`
	DDL       ddlCommand       `cmd:"" name:"ddl" help:"Print the DDL of the tables for Trino or Athena."`
	Planet    planetCommand    `cmd:"" help:"Read or replace the planet settings of a configuration."`
	List      listCommand      `cmd:"" help:"Write, read, list and delete lists of values, which filters name, as in ip in @tor."`
	Filter    filterCommand    `cmd:"" help:"Save, read, list and delete filters with names, for query … @NAME."`
	Key       keyCommand       `cmd:"" help:"Create, list and revoke API keys."`
	Put       putCommand       `cmd:"" help:"Put logs into the bucket of a deployment, which imports them."`
	Up        upCommand        `cmd:"" help:"Deploy the AWS stacks to LocalStack on this machine."`
	Invoke    invokeCommand    `cmd:"" help:"Run an AWS Lambda function on this machine with one event."`
	Bench     benchCommand     `cmd:"" help:"Measure every route on this machine and compare it with plain DuckDB."`
	Cost      costCommand      `cmd:"" help:"Estimate the monthly cost of a deployment on AWS."`
	Healthz   healthzCommand   `cmd:"" help:"Check that a server answers, as a probe does."`
	Version   versionCommand   `cmd:"" help:"Print the version of the program."`

	Completion completionCommand `cmd:"" help:"Print a script with which a shell completes commands and flags."`
	Manual     manualCommand     `cmd:"" help:"Write the manual pages into a folder."`

	// For deployments in AWS only.
	Reconcile reconcileCommand `cmd:"" help:"Find logs that a deployment on AWS has lost, and have it import them."`
}

func main() {
	// The first Ctrl-C cancels ctx. The second one is no longer caught and kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], terminal.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

const about = "Answers questions about the traffic that passed a web security gateway, " +
	"and stores its planet settings and saved filters."

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
func run(ctx context.Context, args []string, c terminal.Console) int {
	return runAt(ctx, args, c, clock{time.Now, func() <-chan time.Time { return time.Tick(time.Minute) }})
}

// runAt is like run, by a clock.
func runAt(ctx context.Context, args []string, c terminal.Console, k clock) int {
	code := -1
	parser, err := newParser(
		kong.Description(about),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(helpWithDefault),
		kong.Writers(c.Out, c.Err),
		kong.Exit(func(c int) { code = c }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, k),
	)
	if err != nil {
		fmt.Fprintln(c.Err, "orrery:", err)
		return exit.Failed
	}
	if slices.Equal(args, []string{"--version"}) { // no flag, because some commands have one of that name
		args = []string{"version"}
	}
	chosen, err := parser.Parse(question.WithLongLast(args))
	if code >= 0 { // --help has been printed
		return code
	}
	if err != nil {
		fmt.Fprintf(c.Err, "orrery: %s\nTry: orrery --help\n", terminal.Printable(err.Error(), '\n', '\t')) // it repeats arguments
		return exit.Usage
	}
	return exit.CodeOf(chosen.Run(), ctx, c.Err)
}

// newParser returns the parser of the command line.
func newParser(options ...kong.Option) (*kong.Kong, error) {
	var cli commands
	cli.Query.ParameterFlags = question.NewParameterFlags()
	cli.Explain.ParameterFlags = question.NewParameterFlags("cursor", "since", "dry_run", "marks", "max_bytes")
	routes := make([]string, len(search.Routes))
	for i, r := range search.Routes {
		routes[i] = string(r)
	}
	return kong.New(&cli, append(options, kong.Name("orrery"), kong.Vars{
		"routes": strings.Join(routes, ","), "shells": strings.Join(completion.Shells, ","),
	})...)
}

// helpWithDefault returns the help of a flag with its default, which kong omits if the flag has a placeholder.
func helpWithDefault(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || v.Flag.PlaceHolder == "" || v.Default == "" || v.IsBool() {
		return help
	}
	return fmt.Sprintf("%s Default: %s.", help, v.Default)
}
