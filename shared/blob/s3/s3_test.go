package s3_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// open returns a store over a server in this process, and the network between them.
func open(t *testing.T, script faulttest.Script) (*s3.Store, *faulttest.Transport) {
	t.Helper()
	network := &faulttest.Transport{Script: script}
	return s3.New(s3test.New(t, network, "bucket"), "bucket"), network
}

func TestStore(t *testing.T) {
	blobtest.Test(t, func(t *testing.T) blob.Store {
		s, _ := open(t, faulttest.Never)
		return s
	})
}

// TestLocalStack runs the suite against LocalStack, another server of S3's protocol.
func TestLocalStack(t *testing.T) {
	url := os.Getenv("ORRERY_TEST_LOCALSTACK")
	if url == "" {
		t.Skip("ORRERY_TEST_LOCALSTACK is not set; start a server with scripts/servers/localstack.sh start DIR")
	}
	blobtest.Test(t, func(t *testing.T) blob.Store {
		client := s3test.Connect(url, nil)
		bucket := "test-" + strings.ToLower(rand.Text())
		if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
			t.Fatal(err)
		}
		return s3.New(client, bucket)
	})
}

func TestStoreRetriesTransientFaults(t *testing.T) {
	for name, fault := range map[string]faulttest.Fault{
		"throttled":  faulttest.Throttle,
		"failed":     faulttest.Fail,
		"broken":     faulttest.Break,
		"duplicated": faulttest.Duplicate,
	} {
		t.Run(name, func(t *testing.T) {
			s, network := open(t, faulttest.Never)
			content := strings.Repeat("0123456789", 100_000)
			calls := map[string]func() error{
				"put":    func() error { return s.Put(t.Context(), "object", strings.NewReader(content), blob.Always) },
				"head":   func() error { _, err := s.Head(t.Context(), "object"); return err },
				"list":   func() error { return listAll(t.Context(), s) },
				"read":   func() error { return readBack(t.Context(), s, content) },
				"delete": func() error { return s.Delete(t.Context(), "object") },
			}
			for _, name := range []string{"put", "head", "list", "read", "delete"} {
				network.Script = faulttest.At(network.Requests(), fault)
				if err := calls[name](); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func listAll(ctx context.Context, s blob.Store) error {
	for _, err := range s.List(ctx, "", "") {
		if err != nil {
			return err
		}
	}
	return nil
}

func readBack(ctx context.Context, s blob.Store, content string) error {
	r, err := blob.Open(ctx, s, "object", "")
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err == nil && string(got) != content {
		err = errors.New("the content differs from what was put")
	}
	return errors.Join(err, r.Close())
}

func TestReaderResumesBrokenConnections(t *testing.T) {
	s, network := open(t, faulttest.Never)
	content := strings.Repeat("0123456789", 100_000)
	if err := s.Put(t.Context(), "object", strings.NewReader(content), blob.Always); err != nil {
		t.Fatal(err)
	}
	network.Script = func(_ int, r *http.Request) faulttest.Fault {
		if r.Method == http.MethodGet {
			return faulttest.Cut // every response ends in the middle
		}
		return faulttest.None
	}
	before := network.Requests()
	if err := readBack(t.Context(), s, content); err != nil {
		t.Error(err)
	}
	if n := network.Requests() - before; n < 10 {
		t.Errorf("%d requests, want at least 10", n)
	}
}

func TestPutIfAbsentAfterLostResponseReturnsErrExists(t *testing.T) {
	for name, fault := range map[string]faulttest.Fault{
		"lost":                  faulttest.Lose,
		"executed, then failed": faulttest.FailLate,
		"duplicated":            faulttest.Duplicate,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, faulttest.At(0, fault))
			err := s.Put(t.Context(), "object", strings.NewReader("content"), blob.IfAbsent)
			if !errors.Is(err, blob.ErrExists) {
				t.Errorf("put: %v", err)
			}
			if err := readBack(t.Context(), s, "content"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPermanentFaultsAreOtherErrors(t *testing.T) {
	for name, fault := range map[string]faulttest.Fault{
		"throttled": faulttest.Throttle,
		"failed":    faulttest.Fail,
		"broken":    faulttest.Break,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, faulttest.From(0, fault))
			for what, err := range map[string]error{
				"put":  s.Put(t.Context(), "object", strings.NewReader("content"), blob.IfAbsent),
				"copy": s.Copy(t.Context(), "object", "other"),
				"list": listAll(t.Context(), s),
				"read": readBack(t.Context(), s, "content"),
			} {
				if err == nil || errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrNotFound) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func TestMissingBucketIsNotAMissingObject(t *testing.T) {
	s, network := open(t, faulttest.Never)
	network.Before = func(_ int, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, "/bucket/", "/nowhere/", 1)
	}
	if _, _, err := s.Get(t.Context(), "object", "", 0); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Put(t.Context(), "object", strings.NewReader("content"), blob.IfAbsent); err == nil {
		t.Error("put into a missing bucket succeeded")
	}
}

func TestGetReadsOlderVersions(t *testing.T) {
	client := s3test.New(t, nil, "bucket")
	if _, err := client.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{
		Bucket:                  aws.String("bucket"),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	}); err != nil {
		t.Fatal(err)
	}
	first, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String("bucket"),
		Key:    aws.String("object"),
		Body:   strings.NewReader("first"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := s3.New(client, "bucket")
	if err := s.Put(t.Context(), "object", strings.NewReader("second"), blob.Always); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{aws.ToString(first.VersionId): "first", "": "second"} {
		r, err := blob.Open(t.Context(), s, "object", version)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(got) != want {
			t.Errorf("version %q: %q, %v", version, got, err)
		}
	}
}

func TestReaderStopsWhenContextEnds(t *testing.T) {
	s, network := open(t, faulttest.Never)
	if err := s.Put(t.Context(), "object", strings.NewReader("content"), blob.Always); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := blob.Open(ctx, s, "object", "")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	before := network.Requests()
	if _, err := r.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := network.Requests() - before; n > 1 {
		t.Errorf("%d requests after the context ended, want at most 1", n)
	}
}
