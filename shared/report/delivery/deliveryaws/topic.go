package deliveryaws

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/orrery/orrery/shared/awscall"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/destination"
)

// Publish publishes a message to a topic, which may be in another region.
func (s *Services) Publish(ctx context.Context, to destination.Topic, m delivery.Message) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	topic, err := arn.Parse(to.ARN)
	if err != nil {
		return fmt.Errorf("the topic %s: %w", to.ARN, err)
	}
	c, err := s.load(ctx)
	if err != nil {
		return err
	}
	c.Region = topic.Region
	in := url.Values{"TopicArn": {to.ARN}, "Subject": {m.Subject}, "Message": {m.Text}}
	for i, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		entry := fmt.Sprintf("MessageAttributes.entry.%d.", i+1)
		in.Set(entry+"Name", name)
		in.Set(entry+"Value.DataType", "String")
		in.Set(entry+"Value.StringValue", m.Attributes[name])
	}
	if err := awscall.Query(ctx, c, awscall.SNS, "Publish", in, nil); err != nil {
		return failed("publish to "+topic.Resource, err, "InvalidParameter", "InvalidParameterValue")
	}
	return nil
}
