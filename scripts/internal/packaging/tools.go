package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tool is a program that makes a part of a release, and is no part of it. It is built once into a cache.
type tool struct{ name, pkg, version string }

// nfpm makes packages. Later versions depend on a module that the proxy does not have.
var nfpm = tool{"nfpm", "github.com/goreleaser/nfpm/v2/cmd/nfpm", "v2.45.0"}

// cyclonedx lists the parts of programs.
var cyclonedx = tool{"cyclonedx-gomod", "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod", "v1.10.0"}

// writeParts writes the list of the modules in a program (a software bill of materials) in the format of CycloneDX.
func (r *release) writeParts(ctx context.Context, p platform, program string) error {
	list, err := cyclonedx.run(ctx, "bin", "-json", "-noserial", "-notimestamp", "-version", "v"+r.version, program)
	if err != nil {
		return err
	}
	return r.write(r.platformName(p)+".cdx.json", list)
}

// run runs the tool and returns its output.
func (t tool) run(ctx context.Context, args ...string) ([]byte, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "orrery", t.name+"-"+t.version)
	program := filepath.Join(folder, platform{runtime.GOOS, runtime.GOARCH}.executable(t.name))
	if _, err := os.Stat(program); err != nil {
		env := append(os.Environ(), "GOBIN="+folder, "GOFLAGS=", "GOOS=", "GOARCH=")
		if _, err := output(ctx, env, "go", "install", "-trimpath", t.pkg+"@"+t.version); err != nil {
			return nil, fmt.Errorf("%s is not in %s: %w", t.name, strings.TrimSpace(folder), err)
		}
	}
	return output(ctx, os.Environ(), program, args...)
}
