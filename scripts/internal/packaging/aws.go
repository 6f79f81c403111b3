package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// awsArchitecture is the default of the deployment.
const awsArchitecture = "arm64"

// writeAWS writes the deployment on AWS: the functions' zips, and the templates with the default properties. The CDK
// toolkit deploys them without a checkout, and takes no notice of the documentation beside them.
func (r *release) writeAWS(ctx context.Context, shared common) error {
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
	guide, err := os.ReadFile(filepath.Join("scripts", "internal", "packaging", "AWS.md"))
	if err != nil {
		return err
	}
	licences, err := r.licences(ctx, platform{"linux", awsArchitecture}, "The functions contain", "./functions/...")
	if err != nil {
		return err
	}
	for _, f := range shared.texts {
		if f.name == "README.md" { // it describes the command
			f.content = bytes.ReplaceAll(guide, []byte("VERSION"), []byte(r.version))
		}
		files = append(files, f)
	}
	files = append(files, file{licencesFile, 0o644, licences})
	files = append(files, below("doc", shared.guides)...)
	name := fmt.Sprintf("orrery_%s_aws", r.version)
	content, err := tarGz(below(name, files))
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", content)
}
