// Package localaws deploys the stacks of infra/ to LocalStack on this machine, with the same templates and zips as on
// AWS. Trino replaces Athena. The package runs the project's scripts, so it needs a checkout.
package localaws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Options are the options of Start.
type Options struct {
	Root     string    // folder of the checkout
	Dir      string    // folder of the deployment; a later Start in it continues with the data
	Output   io.Writer // for the output of the tools; nil for the file that LogFile names
	FromYear int       // first year of the records; each year makes planning a query slower
	Context  []string  // more properties of the deployment, NAME=VALUE each
	Record   bool      // whether Permissions returns what functions do

	Step   func(step string, done bool) // called when a step of Start begins and is done; nil for no calls
	Denied func(reason string)          // called when a function is denied a request; nil for no calls
}

// Deployment is a running deployment. Stop ends it.
type Deployment struct {
	Endpoint string            // of all services but Athena
	Athena   string            // endpoint of Athena
	API      string            // URL before /api/v4.0/…
	Outputs  map[string]string // of all stacks, by name

	options    Options
	lock       *filelock.Lock // of the folder
	log        *os.File       // nil if Options has another output
	temporary  string         // folder for temporary files of the scripts
	trino      string         // URL of Trino
	athenad    *exec.Cmd
	endAthenad context.CancelFunc
	gate       *gate
}

// Account, Region and Name are the same for every local deployment.
const (
	Account = "000000000000"
	Region  = "us-east-1"
	Name    = "orrery"
	stage   = "live"
)

// waitForLock is how long Start waits for a folder, because ReadConnection has its lock for a moment.
const waitForLock = time.Second

// Start builds the functions, starts the servers and deploys. It first stops servers that a killed run left in the same
// folder. It fails if Root is not a checkout, the folder is in use, a tool is missing, a step fails or ctx ends, and
// then leaves no process running. The data in S3, DynamoDB and SQS stays from the last run in the folder, even if that
// run was killed.
func Start(ctx context.Context, o Options) (d *Deployment, err error) {
	if _, err := os.Stat(filepath.Join(o.Root, "cdk.json")); err != nil {
		return nil, fmt.Errorf("%s is not a checkout of this project (%w); run the command in one", o.Root, err)
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	d = &Deployment{options: o}
	wait, cancel := context.WithTimeout(ctx, waitForLock)
	defer cancel()
	d.lock, err = filelock.Acquire(wait, lockFile(o.Dir))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("another deployment is running in %s: stop it, or choose another folder", o.Dir)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = Ended(err, d.Stop())
		}
	}()
	if err := d.prepare(); err != nil {
		return d, err
	}
	if err := d.together(ctx, d.build, d.startLocalStack); err != nil {
		return d, err
	}
	createStacks := func(ctx context.Context) error {
		return d.step("create the stacks", func() error { return d.Deploy(ctx) })
	}
	if err := d.together(ctx, createStacks, d.startTrino); err != nil {
		return d, err
	}
	return d, d.startAthena(ctx)
}

