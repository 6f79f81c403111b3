package deliveryaws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"mime"
	"path"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// mediaTypes are the media types of files by their extensions.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".csv":  "text/csv; charset=utf-8",
	".json": "application/json",
}

// Put writes files as objects with their SHA-256, which S3 compares. The names of the files have the run, so an object
// that is there already has the same contents, and is replaced.
func (s *Services) Put(ctx context.Context, to destination.Bucket, files []runs.File) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := s.load(ctx)
	if err != nil {
		return err
	}
	// Emulators have no host name for each bucket.
	client := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		key, checksum := to.Prefix+f.Name, base64.StdEncoding.EncodeToString(sum[:])
		mediaType := mediaTypes[path.Ext(f.Name)]
		if mediaType == "" {
			mediaType = "application/octet-stream"
		}
		disposition := mime.FormatMediaType("inline", map[string]string{"filename": f.Name})
		_, err := client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &to.Name, Key: &key, Body: bytes.NewReader(f.Content), ContentType: &mediaType,
			ContentDisposition: &disposition, ChecksumSHA256: &checksum,
		})
		if err != nil {
			return failed("put s3://"+to.Name+"/"+key, err)
		}
	}
	return nil
}
