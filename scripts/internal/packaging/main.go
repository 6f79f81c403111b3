// Command packaging makes the files of a release. scripts/package.sh runs it in the root folder of a checkout.
//
// The same source gives the same bytes: programs are built without paths and histories, files are in order, and all their
// times are the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// platforms are those that a release has programs for.
var platforms = []platform{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// executable returns the name of the file of a program.
func (p platform) executable(program string) string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// then is the time of all files in a release: the earliest that a zip can represent.
var then = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// release is what is made, and where.
type release struct {
	version   string
	platforms []platform
	aws       bool   // also the deployment on AWS
	out       string // folder of the files
	work      string // folder of temporary files
	log       io.Writer
}

var versionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "package.sh:", err)
		os.Exit(1)
	}
}

// run makes the release that the arguments describe.
func run(ctx context.Context, args []string, log io.Writer) (err error) {
	r, err := parse(args, log)
	if err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "orrery-package-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	return r.make(ctx)
}

// parse reads the arguments.
func parse(args []string, log io.Writer) (*release, error) {
	if len(args) == 0 || !versionPattern.MatchString(args[0]) {
		return nil, errors.New("the first argument must be the version, such as 1.2.3 or 1.2.3-rc.1, without a v")
	}
	r := &release{version: args[0], log: log}
	flags := flag.NewFlagSet("package.sh", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&r.out, "out", filepath.Join("dist", r.version), "")
	flags.Func("platform", "", func(text string) error {
		for _, p := range platforms {
			if p.String() == text && !slices.Contains(r.platforms, p) {
				r.platforms = append(r.platforms, p)
				return nil
			}
		}
		return fmt.Errorf("it must be one of %s, each once", strings.Trim(fmt.Sprint(platforms), "[]"))
	})
	err := flags.Parse(args[1:])
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("%s is not a flag", flags.Arg(0))
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the flags are --platform OS/ARCH and --out DIR", err)
	}
	if len(r.platforms) == 0 {
		r.platforms, r.aws = platforms, true
	}
	return r, nil
}

// make makes all files of the release.
func (r *release) make(ctx context.Context) error {
	if entries, err := os.ReadDir(r.out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s has files already; delete it, or name another folder with --out", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	shared, err := r.commonFiles(ctx)
	if err != nil {
		return err
	}
	containers := &image{version: r.version}
	for _, p := range r.platforms {
		if err := r.makePlatform(ctx, p, shared, containers); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if len(containers.manifests) > 0 {
		content, err := containers.archive()
		if err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("orrery_%s_image.tar", r.version), content); err != nil {
			return err
		}
	}
	if r.aws {
		if err := r.writeAWS(ctx, shared); err != nil {
			return err
		}
	}
	if err := r.writeWheel(); err != nil {
		return err
	}
	return r.writeChecksums()
}

// makePlatform makes the files of one platform, and adds it to the container image if it is Linux.
func (r *release) makePlatform(ctx context.Context, p platform, shared common, containers *image) error {
	path, err := r.build(ctx, p)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	licences, err := r.licences(ctx, p, "The program orrery contains", commandPackage)
	if err != nil {
		return err
	}
	if err := r.writeArchive(p, shared.archive(p, program, licences)); err != nil {
		return err
	}
	if err := r.writeParts(ctx, p, path); err != nil || p.os != "linux" {
		return err
	}
	if err := r.writePackages(ctx, p, shared, program, licences); err != nil {
		return err
	}
	return containers.addPlatform(p, shared.texts, program, licences)
}

// write writes a file of the release and prints its size.
func (r *release) write(name string, content []byte) error {
	if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(r.log, "%-44s %10d bytes\n", name, len(content))
	return nil
}
