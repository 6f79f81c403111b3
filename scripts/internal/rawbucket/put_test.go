package rawbucket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob/blobtest"
	blobs3 "github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// newBucket returns an empty bucket on a server in this process, and the network between them.
func newBucket(t *testing.T) (*Bucket, *faulttest.Transport) {
	t.Helper()
	network := &faulttest.Transport{Script: faulttest.Never}
	return &Bucket{Name: "raw-logs", client: s3test.New(t, network, "raw-logs")}, network
}

func mustPut(t *testing.T, b *Bucket, l *Log) Placed {
	t.Helper()
	at, err := b.Put(t.Context(), l, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// contents returns the objects of a bucket by key.
func contents(t *testing.T, b *Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := b.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &b.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Contents {
		got, err := b.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &b.Name, Key: o.Key})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		all[*o.Key] = string(text)
	}
	return all
}

// uploads returns the keys of the incomplete uploads.
func uploads(t *testing.T, b *Bucket) (all []string) {
	t.Helper()
	list, err := b.client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &b.Name})
	if codeOf(err) == noSuchUpload { // the server in this process has seen none
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list.Uploads {
		all = append(all, *u.Key)
	}
	return all
}

const (
	plainKey = "raw/2026/11/21/access.log"
	timedKey = plainKey + "-20261121T100503.000000000Z"
)

