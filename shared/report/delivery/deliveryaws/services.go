// Package deliveryaws hands reports over to services of AWS: mail to SES, files to S3, messages to SNS. It also reads
// secrets from the Parameter Store of AWS Systems Manager.
package deliveryaws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/shared/report/delivery"
)

// timeout limits each delivery, with the attempts of the SDK.
const timeout = time.Minute

// Services implements delivery.AWS. It may be used by several goroutines at the same time.
type Services struct {
	load func(context.Context) (aws.Config, error)
	now  func() time.Time

	mutex      sync.Mutex
	parameters map[string]parameter
}

var _ delivery.AWS = (*Services)(nil)

// New returns the services of a configuration of AWS.
func New(c aws.Config) *Services {
	return newServices(func(context.Context) (aws.Config, error) { return c, nil })
}

// Default returns the services of the configuration that the environment and the files of the AWS tools have. It is read
// for each delivery, so it may be absent as long as there is none.
func Default() *Services {
	return newServices(func(ctx context.Context) (aws.Config, error) {
		c, err := config.LoadDefaultConfig(ctx)
		if err == nil && c.Region == "" {
			err = errors.New("no region is set; set AWS_REGION, for example to eu-central-1")
		}
		if err != nil {
			err = fmt.Errorf("read the configuration of AWS: %w", err)
		}
		return c, err
	})
}

func newServices(load func(context.Context) (aws.Config, error)) *Services {
	return &Services{load: load, now: time.Now, parameters: map[string]parameter{}}
}
