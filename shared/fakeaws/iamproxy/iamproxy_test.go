package iamproxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/orrery/orrery/shared/fakeaws/iamproxy"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// deployment is a guarded proxy in front of servers of S3, DynamoDB and Athena.
type deployment struct {
	guard *iamproxy.Transport
	url   string // of the proxy
	s3    *s3mem.Backend

	mu     sync.Mutex
	denied []string
	passed []string // operations that reached DynamoDB or Athena
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{s3: s3mem.New()}
	for _, bucket := range []string{"raw", "lake", "results"} {
		if err := d.s3.CreateBucket(bucket); err != nil {
			t.Fatal(err)
		}
	}
	objects := httptest.NewServer(gofakes3.New(d.s3).Server())
	t.Cleanup(objects.Close)
	tables := httptest.NewServer(http.HandlerFunc(d.answerJSON))
	t.Cleanup(tables.Close)
	names := permissions.Names{
		Region: "us-east-1", Account: "000000000000", Table: "orrery", Workgroup: "orrery-interactive",
		RawBucket: "raw", LakeBucket: "lake", ResultBucket: "results", Database: "orrery", RawQueue: "orrery-raw",
	}
	d.guard = iamproxy.New(iamproxy.Config{
		Function: iamproxy.ByAccessKey("orrery-"),
		Policy:   func(context.Context) (iamproxy.Policy, error) { return names.Resources(), nil },
		Account:  names.Account,
		Base:     &http.Transport{DisableCompression: true},
		Denied: func(function, reason string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.denied = append(d.denied, function+": "+reason)
		},
		Record: true,
	})
	proxy := httptest.NewServer(d.guard.Proxy(func(service string) *url.URL {
		address := tables.URL
		if service == "s3" {
			address = objects.URL
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
		}
		return u
	}))
	t.Cleanup(proxy.Close)
	d.url = proxy.URL
	return d
}

// answerJSON answers every operation of the JSON protocols.
func (d *deployment) answerJSON(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	d.mu.Lock()
	d.passed = append(d.passed, fmt.Sprint(operation, " ", len(body) > 2, err))
	d.mu.Unlock()
	_, _ = io.WriteString(w, `{"QueryExecutionId":"e1"}`)
}

func (d *deployment) config(function string) aws.Config {
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &d.url, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("orrery-"+function, "secret", ""),
	}
}

func (d *deployment) s3Client(function string) *s3.Client {
	return s3.NewFromConfig(d.config(function), func(o *s3.Options) { o.UsePathStyle = true })
}

