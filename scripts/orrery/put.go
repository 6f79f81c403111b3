package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/orrery/orrery/scripts/internal/rawbucket"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

type putCommand struct {
	Stack   string   `xor:"deployment" required:"" help:"Name of a deployment on AWS." placeholder:"NAME"`
	Dir     string   `xor:"deployment" required:"" help:"Folder of a running orrery up --dir." placeholder:"DIR"`
	Region  string   `help:"Region of the stack; default: the region of the AWS configuration." placeholder:"REGION"`
	History bool     `help:"The logs are old: keep records of any age."`
	Name    string   `help:"Name of the log in the bucket; default: the name of the file." placeholder:"NAME"`
	Last    bool     `name:"take-last" help:"The files are complete: also put a last line without a newline."`
	Anyway  bool     `help:"Also put logs with records that the deployment will quarantine, and logs in JSON with an unknown format."`
	Files   []string `arg:"" name:"file" help:"Logs, plain, gzip or zstd; - is standard input, with --name."`
}

// Run puts the logs one by one. A log that cannot be put does not prevent that others are put.
func (p *putCommand) Run(ctx context.Context, c terminal.Console) error {
	names, err := rawbucket.Names(p.Files, p.Name)
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	bucket, err := target.RawBucket(ctx, p.Stack, p.Dir, p.Region)
	if err != nil {
		return err
	}
	failed, refused := false, false
	for i, file := range p.Files {
		err := p.one(ctx, c, bucket, file, names[i])
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return err
		}
		if err == nil {
			continue
		}
		fmt.Fprintf(c.Err, "orrery: %s: %v\n", terminal.Printable(file), terminal.Printable(err.Error()))
		if isRefusal(err) {
			refused = true
		} else {
			failed = true
		}
	}
	switch {
	case failed:
		return &exit.Error{Code: exit.Failed}
	case refused:
		return &exit.Error{Code: exit.Usage}
	}
	return nil
}

// isRefusal reports whether a log was refused that a flag would allow.
func isRefusal(err error) bool {
	var refused *rawbucket.Refusal
	return errors.As(err, &refused)
}

// one puts one log.
func (p *putCommand) one(
	ctx context.Context, c terminal.Console, bucket *rawbucket.Bucket, file, name string,
) (err error) {
	f, finish, err := openFile(ctx, file, c.In)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finish()) }()
	log, err := rawbucket.Read(ctx, f, name, file != rawbucket.Stdin && !p.Last)
	if err != nil {
		return err
	}
	notes, err := bucket.Check(log, p.History, time.Now())
	if p.Anyway && isRefusal(err) {
		notes, err = append(notes, err.Error()), nil
	}
	for _, note := range notes {
		fmt.Fprintf(c.Err, "%s: %s\n", terminal.Printable(file), terminal.Printable(note))
	}
	if err != nil {
		return err
	}
	bar := terminal.NewProgress(c.Err, log.Size, name, true)
	at, err := bucket.Put(ctx, log, p.History, func(sent int64) { terminal.Show(bar, sent) })
	if err = errors.Join(err, bar.Finish()); err != nil {
		return err
	}
	return printPut(c, file, bucket, log, at)
}

// openFile opens a log. Standard input is copied to a temporary file first, which finish removes.
func openFile(ctx context.Context, file string, stdin io.Reader) (f *os.File, finish func() error, err error) {
	if file == rawbucket.Stdin {
		return rawbucket.Spool(ctx, stdin)
	}
	_, in, size, err := logs.Open(file, stdin)
	if err != nil {
		return nil, nil, err
	}
	f, ok := in.(*os.File)
	if !ok || size < 0 {
		err := errors.New("not a regular file; pipe it into orrery put --name NAME -")
		return nil, nil, errors.Join(err, in.Close())
	}
	return f, f.Close, nil
}

// printPut reports where a log is.
func printPut(
	c terminal.Console, file string, bucket *rawbucket.Bucket, log *rawbucket.Log, at rawbucket.Placed,
) error {
	verb := "put as"
	if at.Already {
		verb = "is there already, as"
	}
	if log.Left > 0 {
		fmt.Fprintf(c.Err, "%s: 1 unfinished line at the end (%s without newline) is left for the next put; "+
			"if the file is complete, put it again with --take-last\n", terminal.Printable(file),
			terminal.Counted(log.Left, "byte"))
	}
	_, err := fmt.Fprintf(c.Out, "%s: %s s3://%s/%s (%s, %d bytes)\n",
		terminal.Printable(file), verb, bucket.Name, terminal.Printable(at.Key), log.Format, log.Size)
	return err
}
