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
	"sync"
	"time"
)

// servers lists the servers of scripts/servers that a deployment starts.
var servers = []string{"trino", "localstack"}

// run runs a script of the checkout.
func (d *Deployment) run(ctx context.Context, script string, arguments ...string) error {
	command := d.command(ctx, script, arguments...)
	command.Stdout = d.options.Output
	return described(finish(ctx, command), script, arguments...)
}

// start starts a server in its own folder and returns its URL.
func (d *Deployment) start(ctx context.Context, server string, environment ...string) (string, error) {
	script := serverScript(server)
	command := d.command(ctx, script, "start", filepath.Join(d.options.Dir, server))
	command.Env = append(command.Env, environment...)
	var url bytes.Buffer
	command.Stdout = &url
	err := described(finish(ctx, command), script, "start")
	return strings.TrimSpace(url.String()), err
}

// Stop stops the servers, removes temporary files and releases the folder. A second call does nothing.
func (d *Deployment) Stop() error {
	if d.lock == nil {
		return nil
	}
	withdrawn := removeConnection(d.options.Dir)
	d.stopAthena()
	err := errors.Join(withdrawn, d.stopGuard(), d.stopServers(), os.RemoveAll(d.temporary))
	if d.log != nil {
		err = errors.Join(err, d.log.Close())
	}
	err = errors.Join(err, d.lock.Release())
	d.athenad, d.temporary, d.log, d.lock = nil, "", nil, nil
	return err
}

// stopServers stops the servers of the folder.
func (d *Deployment) stopServers() error {
	ctx := context.Background() // not the run's context, which may have ended
	failed := make([]error, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		folder := filepath.Join(d.options.Dir, server)
		if _, err := os.Stat(folder); err != nil {
			continue // it was never started
		}
		script := serverScript(server)
		all.Go(func() {
			failed[i] = described(finish(ctx, d.command(ctx, script, "stop", folder)), script, "stop")
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

func serverScript(server string) string { return "scripts/servers/" + server + ".sh" }

// waitForEnd is how long a command may take to end after its context has ended.
const waitForEnd = 10 * time.Second

func (d *Deployment) command(ctx context.Context, script string, arguments ...string) *exec.Cmd {
	return d.program(ctx, filepath.Join(d.options.Root, script), arguments...)
}

// program returns a command of the checkout, which runs in its own process group.
func (d *Deployment) program(ctx context.Context, path string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, path, arguments...) // #nosec G204 -- scripts and programs of this checkout
	group(command)
	command.WaitDelay = waitForEnd
	command.Dir = d.options.Root
	command.Stderr = d.options.Output
	command.Env = append(os.Environ(), d.credentials()...)
	if d.temporary != "" {
		command.Env = append(command.Env, "TMPDIR="+d.temporary)
	}
	return command
}

// finish runs a command. If the context ends first, it kills the command's processes and returns the context's error.
func finish(ctx context.Context, command *exec.Cmd) error {
	err := command.Run()
	if err != nil && ctx.Err() != nil {
		killGroup(command)
		return ctx.Err()
	}
	return err
}

// Missing reports whether Start failed because this machine lacks a requirement of a script. The output of the script
// names the requirement.
func Missing(err error) bool {
	var ended *exec.ExitError
	return errors.As(err, &ended) && ended.ExitCode() == missingCode
}

// FromTool reports whether an error of Start comes from a script or a program, whose output has the reason.
func FromTool(err error) bool {
	var ended *exec.ExitError
	return errors.As(err, &ended)
}

// missingCode is the exit code of a script that lacks a requirement.
const missingCode = 3

func described(err error, script string, arguments ...string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", script, strings.Join(arguments, " "), err)
}
