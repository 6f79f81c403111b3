// Package s3test runs an S3 server in the process of a test.
package s3test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// New starts a server with empty buckets and returns a client of it. The server stops at the end of the test. The
// client retries as often as a client of S3 usually does, but without waiting. The network between them may be nil.
func New(t testing.TB, network http.RoundTripper, buckets ...string) *s3.Client {
	t.Helper()
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(conditional(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return Connect(server.URL, network)
}

// Connect returns such a client for the server at url.
func Connect(url string, network http.RoundTripper) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &url, Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient:  &http.Client{Transport: network},
		Retryer:     Retryer(),
		DisableLogOutputChecksumValidationSkipped: true,
	})
}

// conditional implements the conditions of writes as S3 does. The server in this process checks that an object is
// absent and then writes, which S3 does in one step, and its copies and uploads in parts overwrite existing objects.
func conditional(server http.Handler) http.Handler {
	turn := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		completes := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
		if r.Method != http.MethodPut && !completes {
			server.ServeHTTP(w, r)
			return
		}
		turn <- struct{}{}
		defer func() { <-turn }()
		unchecked := completes || r.Header.Get("X-Amz-Copy-Source") != ""
		if unchecked && r.Header.Get("If-None-Match") == "*" && exists(server, r) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusPreconditionFailed)
			if _, err := w.Write([]byte("<Error><Code>PreconditionFailed</Code></Error>")); err != nil {
				panic(http.ErrAbortHandler)
			}
			return
		}
		server.ServeHTTP(w, r)
	})
}

// exists reports whether there is an object with the name that a request writes.
func exists(server http.Handler, r *http.Request) bool {
	head := httptest.NewRequestWithContext(r.Context(), http.MethodHead, r.URL.EscapedPath(), nil)
	head.Host = r.Host
	response := httptest.NewRecorder()
	server.ServeHTTP(response, head)
	return response.Code == http.StatusOK
}

// Retryer returns a retryer that makes three attempts, without waiting and without a retry budget that earlier failures
// use up.
func Retryer() *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		o.RateLimiter = unlimited{}
	})
}

type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (unlimited) AddTokens(uint) error { return nil }
