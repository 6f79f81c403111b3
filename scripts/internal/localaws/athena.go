package localaws

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// startTrino starts Trino over the deployment's S3.
func (d *Deployment) startTrino(ctx context.Context) error {
	return d.step("start Trino", func() (err error) {
		s3 := []string{"TRINO_S3_ENDPOINT=" + d.Endpoint, "TRINO_S3_KEY=test", "TRINO_S3_SECRET=test"}
		d.trino, err = d.start(ctx, "trino", s3...)
		return err
	})
}

func (d *Deployment) athenadProgram() string { return filepath.Join(d.options.Dir, "athenad") }

func (d *Deployment) buildAthenad(ctx context.Context) error {
	command := d.program(ctx, "go", "build", "-o", d.athenadProgram(), "./scripts/servers/athenad")
	return described(finish(ctx, command), "go", "build", "./scripts/servers/athenad")
}

// startAthena starts athenad over Trino. athenad reads a pipe from this process, so it ends by itself if this process
// is killed.
func (d *Deployment) startAthena(ctx context.Context) error {
	return d.step("create the tables", func() error {
		workgroups, err := d.workgroups()
		if err != nil {
			return err
		}
		running, end := context.WithCancel(context.WithoutCancel(ctx)) // until the deployment ends
		d.endAthenad = end
		d.athenad = d.program(running, d.athenadProgram(), "--until-eof",
			"--trino", d.trino, "--s3", d.Endpoint, "--database", Name, "--from-year", strconv.Itoa(d.options.FromYear),
			"--lake", "s3://"+d.Outputs["LakeBucketName"]+"/lake/",
			"--results", "s3://"+d.Outputs["ResultsBucketName"]+"/results/",
			"--workgroup", workgroups)
		if _, err := d.athenad.StdinPipe(); err != nil {
			return err
		}
		out, err := d.athenad.StdoutPipe()
		if err != nil {
			return err
		}
		if err := d.athenad.Start(); err != nil {
			return fmt.Errorf("start athenad: %w", err)
		}
		started := context.AfterFunc(ctx, end)
		url, err := bufio.NewReader(out).ReadString('\n')
		if !started() {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("athenad ended without printing its address: %w", err)
		}
		d.Athena = strings.TrimSpace(url)
		return d.gate.connect("athena", d.Athena)
	})
}

// workgroups returns the workgroups of the data stack, which LocalStack does not create, for athenad: NAME=BYTES;…
func (d *Deployment) workgroups() (string, error) {
	text, err := os.ReadFile(filepath.Join(d.assembly(), Name+"-data.template.json"))
	if err != nil {
		return "", fmt.Errorf("read the template of the data stack: %w", err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage // the format depends on the type
		}
	}
	if err := json.Unmarshal(text, &template); err != nil {
		return "", fmt.Errorf("read the template of the data stack: %w", err)
	}
	var all []string
	for _, r := range template.Resources {
		if r.Type != "AWS::Athena::WorkGroup" {
			continue
		}
		var group struct {
			Name                   string
			WorkGroupConfiguration struct{ BytesScannedCutoffPerQuery int64 }
		}
		if err := json.Unmarshal(r.Properties, &group); err != nil {
			return "", fmt.Errorf("read a workgroup of the data stack: %w", err)
		}
		all = append(all, group.Name+"="+strconv.FormatInt(group.WorkGroupConfiguration.BytesScannedCutoffPerQuery, 10))
	}
	return strings.Join(all, ";"), nil
}

func (d *Deployment) stopAthena() {
	if d.athenad == nil || d.athenad.Process == nil {
		return
	}
	d.endAthenad()
	_ = d.athenad.Wait() // its exit code does not matter
}

// setVariables sets variables of every function that is started from now on.
func (d *Deployment) setVariables(variables ...string) error {
	return os.WriteFile(filepath.Join(d.Functions(), "env"), []byte(strings.Join(variables, "\n")+"\n"), 0o600)
}