// put writes an object past the guard.
func (d *deployment) put(t *testing.T, bucket, key string, content []byte) {
	t.Helper()
	_, err := d.s3.PutObject(bucket, key, nil, bytes.NewReader(content), int64(len(content)), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// codeOf returns the code of an error of AWS, or "" without an error.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	var failure smithy.APIError
	if err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return failure.ErrorCode()
}

func TestProxyPassesAllowedRequests(t *testing.T) {
	d := newDeployment(t)
	content := bytes.Repeat([]byte("0123456789"), 500_000)
	ingest := d.s3Client("ingest")
	put := &s3.PutObjectInput{
		Bucket: aws.String("lake"), Key: aws.String("lake/a b+é"), Body: bytes.NewReader(content),
	}
	if _, err := ingest.PutObject(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	got, err := ingest.GetObject(t.Context(), &s3.GetObjectInput{Bucket: put.Bucket, Key: put.Key})
	if err != nil {
		t.Fatal(err)
	}
	read, err := io.ReadAll(got.Body)
	if err := errors.Join(err, got.Body.Close()); err != nil || !bytes.Equal(read, content) {
		t.Errorf("read %d of %d bytes: %v", len(read), len(content), err)
	}
	list := &s3.ListObjectsV2Input{Bucket: put.Bucket, Prefix: aws.String("lake/a b")}
	if found, err := ingest.ListObjectsV2(t.Context(), list); err != nil || len(found.Contents) != 1 {
		t.Errorf("listing: %v", err)
	}
	item := &dynamodb.GetItemInput{TableName: aws.String("orrery"), Key: tabledynamo.Key("keys", "x")}
	if _, err := dynamodb.NewFromConfig(d.config("topx")).GetItem(t.Context(), item); err != nil {
		t.Error(err)
	}
	if len(d.denied) > 0 || !slices.Equal(d.passed, []string{"GetItem true <nil>"}) {
		t.Errorf("denied %q, passed %q", d.denied, d.passed)
	}
}

func deleteObjects(bucket string, keys ...string) *s3.DeleteObjectsInput {
	in := &s3.DeleteObjectsInput{Bucket: &bucket, Delete: &s3types.Delete{}}
	for _, key := range keys {
		in.Delete.Objects = append(in.Delete.Objects, s3types.ObjectIdentifier{Key: &key})
	}
	return in
}

func TestProxyDenies(t *testing.T) {
	item := func(key string) *dynamodb.GetItemInput {
		return &dynamodb.GetItemInput{TableName: aws.String("orrery"), Key: tabledynamo.Key(key, "x")}
	}
	for _, test := range []struct {
		name, code, reason string
		do                 func(context.Context, *deployment) error
	}{
		{
			"an object of S3", "AccessDenied",
			"ingest: ingest is not authorized to perform: s3:PutObject on arn:aws:s3:::raw/raw/a",
			func(ctx context.Context, d *deployment) error {
				in := &s3.PutObjectInput{Bucket: aws.String("raw"), Key: aws.String("raw/a")}
				_, err := d.s3Client("ingest").PutObject(ctx, in)
				return err
			},
		},
		{
			"one of several objects", "AccessDenied",
			"compact: compact is not authorized to perform: s3:DeleteObject on arn:aws:s3:::lake/quarantine/b",
			func(ctx context.Context, d *deployment) error {
				_, err := d.s3Client("compact").DeleteObjects(ctx, deleteObjects("lake", "lake/a", "quarantine/b"))
				return err
			},
		},
		{
			"an item of DynamoDB", "AccessDeniedException",
			"parse: parse is not authorized to perform: dynamodb:GetItem on " +
				"arn:aws:dynamodb:us-east-1:000000000000:table/orrery with dynamodb:LeadingKeys [planet#a]",
			func(ctx context.Context, d *deployment) error {
				_, err := dynamodb.NewFromConfig(d.config("parse")).GetItem(ctx, item("planet#a"))
				return err
			},
		},
		{
			"a caller that is no function", "AccessDeniedException", ": the caller is not a function of the deployment",
			func(ctx context.Context, d *deployment) error {
				_, err := dynamodb.NewFromConfig(d.config("stranger")).GetItem(ctx, item("keys"))
				return err
			},
		},
		{
			"an operation that is not understood", "AccessDeniedException",
			"topx: the request is not understood: dynamodb ListTables: the operation is unknown",
			func(ctx context.Context, d *deployment) error {
				_, err := dynamodb.NewFromConfig(d.config("topx")).ListTables(ctx, &dynamodb.ListTablesInput{})
				return err
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDeployment(t)
			if code := codeOf(t, test.do(t.Context(), d)); code != test.code {
				t.Errorf("code %q, want %q", code, test.code)
			}
			if diff := cmp.Diff([]string{test.reason}, d.denied); diff != "" {
				t.Errorf("denied (-want +got):\n%s", diff)
			}
			if len(d.passed) > 0 || len(d.guard.Calls()) > 0 {
				t.Errorf("%q reached the server, %v were recorded", d.passed, d.guard.Calls())
			}
		})
	}
}

func TestMissingObject(t *testing.T) {
	d := newDeployment(t)
	d.put(t, "raw", "raw/there", []byte("x"))
	get := func(function, bucket, key string) string {
		in := &s3.GetObjectInput{Bucket: &bucket, Key: &key}
		_, err := d.s3Client(function).GetObject(t.Context(), in)
		return codeOf(t, err)
	}
	if code := get("ingest", "raw", "raw/none"); code != "NoSuchKey" {
		t.Errorf("with the permission to list: %q", code)
	}
	listing := permissions.Call{Action: "s3:ListBucket", Resource: "arn:aws:s3:::raw"}
	recorded := func(c permissions.Call) bool { return c.String() == listing.String() }
	if !slices.ContainsFunc(d.guard.Calls()["ingest"], recorded) {
		t.Errorf("the listing was not recorded: %v", d.guard.Calls())
	}
	d.guard.Policy = func(context.Context) (iamproxy.Policy, error) { return onlyAction("s3:GetObject"), nil }
	if code := get("ingest", "raw", "raw/none"); code != "AccessDenied" {
		t.Errorf("without the permission to list: %q", code)
	}
	if code := get("ingest", "raw", "raw/there"); code != "" {
		t.Errorf("an object that exists: %q", code)
	}
}

// onlyAction is a policy that allows one action on everything.
type onlyAction string

func (a onlyAction) Allowed(_ string, c permissions.Call) bool { return c.Action == string(a) }

func TestExecutionsBelongToWorkgroups(t *testing.T) {
	d := newDeployment(t)
	topx := athena.NewFromConfig(d.config("topx"))
	start := &athena.StartQueryExecutionInput{
		QueryString: aws.String("SELECT 1"), WorkGroup: aws.String("orrery-interactive"),
	}
	if _, err := topx.StartQueryExecution(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	status := athena.NewFromConfig(d.config("query-status"))
	known := &athena.GetQueryExecutionInput{QueryExecutionId: aws.String("e1")}
	if _, err := status.GetQueryExecution(t.Context(), known); err != nil {
		t.Error(err)
	}
	unknown := &athena.GetQueryExecutionInput{QueryExecutionId: aws.String("e2")}
	if _, err := status.GetQueryExecution(t.Context(), unknown); codeOf(t, err) != "AccessDeniedException" {
		t.Errorf("an unknown execution: %v", err)
	}
	start.WorkGroup = aws.String("other")
	if _, err := topx.StartQueryExecution(t.Context(), start); codeOf(t, err) != "AccessDeniedException" {
		t.Errorf("another workgroup: %v", err)
	}
}

func TestUnreachableServer(t *testing.T) {
	g := iamproxy.New(iamproxy.Config{
		Function: iamproxy.ByAccessKey("orrery-"),
		Policy:   func(context.Context) (iamproxy.Policy, error) { return nil, errors.New("ended") },
	})
	proxy := httptest.NewServer(g.Proxy(func(string) *url.URL { return &url.URL{Scheme: "http", Host: "127.0.0.1:1"} }))
	defer proxy.Close()
	response, err := http.Get(proxy.URL) //nolint:noctx // a test's server
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d, %v", response.StatusCode, err)
	}
}
