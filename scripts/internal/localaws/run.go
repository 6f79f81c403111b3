package localaws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// servers is the scripts' servers that a deployment may have started, the last first.
var servers = []string{"trino", "localstack"}

// run runs a script of the checkout, which talks to LocalStack if it is there.
func (d *Deployment) run(ctx context.Context, script string, arguments ...string) error {
	command := d.command(ctx, script, arguments...)
	command.Stdout = d.options.Progress
	return described(command.Run(), script, arguments...)
}

// start starts a server in a folder of its own and returns its URL.
func (d *Deployment) start(ctx context.Context, server string, environment ...string) (string, error) {
	script := serverScript(server)
	command := d.command(ctx, script, "start", filepath.Join(d.options.Dir, server))
	command.Env = append(command.Env, environment...)
	var url bytes.Buffer
	command.Stdout = &url
	err := described(command.Run(), script, "start")
	return strings.TrimSpace(url.String()), err
}

// Stop ends the servers.
func (d *Deployment) Stop() error {
	failed := []error{d.stopAthena()}
	for _, server := range servers {
		folder := filepath.Join(d.options.Dir, server)
		if _, err := os.Stat(folder); err != nil {
			continue // it was never started
		}
		script := serverScript(server)
		failed = append(failed, described(d.command(context.Background(), script, "stop", folder).Run(), script, "stop"))
	}
	return errors.Join(failed...)
}

func serverScript(server string) string { return "scripts/servers/" + server + ".sh" }

func (d *Deployment) command(ctx context.Context, script string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(d.options.Root, script), arguments...) // #nosec G204 -- scripts of this checkout
	command.Dir = d.options.Root
	command.Stderr = d.options.Progress
	command.Env = append(os.Environ(), d.credentials()...)
	if d.Endpoint != "" {
		command.Env = append(command.Env, "AWS_ENDPOINT_URL="+d.Endpoint, "AWS_ENDPOINT_URL_S3="+d.Endpoint)
	}
	return command
}

// Missing tells whether an error of Start is that this machine lacks something that a script needs. What the script
// said names it.
func Missing(err error) bool {
	var ended *exec.ExitError
	return errors.As(err, &ended) && ended.ExitCode() == missingCode
}

// missingCode is how the scripts end that need something first.
const missingCode = 3

func described(err error, script string, arguments ...string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", script, strings.Join(arguments, " "), err)
}
