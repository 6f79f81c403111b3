package localaws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// The resources that the CDK expects in an account after "cdk bootstrap", as far as LocalStack needs them. LocalStack
// checks no roles.
const (
	assetBucket      = "cdk-hnb659fds-assets-" + Account + "-" + Region
	bootstrapVersion = `{"Name":"/cdk-bootstrap/hnb659fds/version","Value":"30","Type":"String","Overwrite":true}`
)

// bootstrap prepares the account for the CDK. It takes moments, unlike the CDK's own command.
func (d *Deployment) bootstrap(ctx context.Context) error {
	bucket := assetBucket
	if _, err := d.s3().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		return fmt.Errorf("create the bucket of the CDK: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Endpoint, strings.NewReader(bootstrapVersion))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "AmazonSSM.PutParameter")
	// LocalStack does not verify the signature.
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+Region+
		"/ssm/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("set the version of the CDK's bootstrap: %w", err)
	}
	text, err := io.ReadAll(response.Body)
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	if err != nil {
		return fmt.Errorf("set the version of the CDK's bootstrap: %w", err)
	}
	return nil
}

func (d *Deployment) s3() *s3.Client {
	return s3.NewFromConfig(d.Config(), func(o *s3.Options) { o.UsePathStyle = true })
}
