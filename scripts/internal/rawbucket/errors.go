package rawbucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/logformat"
)

// This file has the errors, which are written for the user who puts a log.

var (
	errEmpty      = errors.New("the log is empty")
	errUnfinished = errors.New("the log is one line without a newline, which may be incomplete; " +
		"if the file is complete, put it with --take-last")
	errChanged  = errors.New("the file became shorter while it was read; put it again")
	errNoRegion = errors.New("the region of the deployment is unknown: " +
		"set --region, AWS_REGION, or AWS_PROFILE to a profile with one")
)

// importTexts changes the texts of package ingest.
var importTexts = strings.NewReplacer(
	"orrery import --as FILE", "orrery put --name FILE",
	"name the format with --format, or describe it with --log-format, --pattern or --map",
	"a deployment detects the format itself: convert the log to a known format, or query it on one machine, for which "+
		"`orrery import` has --format, --log-format, --pattern and --map",
	"imported", "put", "import", "put", "Import", "Put",
)

// Errors of names.

func nameOfSeveral() error {
	return errors.New("--name is the name of one log; put the files one by one")
}

func namelessStdin() error {
	return errors.New("standard input has no name: add --name, such as --name web1/access.log")
}

func badName(name, why string) error {
	return fmt.Errorf("a log cannot have the name %q: %s; choose a name by --name, such as --name web1/access.log",
		name, why)
}

func sameName(file, name, folder1, folder2 string) error {
	return fmt.Errorf("%s and %s both have a log that is known by the name %s. If they are logs of two hosts, give "+
		"each a name of its own, always the same: orrery put %s --name HOST/%s. If they are one log, put them one by one",
		folder1, folder2, name, file, name)
}

func keysTaken(bucket, key string) error {
	return fmt.Errorf("s3://%s/%s is another log, of a file that was changed at the same time, and is not replaced; "+
		"give this one a name of its own: --name HOST/NAME", bucket, key)
}

// Refusals of logs.

const anyway = "; with --anyway the log is put nevertheless"

func refuseLines(problem string) error {
	return &Refusal{"the first and the last lines are not records, so the deployment would quarantine them: " +
		problem + anyway}
}

func refuseUnknown(log *logformat.UnrecognizedError) error {
	mappings := "--map FIELD=PATH"
	if len(log.Map) > 0 {
		mappings = logformat.MapFlags(log.Map)
	}
	return &Refusal{"the log is in JSON of no known format, so the deployment would refuse it: its members are " +
		log.ShownMembers() + anyway + ", and this command then imports it, with the key that is printed: " +
		"orrery quarantine --import KEY " + mappings}
}

func refuseYear(oldest time.Time, keeps period) error {
	return &Refusal{fmt.Sprintf("the log has records of %d, but the deployment quarantines records before %d: "+
		keeps.widen, oldest.Year(), keeps.firstYear, oldest.Year()) + anyway}
}

func refuseFuture(newest time.Time) error {
	return &Refusal{fmt.Sprintf("the log has records of %s, and the deployment quarantines records of more than a day "+
		"in the future: check the clock of the host and of this machine", shown(newest)) + anyway}
}

func refuseOld(newest time.Time, keeps period) error {
	return &Refusal{fmt.Sprintf("the newest records are of %s, and the deployment quarantines records of more than "+
		"%d days ago: put the log with --history", shown(newest), daysOf(keeps.horizon)) + anyway}
}

func noteOld(oldest time.Time, keeps period) string {
	return fmt.Sprintf("the oldest records are of %s, and the deployment quarantines records of more than %d days "+
		"ago; to keep them, too, put the log with --history", shown(oldest), daysOf(keeps.horizon))
}

func shown(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func daysOf(d time.Duration) int { return int(d / (24 * time.Hour)) }

// Errors of deployments.

func noCredentials(err error) error {
	return fmt.Errorf("there are no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "+
		"(%w)", err)
}

func noStack(name, region string) error {
	return fmt.Errorf("there is no stack %s%s or %s in region %s: check --stack, --region and the account of the "+
		"credentials, or deploy it first", name, dataStack, name, region)
}

func noBucket(name string) error {
	return fmt.Errorf("stack %s has no output %s: name the deployment or its stack that ends in %s", name, bucketOutput,
		dataStack)
}

func noOutput(name string) error {
	return fmt.Errorf("the deployment has no output %s: name the deployment with --stack, or deploy it again", name)
}

func stackFailed(name string, err error) error {
	if remedy := remedyOf(err, "cloudformation:DescribeStacks"); remedy != "" {
		return fmt.Errorf("read the stack of %s: %s (%w)", name, remedy, err)
	}
	return fmt.Errorf("read the stack of %s: %w", name, err)
}

func notRunning(dir string) error {
	return fmt.Errorf("no deployment is running in %s: start one with `orrery up --dir %s` and wait until it prints "+
		"its URL", dir, dir)
}

// failed adds the action, the object and the remedy to an error.
func (b *Bucket) failed(action, key string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	permissions := fmt.Sprintf("s3:PutObject, s3:GetObject and s3:AbortMultipartUpload on arn:aws:s3:::%s/raw/*, and "+
		"s3:ListBucket on the bucket", b.Name)
	if remedy := remedyOf(err, permissions); remedy != "" {
		return fmt.Errorf("%s s3://%s/%s: %s (%w)", action, b.Name, key, remedy, err)
	}
	return fmt.Errorf("%s s3://%s/%s: %w", action, b.Name, key, err)
}

// remedyOf returns what to do about an error of AWS, or "".
func remedyOf(err error, permissions string) string {
	switch {
	case isOneOf(err, "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId",
		"SignatureDoesNotMatch", "UnrecognizedClientException"):
		return "the AWS credentials are not valid any more, or of another account; sign in again"
	case isOneOf(err, "NoSuchBucket"):
		return "the bucket was deleted; deploy again"
	case isOneOf(err, "AccessDenied", "AccessDeniedException") || statusOf(err) == http.StatusForbidden:
		return "allow " + permissions
	}
	return ""
}

// partsLeft is the error of an upload that failed and could not be removed.
func partsLeft(err, aborting error) error {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return fmt.Errorf("%w; parts of the unfinished upload are left, which the bucket removes after a day, because "+
		"they could not be removed: %w", err, aborting)
}
