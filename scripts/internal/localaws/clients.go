package localaws

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keydynamo"
)

// Config returns the configuration for the SDK's clients of the deployment's services. S3 clients also need path style.
func (d *Deployment) Config() aws.Config {
	static := credentials.NewStaticCredentialsProvider("test", "test", "")
	return aws.Config{Region: Region, BaseEndpoint: &d.Endpoint, Credentials: static}
}

// IssueKey creates an API key of the deployment.
func (d *Deployment) IssueKey(ctx context.Context, name string, scopes ...keys.Scope) (string, error) {
	store := keydynamo.New(dynamotable.NewClient(d.Config()), d.Outputs["TableName"])
	secret, _, err := keys.Issue(ctx, store, keys.Grant{Name: name, Scopes: scopes}, time.Now())
	return secret, err
}
