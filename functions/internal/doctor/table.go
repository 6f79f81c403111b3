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

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
)

// TableClient is what is used of *dynamodb.Client.
type TableClient interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Table checks that the DynamoDB table answers about the items under a partition key.
func Table(client TableClient, table, partition string) Check {
	return Check{
		Name: "table",
		Mend: "ORRERY_TABLE must name the table of the deployment, in the function's region, and the function's role must allow dynamodb:GetItem on it; deploying the stacks again sets both",
		Look: func(ctx context.Context) (string, error) {
			if _, err := probe(ctx, client, table, partition); err != nil {
				return "", refused(err, "the table "+table)
			}
			return fmt.Sprintf("the table %s can be read", table), nil
		},
	}
}

// mostSkew is how far the clock may be off: keys expire and segments end by it, and AWS refuses requests that are
// five minutes off.
const mostSkew = time.Minute

// Clock compares the clock with that of DynamoDB.
func Clock(client TableClient, table, partition string, now func() time.Time) Check {
	return Check{
		Name: "clock",
		Mend: "on AWS the clock is Amazon's: wait for a new instance of the function; elsewhere set the machine's clock by NTP",
		Look: func(ctx context.Context) (string, error) {
			answer, err := probe(ctx, client, table, partition)
			if err != nil {
				return "", errors.New("the table does not answer, so there is no other clock to compare with")
			}
			there, told := middleware.GetServerTime(answer.ResultMetadata)
			if !told {
				return "", errors.New("DynamoDB did not tell its time")
			}
			if skew := now().Sub(there).Abs(); skew > mostSkew {
				return "", fmt.Errorf("the clock is %s off: here it is %s, at DynamoDB %s", skew.Round(time.Second), now().UTC().Format(time.DateTime), there.UTC().Format(time.DateTime))
			}
			return "the clock agrees with DynamoDB's: " + now().UTC().Format(time.DateTime) + " UTC", nil
		},
	}
}

// probe asks for an item that is never there.
func probe(ctx context.Context, client TableClient, table, partition string) (*dynamodb.GetItemOutput, error) {
	return client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: dynamotable.Key(partition, "doctor")})
}

// KeyList is what is used of a keys.Store.
type KeyList interface {
	List(ctx context.Context) ([]keys.Key, error)
}

// Keys checks that somebody may call.
func Keys(store KeyList, now func() time.Time) Check {
	return Check{
		Name: "keys",
		Mend: "make a key: orrery key create --table NAME; every request without one is answered with 401",
		Look: func(ctx context.Context) (string, error) {
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
				return "", fmt.Errorf("none of the API keys can be used; there are %d", len(all))
			}
			return fmt.Sprintf("%d of the API keys can be used", usable), nil
		},
	}
}

// refused says in plain words why AWS did not do what was asked.
func refused(err error, what string) error {
	var api smithy.APIError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %s", what, patience)
	case strings.Contains(err.Error(), "get credentials: "): // the SDK has no type for it
		return fmt.Errorf("%s cannot be asked for: there are no credentials of AWS; set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (a deployed function has those of its role)", what)
	case !errors.As(err, &api):
		return fmt.Errorf("%s cannot be reached: look at the network, at AWS_REGION, and at AWS_ENDPOINT_URL if that is set", what)
	}
	switch api.ErrorCode() {
	case "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidSignatureException", "SignatureDoesNotMatch", "ExpiredTokenException", "ExpiredToken":
		return fmt.Errorf("%s was not told: the credentials of AWS are wrong or have expired (%s)", what, api.ErrorCode())
	case "AccessDeniedException", "AccessDenied", "UnauthorizedOperation":
		return fmt.Errorf("the function's role does not allow to read %s", what)
	case "ResourceNotFoundException", "EntityNotFoundException", "MetadataException", "NoSuchBucket", "NotFound":
		return fmt.Errorf("%s does not exist", what)
	}
	return fmt.Errorf("%s answered with %s", what, api.ErrorCode())
}
