// Package localaws deploys the stacks of infra/ to LocalStack on this machine, with the same templates and zips as on
// AWS. Trino replaces Athena. The package runs the project's scripts, so it needs a checkout.
package localaws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/filelock"
)

// Options are the options of Start.
type Options struct {
	Root     string    // folder of the checkout
	Dir      string    // folder for the files of this run; the data in S3 and DynamoDB does not outlive it
	Progress io.Writer // for the output of the tools
	FromYear int       // first year of the records; each year makes planning a query slower
	Context  []string  // more properties of the deployment, NAME=VALUE each
	Record   bool      // whether Permissions returns what functions do
}

// Deployment is a running deployment. Stop ends it.
type Deployment struct {
	Endpoint string            // of all services but Athena
	Athena   string            // endpoint of Athena
	API      string            // URL before /api/v4.0/…
	Outputs  map[string]string // of all stacks, by name

	options    Options
	lock       *filelock.Lock // of the folder
	temporary  string         // folder for temporary files of the scripts
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

// Start builds the functions, starts the servers and deploys. It first stops servers that a killed run left in the same
// folder. It fails if Root is not a checkout, the folder is in use, a tool is missing, a step fails or ctx ends, and
// then leaves no process running. The output of the steps goes to Progress.
func Start(ctx context.Context, o Options) (d *Deployment, err error) {
	if _, err := os.Stat(filepath.Join(o.Root, "cdk.json")); err != nil {
		return nil, fmt.Errorf("%s is not a checkout of this project (%w); run the command in one", o.Root, err)
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	// Hide a terminal behind a pipe: a background process group can be stopped when it writes to a terminal.
	o.Progress = struct{ io.Writer }{o.Progress}
	d = &Deployment{options: o}
	d.lock, err = filelock.TryAcquire(lockFile(o.Dir))
	if errors.Is(err, filelock.ErrLocked) {
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
	if err := errors.Join(removeConnection(o.Dir), d.stopServers()); err != nil {
		return d, err
	}
	if d.temporary, err = os.MkdirTemp(o.Dir, "tmp-"); err != nil {
		return d, err
	}
	if err := d.run(ctx, "scripts/build.sh", "--arch", runtime.GOARCH); err != nil {
		return d, err
	}
	if d.Endpoint, err = d.start(ctx, "localstack"); err != nil {
		return d, err
	}
	if err := d.startGuard(ctx); err != nil {
		return d, err
	}
	if err := d.bootstrap(ctx); err != nil {
		return d, err
	}
	if err := d.Deploy(ctx); err != nil {
		return d, err
	}
	return d, d.startAthena(ctx)
}

// Ended adds the error of a clean-up to that of a run. A clean-up that fails is not an interruption, even after one.
func Ended(err, cleanup error) error {
	if cleanup != nil && errors.Is(err, context.Canceled) {
		return cleanup
	}
	return errors.Join(err, cleanup)
}

// bootstrap creates the resources that the CDK itself needs in an account. It runs outside the checkout, where the CDK
// does not synthesize the stacks.
func (d *Deployment) bootstrap(ctx context.Context) error {
	command := d.command(ctx, "scripts/cdk.sh", "bootstrap", "--ci", "aws://"+Account+"/"+Region)
	command.Dir, command.Stdout = d.options.Dir, d.options.Progress
	return described(finish(ctx, command), "scripts/cdk.sh", "bootstrap")
}

// Deploy creates or updates the stacks from the checkout. It sets more properties, NAME=VALUE each, in addition to
// those of the options.
func (d *Deployment) Deploy(ctx context.Context, more ...string) error {
	outputs := filepath.Join(d.options.Dir, "outputs.json")
	arguments := []string{
		"deploy", "--all", "--ci", "--require-approval", "never", "--outputs-file", outputs, "--output", d.assembly(),
	}
	own := []string{
		"name=" + Name, "stage=" + stage, "architecture=" + runtime.GOARCH,
		"projection-from=" + strconv.Itoa(d.options.FromYear),
	}
	for _, property := range slices.Concat(own, d.options.Context, more) {
		arguments = append(arguments, "-c", property)
	}
	if err := d.run(ctx, "scripts/cdk.sh", arguments...); err != nil {
		return err
	}
	text, err := os.ReadFile(outputs)
	if err != nil {
		return fmt.Errorf("read the outputs of the deployment: %w", err)
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(text, &stacks); err != nil {
		return fmt.Errorf("read the outputs of the deployment: %w", err)
	}
	d.Outputs = map[string]string{}
	for _, outputs := range stacks {
		for name, value := range outputs {
			d.Outputs[name] = value
		}
	}
	d.gate.open(d.Outputs)
	d.API = d.Endpoint + "/_aws/execute-api/" + d.Outputs["RestAPI"] + "/" + stage
	return nil
}

// Publish lets other commands find the deployment in its folder: see ReadConnection. Stop withdraws it.
func (d *Deployment) Publish(key string) error {
	return writeConnection(d.options.Dir, Connection{
		URL: d.API, Key: key, AWSEndpoint: d.Endpoint, Region: Region, Outputs: d.Outputs,
	})
}

// assembly returns the folder of the deployed templates.
func (d *Deployment) assembly() string { return filepath.Join(d.options.Dir, "cdk.out") }

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
