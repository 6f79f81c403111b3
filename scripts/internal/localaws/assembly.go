package localaws

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/orrery/orrery/shared/wholefile"
)

// assembly returns the folder of the deployed templates and zips.
func (d *Deployment) assembly() string { return filepath.Join(d.options.Dir, "cdk.out") }

// app returns the arguments by which the CDK finds the templates. If the templates would be the same, it reuses the
// ones of the last deployment in the folder, because making them takes longer than deploying them. After a deployment,
// the caller must call remember.
func (d *Deployment) app(
	ctx context.Context, properties []string,
) (arguments []string, remember func() error, err error) {
	inputs, err := d.inputs(ctx, properties)
	if err != nil {
		return nil, nil, err
	}
	file := d.assembly() + ".inputs"
	last, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(d.assembly(), "manifest.json")); err == nil && bytes.Equal(last, inputs) {
		return []string{"--app", d.assembly()}, func() error { return nil }, nil
	}
	if err := errors.Join(os.RemoveAll(file), os.RemoveAll(d.assembly())); err != nil {
		return nil, nil, err
	}
	arguments = []string{"--output", d.assembly()}
	for _, property := range properties {
		arguments = append(arguments, "-c", property)
	}
	return arguments, func() error { return wholefile.Replace(file, inputs) }, nil
}

// inputs returns everything that decides the content of the templates: the properties, the version of the CDK, the
// zips, and the packages of the app by their build IDs.
func (d *Deployment) inputs(ctx context.Context, properties []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(strings.Join(properties, "\n") + "\n")
	for _, file := range []string{"cdk.json", "scripts/cdk.sh", ".build/" + runtime.GOARCH + "/made"} {
		text, err := os.ReadFile(filepath.Join(d.options.Root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	list := d.program(ctx, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.BuildID}}", "./infra")
	list.Stdout = &b
	err := described(finish(ctx, list), "go", "list", "./infra")
	return b.Bytes(), err
}
