package rawbucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"
)

const (
	// sumName is the name of the metadata with the SHA-256 of an object.
	sumName = "sha256"
	// concurrency is the number of parts that are sent at the same time.
	concurrency = 4
	// cleanupTime limits a request that is sent although the command was interrupted.
	cleanupTime = 30 * time.Second
	// maxTaken is how often a log is put again because another program wrote the key meanwhile.
	maxTaken = 3
)

// Placed describes where a log is in the bucket.
type Placed struct {
	Key     string
	Already bool // the object was there before, with the same content
}

// Put puts a log into the bucket, unless an object with its key and its content is there. It never replaces an object.
// An object becomes visible as a whole. After an error, no upload is left whose parts take space, unless the error
// reports it or S3 began an upload and its response was lost; the bucket removes such parts after a day. progress, if
// not nil, is called with the number of bytes sent so far.
func (b *Bucket) Put(ctx context.Context, l *Log, history bool, progress func(int64)) (Placed, error) {
	for attempt := 1; ; attempt++ {
		at, err := b.place(ctx, l, history)
		if err != nil || at.Already {
			return at, err
		}
		err = b.upload(ctx, at.Key, l, progress)
		if err == nil {
			return at, b.verify(ctx, at.Key, l)
		}
		// The response to an upload that succeeded may be lost. Then place finds the object.
		if !isTaken(err) || attempt == maxTaken {
			return Placed{}, b.failed("put", at.Key, err)
		}
	}
}

// place returns the first key of the log that is free, or the one of its object.
func (b *Bucket) place(ctx context.Context, l *Log, history bool) (Placed, error) {
	all := keys(l.name, l.modified, history)
	for _, key := range all {
		object, err := b.head(ctx, key)
		if statusOf(err) == http.StatusNotFound {
			return Placed{Key: key}, nil
		}
		if err != nil {
			return Placed{}, b.failed("look for", key, err)
		}
		same, err := b.holds(ctx, key, object, l)
		if err != nil {
			return Placed{}, b.failed("read", key, err)
		}
		if same {
			return Placed{Key: key, Already: true}, nil
		}
	}
	return Placed{}, keysTaken(b.Name, all[1])
}

func (b *Bucket) head(ctx context.Context, key string) (*s3.HeadObjectOutput, error) {
	return b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.Name, Key: &key})
}

// holds reports whether an object has the content of a log. It reads an object of that size that another program put.
func (b *Bucket) holds(ctx context.Context, key string, object *s3.HeadObjectOutput, l *Log) (bool, error) {
	if aws.ToInt64(object.ContentLength) != l.Size {
		return false, nil
	}
	if sum, found := object.Metadata[sumName]; found {
		return sum == l.sum, nil
	}
	got, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key, IfMatch: object.ETag})
	if err != nil {
		return false, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, got.Body)
	return hex.EncodeToString(sum.Sum(nil)) == l.sum, errors.Join(err, got.Body.Close())
}

// verify checks that the bucket has the object that was put.
func (b *Bucket) verify(ctx context.Context, key string, l *Log) error {
	object, err := b.head(ctx, key)
	if err != nil {
		return b.failed("verify", key, err)
	}
	size, sum := aws.ToInt64(object.ContentLength), object.Metadata[sumName]
	if size != l.Size || sum != l.sum {
		return fmt.Errorf("verify s3://%s/%s: it has %d bytes and the SHA-256 %q, want %d and %q",
			b.Name, key, size, sum, l.Size, l.sum)
	}
	return nil
}

// upload sends a log in one request, or in parts. S3 compares the SHA-256 of each with what it receives.
func (b *Bucket) upload(ctx context.Context, key string, l *Log, progress func(int64)) error {
	if len(l.parts) > 1 {
		return b.uploadParts(ctx, key, l, progress)
	}
	p := l.parts[0]
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.Name, Key: &key, Body: l.open(p), ContentLength: &p.size, ChecksumSHA256: &p.sum,
		Metadata: map[string]string{sumName: l.sum}, IfNoneMatch: aws.String("*"),
	})
	return err
}

// uploadParts sends a log in parts. If it fails, it aborts the upload, so that S3 keeps none of the parts. It does not
// know whether an upload is complete if it is interrupted at the last request, but then the object is whole.
func (b *Bucket) uploadParts(ctx context.Context, key string, l *Log, progress func(int64)) error {
	id, err := b.create(ctx, key, l)
	if err != nil {
		return err
	}
	parts, err := b.sendParts(ctx, key, id, l, progress)
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.Name, Key: &key, UploadId: &id, IfNoneMatch: aws.String("*"),
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
	}
	if err == nil {
		return nil
	}
	if aborting := b.abort(ctx, key, id); aborting != nil {
		return partsLeft(err, aborting)
	}
	return err
}

// create begins an upload in parts. An interruption does not end the request, because S3 may have begun the upload, and
// without a response its ID is unknown.
func (b *Bucket) create(ctx context.Context, key string, l *Log) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	created, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.Name, Key: &key, ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		Metadata: map[string]string{sumName: l.sum},
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(created.UploadId), nil
}

// sendParts sends the parts of a log, several at a time.
func (b *Bucket) sendParts(
	ctx context.Context, key, id string, l *Log, progress func(int64),
) ([]types.CompletedPart, error) {
	done := make([]types.CompletedPart, len(l.parts))
	var mu sync.Mutex
	var sent int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, p := range l.parts {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			number := int32(i + 1)
			answer, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
				Bucket: &b.Name, Key: &key, UploadId: &id, PartNumber: &number,
				Body: l.open(p), ContentLength: &p.size, ChecksumSHA256: &p.sum,
			})
			if err != nil {
				return err
			}
			done[i] = types.CompletedPart{PartNumber: &number, ETag: answer.ETag, ChecksumSHA256: &p.sum}
			mu.Lock()
			defer mu.Unlock()
			if sent += p.size; progress != nil {
				progress(sent)
			}
			return nil
		})
	}
	return done, group.Wait()
}

// abort removes an upload with its parts, also after an interruption. An upload that is complete has none.
func (b *Bucket) abort(ctx context.Context, key, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &b.Name, Key: &key, UploadId: &id,
	})
	if codeOf(err) == noSuchUpload {
		return nil
	}
	return err
}

const noSuchUpload = "NoSuchUpload"

// isTaken reports whether an upload failed because the key has an object or is being written, or because the upload
// ended before: the same request was received twice.
func isTaken(err error) bool {
	return statusOf(err) == http.StatusPreconditionFailed || statusOf(err) == http.StatusConflict ||
		codeOf(err) == noSuchUpload
}

// statusOf returns the HTTP status of a failed request, or 0 if there was no response.
func statusOf(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// codeOf returns the code of an error of AWS, or "".
func codeOf(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}

// isOneOf reports whether the code of an error of AWS is one of these.
func isOneOf(err error, codes ...string) bool { return slices.Contains(codes, codeOf(err)) }
