package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Main packages and the variable that holds the version.
const (
	commandPackage  = "./scripts/orrery"
	versionVariable = "github.com/orrery/orrery/scripts/internal/version.released"
)

// options are the options with which programs are compiled. Nothing is inlined into parts that do not run often enough
// to gain from it: the SDK of AWS, which is much of the program, and libraries for flags, settings, routes and mail.
var options = []string{
	"-trimpath", "-buildvcs=false", "-gcflags=github.com/aws/...=-l", "-gcflags=github.com/alecthomas/kong=-l",
	"-gcflags=github.com/danielgtaylor/huma/...=-l", "-gcflags=github.com/pelletier/go-toml/...=-l",
	"-gcflags=github.com/wneessen/go-mail/...=-l", "-gcflags=golang.org/x/text/...=-l",
}

// mostBytes is how large a program may be.
const mostBytes = 45_000_000

// build builds the command for a platform, once, and returns the path of the program.
func (r *release) build(ctx context.Context, p platform) (string, error) {
	path := filepath.Join(r.work, p.os+"-"+p.arch, p.executable("orrery"))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	link := "-s -w -buildid= -X " + versionVariable + "=" + r.version
	args := slices.Concat([]string{"build", "-ldflags", link, "-o", path}, options, []string{commandPackage})
	if _, err := r.goCommand(ctx, p, args...); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > mostBytes {
		return "", fmt.Errorf("the program has %d bytes, %d at most", info.Size(), int64(mostBytes))
	}
	return path, nil
}

// goCommand runs the go command for a platform and returns its output. The environment of the caller does not change
// what it builds.
func (r *release) goCommand(ctx context.Context, p platform, args ...string) ([]byte, error) {
	return output(ctx, environment(p), "go", args...)
}

func environment(p platform) []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOWORK=off")
}

// output runs a command and returns its output. An error has what the command wrote to standard error.
func output(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	command.Env, command.Stderr = env, &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// common are the files that are the same on all platforms.
type common struct {
	completions, manual, texts []file

	guides []file // the documentation of the source, in its folders, so that its links lead somewhere
}

// commonFiles returns the common files. The command itself writes most of them.
func (r *release) commonFiles(ctx context.Context) (c common, err error) {
	program, err := r.build(ctx, platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return c, err
	}
	for _, s := range []struct{ shell, name string }{
		{"bash", "orrery.bash"}, {"fish", "orrery.fish"}, {"zsh", "_orrery"},
	} {
		script, err := output(ctx, os.Environ(), program, "completion", s.shell)
		if err != nil {
			return c, err
		}
		c.completions = append(c.completions, file{s.name, 0o644, script})
	}
	folder := filepath.Join(r.work, "manual")
	if _, err := output(ctx, os.Environ(), program, "manual", folder); err != nil {
		return c, err
	}
	if c.manual, err = filesOf(folder); err != nil {
		return c, err
	}
	for name, path := range map[string]string{
		"README.md": "scripts/internal/packaging/README.md", "LICENSE": "LICENSE", "CHANGELOG.md": "scripts/CHANGELOG.md",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			return c, errors.Join(err, errors.New("run package.sh in a checkout"))
		}
		c.texts = append(c.texts, file{name, 0o644, text})
	}
	sortFiles(c.texts)
	for _, folder := range []string{"events", "infra", "scripts", "shared"} {
		found, err := filesWith(folder, func(path string) bool {
			return strings.HasSuffix(path, ".md") && !strings.Contains(path, "/testdata/")
		})
		if err != nil {
			return c, err
		}
		c.guides = append(c.guides, below(folder, found)...)
	}
	return c, nil
}

// archive returns the files of the archive of a platform.
func (c common) archive(p platform, program, licences []byte) []file {
	files := append([]file{{p.executable("orrery"), 0o755, program}, {licencesFile, 0o644, licences}}, c.texts...)
	files = append(files, below("completions", c.completions)...)
	files = append(files, below("doc", c.guides)...)
	return append(files, below("man/man1", c.manual)...)
}