func TestPut(t *testing.T) {
	first, second, third := record, record+record, record+record+record
	t.Run("a log is put under the day of its last change", func(t *testing.T) {
		b, _ := newBucket(t)
		if at := mustPut(t, b, mustRead(t, "access.log", first)); at != (Placed{Key: plainKey}) {
			t.Errorf("%+v", at)
		}
		if diff := cmp.Diff(map[string]string{plainKey: first}, contents(t, b)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the same log is recognised", func(t *testing.T) {
		b, _ := newBucket(t)
		mustPut(t, b, mustRead(t, "access.log", first))
		if at := mustPut(t, b, mustRead(t, "access.log", first)); at != (Placed{Key: plainKey, Already: true}) {
			t.Errorf("%+v", at)
		}
	})
	t.Run("other content gets a key of its own", func(t *testing.T) {
		b, _ := newBucket(t)
		for i, text := range []string{first, second, second, first} {
			want := Placed{Key: plainKey, Already: i > 1}
			if text == second {
				want.Key = timedKey
			}
			if at := mustPut(t, b, mustRead(t, "access.log", text)); at != want {
				t.Errorf("put %d: %+v, want %+v", i, at, want)
			}
		}
		if diff := cmp.Diff(map[string]string{plainKey: first, timedKey: second}, contents(t, b)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("no object is replaced", func(t *testing.T) {
		b, _ := newBucket(t)
		mustPut(t, b, mustRead(t, "access.log", first))
		mustPut(t, b, mustRead(t, "access.log", second))
		_, err := b.Put(t.Context(), mustRead(t, "access.log", third), false, nil)
		if err == nil || !strings.Contains(err.Error(), "--name HOST/NAME") {
			t.Errorf("error %v, want one with the remedy", err)
		}
		if diff := cmp.Diff(map[string]string{plainKey: first, timedKey: second}, contents(t, b)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the object of another program is compared by its content", func(t *testing.T) {
		b, _ := newBucket(t)
		for _, text := range []string{first, strings.Replace(first, "/a", "/b", 1)} {
			_, err := b.client.PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: &b.Name, Key: aws.String(plainKey), Body: strings.NewReader(text),
			})
			if err != nil {
				t.Fatal(err)
			}
			want := Placed{Key: plainKey, Already: true}
			if text != first {
				want = Placed{Key: timedKey}
			}
			if at := mustPut(t, b, mustRead(t, "access.log", first)); at != want {
				t.Errorf("%+v, want %+v", at, want)
			}
		}
	})
	t.Run("an object that appears meanwhile is not replaced", func(t *testing.T) {
		b, network := newBucket(t)
		other := s3test.Connect(*b.client.Options().BaseEndpoint, nil)
		network.Before = func(_ int, r *http.Request) {
			if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "access.log") {
				return
			}
			network.Before = nil
			_, err := other.PutObject(context.Background(), &s3.PutObjectInput{
				Bucket: &b.Name, Key: aws.String(plainKey), Body: strings.NewReader(second),
			})
			if err != nil {
				t.Error(err)
			}
		}
		if at := mustPut(t, b, mustRead(t, "access.log", first)); at != (Placed{Key: timedKey}) {
			t.Errorf("%+v", at)
		}
		if diff := cmp.Diff(map[string]string{plainKey: second, timedKey: first}, contents(t, b)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a missing bucket is reported with the remedy", func(t *testing.T) {
		b, _ := newBucket(t)
		b.Name = "none"
		_, err := b.Put(t.Context(), mustRead(t, "access.log", first), false, nil)
		if err == nil || !strings.Contains(err.Error(), "the bucket was deleted; deploy again") {
			t.Error(err)
		}
	})
	t.Run("missing permissions are reported", func(t *testing.T) {
		b, network := newBucket(t)
		network.Base = refusing{}
		_, err := b.Put(t.Context(), mustRead(t, "access.log", first), false, nil)
		if err == nil || !strings.Contains(err.Error(), "allow s3:PutObject") {
			t.Error(err)
		}
	})
}

// refusing is a network on which every request is denied.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

// inParts returns a log that is sent in three parts.
func inParts(t *testing.T) (*Log, string) {
	t.Helper()
	text := strings.Repeat(record, 1000)
	l := mustRead(t, "access.log", text)
	if err := l.addSums(t.Context(), int64(len(text)/3+1)); err != nil || len(l.parts) != 3 {
		t.Fatal(len(l.parts), err)
	}
	return l, text
}

func TestPutInParts(t *testing.T) {
	l, text := inParts(t)
	isPart := func(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Query().Has("partNumber") }
	creates := func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploads") }
	aborts := func(r *http.Request) bool { return r.Method == http.MethodDelete }

	t.Run("a log is put whole", func(t *testing.T) {
		b, _ := newBucket(t)
		var last int64
		at, err := b.Put(t.Context(), l, false, func(sent int64) { last = sent })
		if err != nil || at != (Placed{Key: plainKey}) {
			t.Fatal(at, err)
		}
		if last != l.Size {
			t.Errorf("the progress ended at %d of %d bytes", last, l.Size)
		}
		if got := contents(t, b); len(got) != 1 || got[plainKey] != text {
			t.Error("the object differs from the log")
		}
		if at := mustPut(t, b, l); at != (Placed{Key: plainKey, Already: true}) {
			t.Errorf("again: %+v", at)
		}
	})
	t.Run("a fault of any request is repaired", func(t *testing.T) {
		faults := []faulttest.Fault{faulttest.Throttle, faulttest.Break, faulttest.Lose, faulttest.FailLate}
		for _, fault := range faults {
			for n := range 7 { // HEAD, create, three parts, complete, HEAD
				b, network := newBucket(t)
				began := false
				network.Script = func(at int, r *http.Request) faulttest.Fault {
					if at != n {
						return faulttest.None
					}
					began = creates(r) && fault != faulttest.Throttle && fault != faulttest.Break
					return fault
				}
				mustPut(t, b, l)
				network.Script = faulttest.Never
				if got := contents(t, b); len(got) != 1 || got[plainKey] != text {
					t.Errorf("fault %v of request %d: the object differs from the log", fault, n)
				}
				// If the response with its ID is lost, an upload stays until the bucket removes it after a day.
				if left := uploads(t, b); len(left) > 0 && !began {
					t.Errorf("fault %v of request %d: uploads of %v are left", fault, n, left)
				}
			}
		}
	})
	t.Run("an interruption leaves nothing", func(t *testing.T) {
		for name, at := range map[string]func(*http.Request) bool{"create": creates, "part": isPart} {
			b, network := newBucket(t)
			ctx, cancel := context.WithCancel(t.Context())
			network.Before = func(_ int, r *http.Request) {
				if at(r) {
					cancel()
				}
			}
			if _, err := b.Put(ctx, l, false, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted at %s: error %v, want context.Canceled", name, err)
			}
			network.Before = nil
			if got, left := contents(t, b), uploads(t, b); len(got)+len(left) > 0 {
				t.Errorf("interrupted at %s: %d objects and uploads of %v are left", name, len(got), left)
			}
		}
	})
	t.Run("parts that are left are reported", func(t *testing.T) {
		b, network := newBucket(t)
		ctx, cancel := context.WithCancel(t.Context())
		network.Script = func(_ int, r *http.Request) faulttest.Fault {
			switch {
			case isPart(r):
				cancel()
			case aborts(r):
				return faulttest.Fail
			}
			return faulttest.None
		}
		_, err := b.Put(ctx, l, false, nil)
		if errors.Is(err, context.Canceled) || err == nil || !strings.Contains(err.Error(), "are left") {
			t.Errorf("error %v, want one about the parts", err)
		}
	})
	t.Run("an object that appears meanwhile is not replaced", func(t *testing.T) {
		b, network := newBucket(t)
		other := s3test.Connect(*b.client.Options().BaseEndpoint, nil)
		put := false
		network.Before = func(_ int, r *http.Request) {
			if put || r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
				return
			}
			put = true
			_, err := other.PutObject(context.Background(), &s3.PutObjectInput{
				Bucket: &b.Name, Key: aws.String(plainKey), Body: strings.NewReader(record),
			})
			if err != nil {
				t.Error(err)
			}
		}
		if at := mustPut(t, b, l); at != (Placed{Key: timedKey}) {
			t.Errorf("%+v", at)
		}
		if got := contents(t, b); len(got) != 2 || got[plainKey] != record || got[timedKey] != text {
			t.Error("an object was replaced")
		}
		if left := uploads(t, b); len(left) > 0 {
			t.Errorf("uploads of %v are left", left)
		}
	})
}

// TestLogsCountOnce imports what is put, and checks that each line of a log is counted once, however the log is put.
func TestLogsCountOnce(t *testing.T) {
	b, _ := newBucket(t)
	store, err := cloud.New(cloud.Config{
		Raw: blobs3.New(b.client, b.Name), Lake: &blobtest.Memory{}, Table: lakestate.Over(&tabletest.Memory{}),
		Scratch: filepath.Join(t.TempDir(), "scratch"), Now: func() time.Time { return testTime.Add(time.Hour) },
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := func(paths ...string) (text string) {
		for _, path := range paths {
			text += fmt.Sprintf(`{"processing_stage":6,"timestamp":"2026-11-21T10:00:00Z","path":%q}`+"\n", path)
		}
		return text
	}
	nextDay := testTime.Add(24 * time.Hour)
	for _, step := range []struct {
		rule, name, text string
		modified         time.Time
		history          bool
		want             int64 // new records
	}{
		{"a log is imported", "access.log", lines("/1", "/2"), testTime, false, 2},
		{"put on another day, it adds nothing", "access.log", lines("/1", "/2"), nextDay, false, 0},
		{"put under the history, it adds nothing", "access.log", lines("/1", "/2"), testTime, true, 0},
		{"grown on the same day, it adds the new lines", "access.log", lines("/1", "/2", "/3"), testTime, false, 1},
		{"rotated, it adds nothing", "access.log.1", lines("/1", "/2", "/3"), testTime, false, 0},
		{"compressed, it adds nothing", "access.log.2.gz", zipped(lines("/1", "/2", "/3")), nextDay, false, 0},
		{"the next log is another one", "access.log", lines("/4"), nextDay, false, 1},
		{"the log of another host is another one", "web2/access.log", lines("/1", "/2"), testTime, false, 2},
	} {
		t.Run(step.rule, func(t *testing.T) {
			l := mustRead(t, step.name, step.text)
			l.modified = step.modified
			at, err := b.Put(t.Context(), l, step.history, nil)
			if err != nil || at.Already {
				t.Fatal(at, err)
			}
			report, err := store.Import(t.Context(), rawlog.Log{Key: at.Key})
			if err != nil {
				t.Fatal(err)
			}
			if report.Records != step.want || report.RejectedLines() > 0 {
				t.Errorf("%s: %d new records and %d rejected lines, want %d and 0",
					at.Key, report.Records, report.RejectedLines(), step.want)
			}
		})
	}
}

// TestLocalStack puts logs into LocalStack, which verifies checksums as S3 does.
func TestLocalStack(t *testing.T) {
	url := os.Getenv("ORRERY_TEST_LOCALSTACK")
	if url == "" {
		t.Skip("ORRERY_TEST_LOCALSTACK is not set; start a server with scripts/servers/localstack.sh start DIR")
	}
	b := &Bucket{Name: "test-" + strings.ToLower(rand.Text()), client: s3test.Connect(url, nil)}
	if _, err := b.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &b.Name}); err != nil {
		t.Fatal(err)
	}
	const smallestPart = 5 << 20
	text := strings.Repeat(record, smallestPart/len(record)+1000)
	want := map[string]string{}
	for name, size := range map[string]int64{"whole.log": int64(len(text)), "parts.log": smallestPart} {
		t.Run(name, func(t *testing.T) {
			l := mustRead(t, name, text)
			if err := l.addSums(t.Context(), size); err != nil {
				t.Fatal(err)
			}
			at := mustPut(t, b, l)
			if again := mustPut(t, b, l); again != (Placed{Key: at.Key, Already: true}) {
				t.Errorf("again: %+v", again)
			}
			want[at.Key] = text

			changed := mustRead(t, "changed "+name, text)
			if err := changed.addSums(t.Context(), size); err != nil {
				t.Fatal(err)
			}
			changed.content = strings.NewReader(strings.Replace(text, "/a", "/b", 1))
			if at, err := b.Put(t.Context(), changed, false, nil); err == nil {
				t.Errorf("a file that changed after it was read was put as %s", at.Key)
			}
		})
	}
	if got := contents(t, b); !maps.Equal(want, got) {
		t.Errorf("the objects %v differ from the logs %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	if left := uploads(t, b); len(left) > 0 {
		t.Errorf("uploads of %v are left", left)
	}
}
