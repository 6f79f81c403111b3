package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/gen"
)

type generateCommand struct {
	Records int    `required:"" help:"Number of records." placeholder:"N"`
	Seed    uint64 `default:"1" help:"The same seed gives the same records."`
	From    string `help:"Start of the period (default: a day before --to)." placeholder:"TIME"`
	To      string `help:"End of the period (default: the current hour)." placeholder:"TIME"`
	Nasty   bool   `help:"Put hostile text into every field."`

	Scene     string `help:"Scene to generate, with known attacks or none, such as flood-at-peak." placeholder:"NAME"`
	AccessLog bool   `help:"Generate the log of a web server, without the decisions of a gateway."`
	Truth     string `help:"File to write the attacks to, as JSON; - is standard output." placeholder:"FILE"`

	Data   target.Folder `help:"Folder to import into; without --output, the default is ORRERY_DATA." placeholder:"DIR"`
	Output string        `help:"File to write to instead (.gz, .zst: compressed); - is standard output." placeholder:"FILE"`
	Force  bool          `help:"Replace the file if it exists, without asking."`
}

// Run generates the records. It writes to a temporary file and renames it, so that the output file is never partial.
func (g *generateCommand) Run(ctx context.Context, c terminal.Console) error {
	from, to, err := g.period(time.Now())
	if err != nil {
		return err
	}
	if err := g.place(); err != nil {
		return err
	}
	scene, err := g.scene()
	if err != nil {
		return err
	}
	for _, file := range []string{g.Output, g.Truth} {
		if err := mayReplace(ctx, c, file, g.Force); err != nil {
			return err
		}
	}
	records := gen.New(gen.Options{
		Records: g.Records, Seed: g.Seed, From: from, To: to, Nasty: g.Nasty, Scene: scene, AccessLog: g.AccessLog,
	})
	switch g.Output {
	case "":
		err = g.intoData(ctx, c, from, records)
	case "-":
		err = g.writeRecords(ctx, c.Out, records, c.Err)
	default:
		err = writeFile(g.Output, func(w io.Writer) error { return g.writeRecords(ctx, w, records, c.Err) })
	}
	if err != nil || g.Truth == "" {
		return err
	}
	return g.writeTruth(c.Out, from, to, records.Truth())
}

// scene returns the scene that the user names, or nil.
func (g *generateCommand) scene() (*gen.Scene, error) {
	if g.Nasty && (g.Scene != "" || g.AccessLog || g.Truth != "") {
		return nil, exit.With(exit.Usage, "hostile records show no attacks; "+
			"use --nasty without --scene, --access-log and --truth")
	}
	if g.Scene == "" {
		return nil, nil
	}
	scene, ok := gen.SceneByName(g.Scene)
	if !ok {
		var names []string
		for _, s := range gen.Scenes {
			names = append(names, s.Name)
		}
		return nil, exit.With(exit.Usage, "there is no scene "+g.Scene+"; the scenes are "+strings.Join(names, ", "))
	}
	return scene, nil
}

// mayReplace asks before a file is replaced, unless force is set.
func mayReplace(ctx context.Context, c terminal.Console, file string, force bool) error {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !force {
		replace, err := c.Confirms(ctx, file+" exists. Replace it?")
		if err != nil {
			return err
		}
		if !replace {
			return exit.With(exit.Usage, file+" exists; --force replaces it")
		}
	}
	return nil
}

// writeTruth writes the attacks and changes, and the options for the same records.
func (g *generateCommand) writeTruth(out io.Writer, from, to time.Time, truth gen.Truth) error {
	write := func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Scene     string `json:"scene,omitempty"`
			AccessLog bool   `json:"access_log"`
			Records   int    `json:"records"`
			Seed      uint64 `json:"seed"`
			From      int64  `json:"from"` // Unix milliseconds
			To        int64  `json:"to"`
			gen.Truth
		}{g.Scene, g.AccessLog, g.Records, g.Seed, from.UnixMilli(), to.UnixMilli(), truth})
	}
	if g.Truth == "-" {
		return write(out)
	}
	return writeFile(g.Truth, write)
}

// place decides where the records go: to exactly one place, which the caller must name.
func (g *generateCommand) place() error {
	if g.Data == "" && g.Output == "" {
		g.Data = target.Folder(os.Getenv("ORRERY_DATA"))
	}
	if (g.Data == "") == (g.Output == "") {
		return exit.With(exit.Usage, "name one destination: "+
			"--data DIR imports the records, --output FILE writes them to a file (- is standard output)")
	}
	if g.Truth == "-" && (g.Output == "" || g.Output == "-") {
		return exit.With(exit.Usage, "--truth - needs --output FILE, because standard output has something else")
	}
	return nil
}

func (g *generateCommand) period(now time.Time) (from, to time.Time, err error) {
	to = now.UTC().Truncate(time.Hour)
	if g.To != "" {
		if to, err = parseTime("--to", g.To); err != nil {
			return from, to, err
		}
	}
	from = to.Add(-24 * time.Hour)
	if g.From != "" {
		if from, err = parseTime("--from", g.From); err != nil {
			return from, to, err
		}
	}
	if !from.Before(to) {
		return from, to, exit.With(exit.Usage, "--from must be before --to")
	}
	if g.Records < 1 {
		return from, to, exit.With(exit.Usage, "--records must be at least 1")
	}
	return from, to, nil
}

func parseTime(flag, text string) (time.Time, error) {
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	message := fmt.Sprintf("%s: %q is not a time such as 2026-01-31 or 2026-01-31T10:00:00Z", flag, text)
	return time.Time{}, exit.With(exit.Usage, message)
}

// intoData imports the records as a log.
func (g *generateCommand) intoData(ctx context.Context, c terminal.Console, from time.Time, records *gen.Generator) error {
	product, err := local.Open(ctx, string(g.Data))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("generated-%d-%d-%s", g.Seed, g.Records, from.Format("20060102T150405"))
	if g.Scene != "" {
		name += "-" + g.Scene
	}
	if g.AccessLog {
		name += "-access-log"
	}
	report, err := logs.ImportGenerated(ctx, product.Store, name, records, g.Records, c.Err)
	if closing := product.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return logs.PrintReport(c.Out, report)
}

// writeRecords writes the records as NDJSON until ctx ends.
func (g *generateCommand) writeRecords(
	ctx context.Context, w io.Writer, records *gen.Generator, stderr io.Writer,
) error {
	bar := terminal.NewProgress(stderr, int64(g.Records), "generating records", false)
	buffered := bufio.NewWriterSize(w, 1<<20)
	var line []byte
	for n := 1; ; n++ {
		var more bool
		if line, more = records.Next(line[:0]); !more {
			break
		}
		if _, err := buffered.Write(append(line, '\n')); err != nil {
			return err
		}
		if n%1000 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			terminal.Show(bar, int64(n))
		}
	}
	return errors.Join(bar.Finish(), buffered.Flush())
}

// writeFile writes a whole file or nothing, compressed by the extension of its name. It replaces the target of a
// symbolic link, not the link, and writes directly to a pipe or a device.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".orrery-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	compressed, err := compressor(f, path)
	if err != nil {
		return err
	}
	if err := write(compressed); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}

// writeInto writes to an existing pipe or device.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	compressed, err := compressor(f, path)
	if err == nil {
		err = errors.Join(write(compressed), compressed.Close())
	}
	return errors.Join(err, f.Close())
}

// compressor returns a writer that compresses by the extension of path.
func compressor(w io.Writer, path string) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(path, ".zst"):
		return zstd.NewWriter(w)
	}
	return plain{w}, nil
}

// plain is a compressor that does not compress.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
