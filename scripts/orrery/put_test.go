package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/filelock"
)

// startBucket starts a server with an empty bucket of raw logs, as if a deployment ran in a folder.
func startBucket(t *testing.T) (dir string, client *s3.Client) {
	t.Helper()
	client = s3test.New(t, nil, "raw-logs")
	return runningDeployment(t, *client.Options().BaseEndpoint, map[string]string{
		"RawBucketName": "raw-logs", "ProjectionFrom": "2020", "HorizonDays": "35",
	}), client
}

// runningDeployment returns a folder that looks as if a deployment with the given endpoint and outputs ran in it.
func runningDeployment(t *testing.T, endpoint string, outputs map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	lock, err := filelock.TryAcquire(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	text, err := json.Marshal(localaws.Connection{AWSEndpoint: endpoint, Region: localaws.Region, Outputs: outputs})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "deployment.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// runHere runs a command in this process.
func runHere(ctx context.Context, stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(ctx, args, terminal.Console{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// logOf returns a log with a record of that time.
func logOf(at time.Time) string {
	return fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"path":"/a"}`+"\n", at.UTC().Format(time.RFC3339))
}

func TestPut(t *testing.T) {
	now := time.Now()
	recent, old, ancient := logOf(now), logOf(now.AddDate(0, 0, -40)), logOf(now.AddDate(-40, 0, 0))
	const cdn = `{"timestamp":"2026-11-21T10:00:00Z","client_ip":"203.0.113.7","status":200}` + "\n"
	changed := time.Date(2026, 11, 21, 10, 5, 3, 0, time.UTC)
	files := map[string]string{
		"recent.log": recent, "old.log": old, "ancient.log": ancient, "cut.log": recent + recent[:10],
		"text.txt":        "text\n",
		"cdn.jsonl":       cdn,
		"web1/access.log": recent, "web2/access.log": recent + recent,
	}
	const day = "raw/2026/11/21/"
	tests := []struct {
		rule   string
		args   []string // after put --dir DIR
		stdin  string
		code   int
		stdout string            // a part of it
		stderr string            // a part of it
		want   map[string]string // the objects
	}{
		{
			rule: "a log is put", args: []string{"recent.log"}, code: exit.Done,
			stdout: "recent.log: put as s3://raw-logs/raw/2026/11/21/recent.log (orrery, ", want: map[string]string{
				day + "recent.log": recent,
			},
		},
		{
			rule: "a log that is there is not put again", args: []string{"recent.log", "recent.log"}, code: exit.Done,
			stdout: "recent.log: is there already, as s3://raw-logs/raw/2026/11/21/recent.log (",
			want:   map[string]string{day + "recent.log": recent},
		},
		{
			rule: "an old log is refused, and others are put", args: []string{"old.log", "recent.log"}, code: exit.Usage,
			stderr: "orrery: old.log: the newest records are of ", want: map[string]string{day + "recent.log": recent},
		},
		{
			rule: "an old log is put under the history", args: []string{"old.log", "--history"}, code: exit.Done,
			stdout: "raw/history/2026/11/21/old.log", want: map[string]string{"raw/history/2026/11/21/old.log": old},
		},
		{
			rule: "years without partitions are refused", args: []string{"ancient.log", "--history"}, code: exit.Usage,
			stderr: "orrery up --from-year ", want: map[string]string{},
		},
		{
			rule: "a refused log may be put anyway", args: []string{"ancient.log", "--anyway"}, code: exit.Done,
			stderr: "ancient.log: the log has records of ", want: map[string]string{day + "ancient.log": ancient},
		},
		{
			rule: "a file that is not a log fails", args: []string{"text.txt", "old.log", "--anyway"}, code: exit.Failed,
			stderr: "orrery: text.txt: the first line does not look like a known log format",
			want:   map[string]string{day + "old.log": old},
		},
		{
			rule: "JSON of no known format is refused", args: []string{"cdn.jsonl"}, code: exit.Usage,
			stderr: "orrery: cdn.jsonl: the log is in JSON of no known format", want: map[string]string{},
		},
		{
			rule: "JSON of no known format may be put anyway, to be imported with mappings", args: []string{"cdn.jsonl", "--anyway"},
			code: exit.Done, stderr: "orrery quarantine --import KEY --map ip=client_ip\n", stdout: "cdn.jsonl (unknown format, ",
			want: map[string]string{day + "cdn.jsonl": cdn},
		},
		{
			rule: "a failure counts more than a refusal", args: []string{"text.txt", "old.log"}, code: exit.Failed,
			stderr: "orrery: old.log: ", want: map[string]string{},
		},
		{
			rule: "an unfinished line is left", args: []string{"cut.log"}, code: exit.Done,
			stderr: "cut.log: 1 unfinished line at the end (10 bytes", want: map[string]string{day + "cut.log": recent},
		},
		{
			rule: "a complete file has no unfinished line", args: []string{"cut.log", "--take-last"}, code: exit.Done,
			want: map[string]string{day + "cut.log": recent + recent[:10]},
		},
		{
			rule: "two logs of one name are refused", args: []string{"web1/access.log", "web2/access.log"},
			code: exit.Usage, stderr: "--name HOST/access.log", want: map[string]string{},
		},
		{
			rule: "a log may have a name", args: []string{"web1/access.log", "--name", "web1/access.log"},
			code: exit.Done, want: map[string]string{"raw/web1/2026/11/21/access.log": recent},
		},
		{
			rule: "standard input needs a name", args: []string{"-"}, stdin: recent, code: exit.Usage, stderr: "--name",
			want: map[string]string{},
		},
		{
			rule: "standard input is put", args: []string{"-", "--name", "a.log"}, stdin: recent, code: exit.Done,
			stdout: "-: put as s3://raw-logs/raw/", want: map[string]string{"a.log": recent},
		},
		{
			rule: "a missing file fails", args: []string{"none.log"}, code: exit.Failed, stderr: "none.log",
			want: map[string]string{},
		},
		{
			rule: "a folder fails", args: []string{"web1"}, code: exit.Failed, stderr: "is a folder",
			want: map[string]string{},
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			dir, client := startBucket(t)
			t.Chdir(t.TempDir())
			for name, text := range files {
				writeLog(t, name, text, changed)
			}
			args := append([]string{"put", "--dir", dir}, test.args...)
			stdout, stderr, code := runHere(t.Context(), test.stdin, args...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, want %d; output %q, want %q; messages %q, want %q",
					code, test.code, stdout, test.stdout, stderr, test.stderr)
			}
			if diff := cmp.Diff(test.want, objectsOf(t, client, test.stdin != "")); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an interruption exits with 130", func(t *testing.T) {
		dir, client := startBucket(t)
		t.Chdir(t.TempDir())
		writeLog(t, "recent.log", recent, changed)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, stderr, code := runHere(ctx, "", "put", "--dir", dir, "recent.log")
		if code != exit.Interrupted || !strings.Contains(stderr, "interrupted; no partial results are left") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		if got := objectsOf(t, client, false); len(got) > 0 {
			t.Errorf("objects are left: %v", got)
		}
	})
	t.Run("a folder without a deployment fails", func(t *testing.T) {
		dir := t.TempDir()
		_, stderr, code := runHere(t.Context(), "", "put", "--dir", dir, "recent.log")
		if code != exit.Failed || !strings.Contains(stderr, "start one with `orrery up --dir "+dir+"`") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
	t.Run("missing credentials of AWS are reported", func(t *testing.T) {
		configureAWS(t, map[string]string{
			"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true",
		})
		_, stderr, code := runHere(t.Context(), "", "put", "--stack", "a", "--region", "eu-central-1", "recent.log")
		if code != exit.Failed || !strings.Contains(stderr, "there are no AWS credentials: set AWS_PROFILE") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
	t.Run("a deployment is required", func(t *testing.T) {
		_, stderr, code := runHere(t.Context(), "", "put", "recent.log")
		if code != exit.Usage || !strings.Contains(stderr, "--stack=NAME or --dir=DIR") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}

func writeLog(t *testing.T, name, text string, changed time.Time) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err == nil {
		err = os.Chtimes(name, changed, changed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// objectsOf returns the objects of the bucket by their keys, or by the last parts of the keys.
func objectsOf(t *testing.T, client *s3.Client, byLast bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("raw-logs")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Contents {
		got, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("raw-logs"), Key: o.Key})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		key := *o.Key
		if byLast {
			key = filepath.Base(key)
		}
		all[key] = string(text)
	}
	return all
}
