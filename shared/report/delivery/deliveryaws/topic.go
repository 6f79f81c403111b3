package deliveryaws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

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
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range m.Attributes {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	client := sns.NewFromConfig(c, func(o *sns.Options) { o.Region = topic.Region })
	_, err = client.Publish(ctx, &sns.PublishInput{
		TopicArn: &to.ARN, Subject: &m.Subject, Message: &m.Text, MessageAttributes: attributes,
	})
	if err != nil {
		return failed("publish to "+topic.Resource, err, "InvalidParameter", "InvalidParameterValue")
	}
	return nil
}