// prepare opens the log and removes what a killed run left.
func (d *Deployment) prepare() (err error) {
	if d.options.Output == nil {
		flags := os.O_CREATE | os.O_TRUNC | os.O_WRONLY | os.O_APPEND
		if d.log, err = os.OpenFile(LogFile(d.options.Dir), flags, 0o600); err != nil {
			return err
		}
		d.options.Output = d.log
	}
	// Hide a terminal behind a pipe: a background process group can be stopped when it writes to a terminal.
	d.options.Output = &lockedWriter{w: d.options.Output}
	left, err := filepath.Glob(filepath.Join(d.options.Dir, temporaryPrefix+"*"))
	for _, folder := range left {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	if err = errors.Join(err, removeConnection(d.options.Dir), d.stopServers()); err != nil {
		return err
	}
	d.temporary, err = os.MkdirTemp(d.options.Dir, temporaryPrefix)
	return err
}

const temporaryPrefix = "tmp-"

// LogFile returns the file with the output of the tools of the deployment in a folder.
func LogFile(dir string) string { return filepath.Join(dir, "up.log") }

// lockedWriter lets several tools write at the same time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// together runs steps at the same time. If one fails, it ends the others. It returns the first error.
func (d *Deployment) together(ctx context.Context, steps ...func(context.Context) error) error {
	group, running := errgroup.WithContext(ctx)
	for _, step := range steps {
		group.Go(func() error { return step(running) })
	}
	err := group.Wait()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// step runs a step and reports it.
func (d *Deployment) step(name string, run func() error) error {
	report := func(done bool) {
		if d.options.Step != nil {
			d.options.Step(name, done)
		}
	}
	report(false)
	err := run()
	if err == nil {
		report(true)
	}
	return err
}

// build builds the functions and athenad.
func (d *Deployment) build(ctx context.Context) error {
	return d.step("build the functions", func() error {
		if err := d.run(ctx, "scripts/build.sh", "--arch", runtime.GOARCH); err != nil {
			return err
		}
		return d.buildAthenad(ctx)
	})
}

// startLocalStack starts LocalStack with the data of the last run, and the gate in front of it.
func (d *Deployment) startLocalStack(ctx context.Context) error {
	return d.step("start LocalStack", func() (err error) {
		state := "ORRERY_STATE=" + filepath.Join(d.options.Dir, "state")
		if d.Endpoint, err = d.start(ctx, "localstack", state); err != nil {
			return err
		}
		if err := d.startGuard(ctx); err != nil {
			return err
		}
		if err := d.checkYear(ctx); err != nil {
			return err
		}
		return d.bootstrap(ctx)
	})
}

// checkYear returns an error if the tables would begin after the oldest record that an earlier run has stored. On AWS,
// infra makes the same check.
func (d *Deployment) checkYear(ctx context.Context) error {
	last, err := d.readOutputs()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if year, err := strconv.Atoi(last[yearOutput]); err == nil && d.options.FromYear <= year {
		return nil // queries found the records from that year on
	}
	state, _, err := lakestate.Load(
		ctx, lakestate.Over(tabledynamo.New(tabledynamo.NewClient(d.Config()), last[tableOutput])),
	)
	if err != nil {
		return err
	}
	oldest := time.UnixMilli(state.Extent.MinTsMs).UTC()
	if state.Extent.Rows > 0 && oldest.Year() < d.options.FromYear {
		return fmt.Errorf("the records in %s begin at %s UTC, and queries of times before %d would fail: "+
			"start it with `orrery up --from-year %d`, or in another folder by --dir",
			d.options.Dir, oldest.Format(time.DateTime), d.options.FromYear, oldest.Year())
	}
	return nil
}

// Outputs of the stacks. infra/ has the same names.
const (
	tableOutput = "TableName"
	yearOutput  = "ProjectionFrom"
)

// Ended joins the error of a run and the error of its clean-up. If the run was interrupted and its clean-up failed, it
// returns only the error of the clean-up, which is no interruption.
func Ended(err, cleanup error) error {
	if cleanup != nil && errors.Is(err, context.Canceled) {
		return cleanup
	}
	return errors.Join(err, cleanup)
}

// Deploy creates or updates the stacks from the checkout. It sets more properties, NAME=VALUE each, in addition to the
// options' properties.
func (d *Deployment) Deploy(ctx context.Context, more ...string) error {
	properties := slices.Concat([]string{
		"name=" + Name, "stage=" + stage, "architecture=" + runtime.GOARCH,
		"projection-from=" + strconv.Itoa(d.options.FromYear),
	}, d.options.Context, more)
	app, remember, err := d.app(ctx, properties)
	if err != nil {
		return err
	}
	newOutputs := d.outputsFile() + ".new" // an interrupted deployment leaves the last outputs whole
	arguments := append([]string{
		"deploy", "--all", "--ci", "--require-approval", "never", "--concurrency", "3", "--outputs-file", newOutputs,
		"--no-preflight", // see checkYear: until this deployment, LocalStack does not know the stacks
	}, app...)
	command := d.command(ctx, "scripts/cdk.sh", arguments...)
	command.Env = append(command.Env, "AWS_ENDPOINT_URL="+d.Endpoint, "AWS_ENDPOINT_URL_S3="+d.Endpoint)
	command.Stdout = d.options.Output
	if err := described(finish(ctx, command), "scripts/cdk.sh", "deploy"); err != nil {
		return err
	}
	if err := os.Rename(newOutputs, d.outputsFile()); err != nil {
		return fmt.Errorf("keep the outputs of the deployment: %w", err)
	}
	if err := remember(); err != nil {
		return err
	}
	if d.Outputs, err = d.readOutputs(); err != nil {
		return err
	}
	needs, err := reportNeeds(properties)
	if err != nil {
		return err
	}
	d.gate.open(d.Outputs, needs)
	d.API = d.Endpoint + "/_aws/execute-api/" + d.Outputs["RestAPI"] + "/" + stage
	return nil
}

// outputsFile returns the file with the outputs of the last deployment in the folder.
func (d *Deployment) outputsFile() string { return filepath.Join(d.options.Dir, "outputs.json") }

// readOutputs returns the outputs of all stacks, by name.
func (d *Deployment) readOutputs() (map[string]string, error) {
	text, err := os.ReadFile(d.outputsFile())
	if err != nil {
		return nil, fmt.Errorf("read the outputs of the deployment: %w", err)
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(text, &stacks); err != nil {
		return nil, fmt.Errorf("read the outputs of the deployment: %w", err)
	}
	all := map[string]string{}
	for _, outputs := range stacks {
		maps.Copy(all, outputs)
	}
	return all, nil
}

// reportNeeds returns the needs of the destinations in the property reports.
func reportNeeds(properties []string) (destination.Needs, error) {
	text := ""
	for _, property := range properties {
		if value, given := strings.CutPrefix(property, "reports="); given {
			text = value
		}
	}
	settings, err := destination.ReadJSON(text)
	return settings.Needs(), err
}

// Publish lets other commands find the deployment in its folder: see ReadConnection. Stop withdraws it.
func (d *Deployment) Publish(key string) error {
	return writeConnection(d.options.Dir, Connection{
		URL: d.API, Key: key, AWSEndpoint: d.Endpoint, Region: Region, Outputs: d.Outputs,
	})
}

// Functions returns the folder of the functions' logs. It also has a file PID.pid with the function's name for each
// process.
func (d *Deployment) Functions() string {
	return filepath.Join(d.options.Dir, "localstack", "functions")
}

// Environment returns the variables for the AWS SDKs and command line to use the deployment.
func (d *Deployment) Environment() []string {
	return append(d.credentials(),
		"AWS_ENDPOINT_URL="+d.Endpoint, "AWS_ENDPOINT_URL_S3="+d.Endpoint, "AWS_ENDPOINT_URL_ATHENA="+d.Athena)
}

func (d *Deployment) credentials() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=" + Region, "AWS_DEFAULT_REGION=" + Region,
		"AWS_EC2_METADATA_DISABLED=true",
	}
}
