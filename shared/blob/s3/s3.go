// Package s3 implements blob.Store for a bucket of Amazon S3 or of a server of its protocol.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"
	"github.com/orrery/orrery/shared/blob"
)

// Store is a bucket. Each object is put in one request, so its size is limited to 5 GB.
type Store struct {
	client *s3.Client
	bucket string
}

var (
	_ blob.Store  = (*Store)(nil)
	_ blob.Ranges = (*Store)(nil)
)

// New returns the store of a bucket, which must exist.
func New(client *s3.Client, bucket string) *Store { return &Store{client, bucket} }

// Get opens an object at a byte offset.
func (s *Store) Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, blob.Info, error) {
	in := &s3.GetObjectInput{Bucket: &s.bucket, Key: &name}
	if version != "" {
		in.VersionId = &version
	}
	if offset > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := s.client.GetObject(ctx, in)
	if statusOf(err) == http.StatusRequestedRangeNotSatisfiable {
		return s.atEnd(ctx, name, offset)
	}
	if err != nil {
		return nil, blob.Info{}, s.failed("get", name, err)
	}
	return out.Body, blob.Info{
		Name:     name,
		Size:     offset + aws.ToInt64(out.ContentLength),
		ETag:     aws.ToString(out.ETag),
		Modified: aws.ToTime(out.LastModified),
	}, nil
}

// GetRange opens a part of an object. The ETag is a condition of the request, and is compared with that of the response,
// because some servers ignore the condition.
func (s *Store) GetRange(ctx context.Context, name, etag string, offset, length int64) (io.ReadCloser, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: &name, IfMatch: &etag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)),
	}, quietly)
	switch {
	case statusOf(err) == http.StatusPreconditionFailed:
		return nil, fmt.Errorf("get s3://%s/%s: %w: %w", s.bucket, name, blob.ErrChanged, err)
	case err != nil:
		return nil, s.failed("get", name, err)
	case aws.ToString(out.ETag) != etag:
		return nil, errors.Join(fmt.Errorf("get s3://%s/%s: %w", s.bucket, name, blob.ErrChanged), out.Body.Close())
	}
	return out.Body, nil
}

// quietly makes the client not log that the response to a request for a range has no checksum.
func quietly(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true }

// atEnd returns an empty body for an offset at the end of the object. S3 refuses such a range.
func (s *Store) atEnd(ctx context.Context, name string, offset int64) (io.ReadCloser, blob.Info, error) {
	info, err := s.Head(ctx, name)
	if err == nil && offset > info.Size {
		err = fmt.Errorf("get %s: byte %d of %d", name, offset, info.Size)
	}
	info.Sum = ""
	return http.NoBody, info, err
}

// Head describes an object. It returns the sum of objects that Put wrote, unless the server keeps no checksums.
func (s *Store) Head(ctx context.Context, name string) (blob.Info, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket:       &s.bucket,
		Key:          &name,
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return blob.Info{}, s.failed("head", name, err)
	}
	info := blob.Info{
		Name:     name,
		Size:     aws.ToInt64(out.ContentLength),
		ETag:     aws.ToString(out.ETag),
		Modified: aws.ToTime(out.LastModified),
	}
	sum, err := base64.StdEncoding.DecodeString(aws.ToString(out.ChecksumSHA256))
	if err == nil && len(sum) == sha256.Size {
		info.Sum = hex.EncodeToString(sum)
	}
	return info, nil
}

// Put writes an object in one request with its SHA-256. S3 compares the sum and keeps it.
func (s *Store) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	sum, size, err := sumOf(body)
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	in := &s3.PutObjectInput{Bucket: &s.bucket, Key: &name, Body: body, ContentLength: &size, ChecksumSHA256: &sum}
	if when == blob.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	return s.conditionally("put", name, func() error {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := s.client.PutObject(ctx, in)
		return err
	})
}

// sumOf reads a body and returns its SHA-256 in base64 and its length in bytes.
func sumOf(body io.ReadSeeker) (string, int64, error) {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err := io.Copy(h, body)
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), size, err
}

// Copy copies an object within S3, with its checksum. It first checks that the target does not exist: LocalStack
// answers the condition with 412, as S3 does, but overwrites the object nevertheless.
func (s *Store) Copy(ctx context.Context, from, to string) error {
	if _, err := s.Head(ctx, to); err == nil {
		return fmt.Errorf("copy to s3://%s/%s: %w", s.bucket, to, blob.ErrExists)
	} else if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	source := httpbinding.EscapePath(s.bucket+"/"+from, false)
	return s.conditionally("copy to", to, func() error {
		_, err := s.client.CopyObject(ctx, &s3.CopyObjectInput{
			Bucket:            &s.bucket,
			Key:               &to,
			CopySource:        &source,
			IfNoneMatch:       aws.String("*"),
			ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		})
		return err
	})
}

// maxConflicts is how often a write is repeated when another write of the same name is in progress.
const maxConflicts = 5

// conditionally calls a write that may have a condition. S3 answers 409 while another write of the same name is in
// progress: it has not evaluated the condition, and the client must send the request again.
func (s *Store) conditionally(action, name string, write func() error) error {
	for conflicts := 0; ; conflicts++ {
		err := write()
		if err == nil {
			return nil
		}
		if statusOf(err) != http.StatusConflict || conflicts == maxConflicts {
			return s.failed(action, name, err)
		}
	}
}

// List requests pages of up to 1000 names.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix}
		if after != "" {
			in.StartAfter = &after
		}
		for pages := s3.NewListObjectsV2Paginator(s.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(blob.Info{}, s.failed("list", prefix, err))
				return
			}
			for _, o := range page.Contents {
				info := blob.Info{
					Name:     aws.ToString(o.Key),
					Size:     aws.ToInt64(o.Size),
					ETag:     aws.ToString(o.ETag),
					Modified: aws.ToTime(o.LastModified),
				}
				if !yield(info, nil) {
					return
				}
			}
		}
	}
}

// Delete removes objects, up to 1000 in one request.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	const most = 1000
	for len(names) > 0 {
		n := min(len(names), most)
		if err := s.deleteSome(ctx, names[:n]); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

func (s *Store) deleteSome(ctx context.Context, names []string) error {
	ids := make([]types.ObjectIdentifier, len(names))
	for i := range names {
		ids[i].Key = &names[i]
	}
	out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &s.bucket,
		Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return s.failed("delete", names[0], err)
	}
	for _, e := range out.Errors {
		if code := aws.ToString(e.Code); code != "NoSuchKey" {
			return fmt.Errorf("delete s3://%s/%s: %s: %s", s.bucket, aws.ToString(e.Key), code, aws.ToString(e.Message))
		}
	}
	return nil
}

// failed adds the action and the object to an error, and the error of package blob that it corresponds to.
func (s *Store) failed(action, name string, err error) error {
	var answer smithy.APIError
	switch statusOf(err) {
	case http.StatusNotFound:
		if !errors.As(err, &answer) || answer.ErrorCode() != "NoSuchBucket" {
			err = errors.Join(blob.ErrNotFound, err)
		}
	case http.StatusPreconditionFailed:
		err = errors.Join(blob.ErrExists, err)
	}
	return fmt.Errorf("%s s3://%s/%s: %w", action, s.bucket, name, err)
}

// statusOf returns the HTTP status of a failed request, or 0 if there was no response.
func statusOf(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
