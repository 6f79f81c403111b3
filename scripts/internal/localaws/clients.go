package localaws

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/wholefile"
)

// Config returns the configuration for the SDK's clients of the deployment's services. S3 clients also need path style.
func (d *Deployment) Config() aws.Config {
	static := credentials.NewStaticCredentialsProvider("test", "test", "")
	return aws.Config{Region: Region, BaseEndpoint: &d.Endpoint, Credentials: static}
}

// IssueKey creates an API key of the deployment.
func (d *Deployment) IssueKey(ctx context.Context, name string, scopes ...keys.Scope) (string, error) {
	secret, _, err := keys.Issue(ctx, d.keys(), keys.Grant{Name: name, Scopes: scopes}, time.Now())
	return secret, err
}

// Key returns a usable API key of the deployment: the key of the last call in the folder if it is still usable, or else
// a new one.
func (d *Deployment) Key(ctx context.Context, name string, scopes ...keys.Scope) (string, error) {
	file := filepath.Join(d.options.Dir, "key")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if kept := strings.TrimSpace(string(text)); kept != "" {
		usable, err := d.usable(ctx, kept)
		if usable || err != nil {
			return kept, err
		}
	}
	secret, err := d.IssueKey(ctx, name, scopes...)
	if err != nil {
		return "", err
	}
	return secret, wholefile.Replace(file, []byte(secret+"\n"))
}

// usable reports whether the deployment knows a key that is neither revoked nor expired.
func (d *Deployment) usable(ctx context.Context, secret string) (bool, error) {
	hash := keys.HashOf(secret)
	found, err := d.keys().Find(ctx, keys.IDOf(hash))
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil && found.Hash == hash && found.State(time.Now()) == "usable", err
}

func (d *Deployment) keys() *keys.Items {
	return keys.Over(tabledynamo.New(tabledynamo.NewClient(d.Config()), d.Outputs[tableOutput]))
}
