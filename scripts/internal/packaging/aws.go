package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// awsArchitecture is the default of the deployment.
const awsArchitecture = "arm64"

// writeAWS writes the deployment on AWS: the functions' zips, and the templates with the default properties. The CDK
// toolkit deploys them without a checkout.
func (r *release) writeAWS(ctx context.Context) error {
	zips, assembly := filepath.Join(r.work, "zips"), filepath.Join(r.work, "assembly")
	_, err := output(ctx, os.Environ(), "bash", "scripts/build.sh", "--arch", awsArchitecture, "--out", zips)
	if err != nil {
		return err
	}
	env := append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	_, err = output(ctx, env, "bash", "scripts/cdk.sh", "synth", "--quiet", "--output", assembly,
		"-c", "zips="+zips, "-c", "architecture="+awsArchitecture, "-c", "version="+r.version)
	if err != nil {
		return err
	}
	files, err := filesOf(assembly)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f file) bool { return f.name == "performance-counters.json" }) // times of the CDK
	name := fmt.Sprintf("orrery_%s_aws", r.version)
	content, err := tarGz(below(name, files))
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", content)
}
