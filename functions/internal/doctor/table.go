package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// TableClient is the part of *dynamodb.Client that the checks use.
type TableClient interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Table checks that items under a partition key of the DynamoDB table can be read.
func Table(client TableClient, table, partition string) Check {
	return Check{
		Name: "table",
		Remedy: "ORRERY_TABLE must name the table of the deployment, in the function's region, " +
			"and the function's role must allow dynamodb:GetItem on it; deploying the stacks again sets both",
		Run: func(ctx context.Context) (string, error) {
			if _, err := probe(ctx, client, table, partition); err != nil {
				return "", refused(err, "the table "+table)
			}
			return fmt.Sprintf("the table %s can be read", table), nil
		},
	}
}

// maxSkew is the largest accepted difference between the clocks. Keys expire and segments end by the clock, and AWS
// refuses requests with a difference of five minutes.
const maxSkew = time.Minute

// Clock checks the clock against the clock of DynamoDB.
func Clock(client TableClient, table, partition string, now func() time.Time) Check {
	return Check{
		Name: "clock",
		Remedy: "on AWS the clock is Amazon's: wait for a new instance of the function; " +
			"elsewhere set the machine's clock by NTP",
		Run: func(ctx context.Context) (string, error) {
			answer, err := probe(ctx, client, table, partition)
			if err != nil {
				return "", errors.New("the table does not answer, so there is no other clock to compare with")
			}
			server, ok := middleware.GetServerTime(answer.ResultMetadata)
			if !ok {
				return "", errors.New("DynamoDB did not return its time")
			}
			local := now().UTC()
			if skew := local.Sub(server).Abs(); skew > maxSkew {
				return "", fmt.Errorf("the clock is %s off: it shows %s, the clock of DynamoDB %s",
					skew.Round(time.Second), local.Format(time.DateTime), server.UTC().Format(time.DateTime))
			}
			return "the clock agrees with DynamoDB's: " + local.Format(time.DateTime) + " UTC", nil
		},
	}
}

// probe reads an item that never exists.
func probe(ctx context.Context, client TableClient, table, partition string) (*dynamodb.GetItemOutput, error) {
	return client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: tabledynamo.Key(partition, "doctor")})
}

// KeyList is the part of keys.Store that Keys uses.
type KeyList interface {
	List(ctx context.Context) ([]keys.Key, error)
}

// Keys checks that at least one API key is usable.
func Keys(store KeyList, now func() time.Time) Check {
	return Check{
		Name:   "keys",
		Remedy: "create a key: orrery key create --table NAME; requests without a key are answered with 401",
		Run: func(ctx context.Context) (string, error) {
			all, err := store.List(ctx)
			if err != nil {
				return "", refused(err, "the list of API keys")
			}
			usable := 0
			for _, k := range all {
				if k.State(now()) == "usable" {
					usable++
				}
			}
			if usable == 0 {
				return "", fmt.Errorf("no API key is usable; %d exist", len(all))
			}
			if usable == 1 {
				return "1 API key is usable", nil
			}
			return fmt.Sprintf("%d API keys are usable", usable), nil
		},
	}
}

// refused describes in plain words why AWS did not answer a request for a resource.
func refused(err error, resource string) error {
	var api smithy.APIError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %s", resource, timeout)
	case strings.Contains(err.Error(), "get credentials: "): // the SDK has no type for it
		return fmt.Errorf("%s cannot be requested: there are no AWS credentials; set AWS_PROFILE, "+
			"or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (a deployed function uses the credentials of its role)",
			resource)
	case !errors.As(err, &api):
		return fmt.Errorf("%s cannot be reached: check the network, AWS_REGION, "+
			"and AWS_ENDPOINT_URL if it is set", resource)
	}
	switch api.ErrorCode() {
	case "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidSignatureException",
		"SignatureDoesNotMatch", "ExpiredTokenException", "ExpiredToken":
		return fmt.Errorf("%s cannot be read: the AWS credentials are wrong or have expired (%s)",
			resource, api.ErrorCode())
	case "AccessDeniedException", "AccessDenied", "UnauthorizedOperation":
		return fmt.Errorf("the function's role does not allow reading %s", resource)
	case "ResourceNotFoundException", "EntityNotFoundException", "MetadataException", "NoSuchBucket", "NotFound":
		return fmt.Errorf("%s does not exist", resource)
	}
	return fmt.Errorf("%s answered with %s", resource, api.ErrorCode())
}
