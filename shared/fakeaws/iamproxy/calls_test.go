package iamproxy_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fakeaws/iamproxy"
	"github.com/orrery/orrery/shared/permissions"
)

// sdk has clients of the SDK and a server that reads the calls of what they send.
type sdk struct {
	s3       *s3.Client
	dynamodb *dynamodb.Client
	athena   *athena.Client
	sqs      *sqs.Client

	calls []string // of the last request
	err   error
}

func newSDK(t *testing.T) *sdk {
	t.Helper()
	c := &sdk{}
	scope := iamproxy.Scope{Account: "123456789012", WorkgroupOf: func(execution string) string {
		return map[string]string{"e1": "interactive"}[execution]
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if iamproxy.NeedsBody(r) {
			body, c.err = io.ReadAll(r.Body)
			if c.err != nil {
				return
			}
		}
		var calls []permissions.Call
		calls, c.err = scope.CallsOf(r, body)
		c.calls = nil
		for _, call := range calls {
			c.calls = append(c.calls, call.String())
		}
		slices.Sort(c.calls)
		w.WriteHeader(http.StatusTeapot) // the client does not read on
	}))
	t.Cleanup(server.Close)
	config := aws.Config{
		Region: "eu-central-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
	c.s3 = s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	c.dynamodb, c.athena = dynamodb.NewFromConfig(config), athena.NewFromConfig(config)
	c.sqs = sqs.NewFromConfig(config)
	return c
}

// request is a request of a client and the calls that it makes. Without calls, it is not understood.
type request struct {
	name  string
	send  func(context.Context, *sdk) error
	calls []string
}

func testRequests(t *testing.T, requests []request) {
	t.Helper()
	c := newSDK(t)
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			c.calls, c.err = nil, nil
			_ = r.send(t.Context(), c) // the server refuses every request
			if (c.err != nil) != (r.calls == nil) {
				t.Errorf("error %v", c.err)
			}
			if diff := cmp.Diff(r.calls, c.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCallsOfS3(t *testing.T) {
	bucket, key := aws.String("b"), aws.String("raw/a b+é.gz")
	object := " on arn:aws:s3:::b/raw/a b+é.gz"
	body := func() io.Reader { return strings.NewReader("content") }
	testRequests(t, []request{
		{"list objects", func(ctx context.Context, c *sdk) error {
			in := &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("raw/a b"), StartAfter: aws.String("x")}
			_, err := c.s3.ListObjectsV2(ctx, in)
			return err
		}, []string{"s3:ListBucket on arn:aws:s3:::b with s3:prefix [raw/a b]"}},
		{"list objects without a prefix", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket})
			return err
		}, []string{"s3:ListBucket on arn:aws:s3:::b"}},
		{"head bucket", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: bucket})
			return err
		}, []string{"s3:ListBucket on arn:aws:s3:::b"}},
		{"bucket location", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: bucket})
			return err
		}, []string{"s3:GetBucketLocation on arn:aws:s3:::b"}},
		{"list uploads", func(ctx context.Context, c *sdk) error {
			in := &s3.ListMultipartUploadsInput{Bucket: bucket, Prefix: aws.String("results/")}
			_, err := c.s3.ListMultipartUploads(ctx, in)
			return err
		}, []string{"s3:ListBucketMultipartUploads on arn:aws:s3:::b with s3:prefix [results/]"}},
		{"get object", func(ctx context.Context, c *sdk) error {
			in := &s3.GetObjectInput{Bucket: bucket, Key: key, Range: aws.String("bytes=1-")}
			_, err := c.s3.GetObject(ctx, in)
			return err
		}, []string{"s3:GetObject" + object}},
		{"get a version", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key, VersionId: aws.String("v")})
			return err
		}, []string{"s3:GetObjectVersion" + object}},
		{"head object", func(ctx context.Context, c *sdk) error {
			in := &s3.HeadObjectInput{Bucket: bucket, Key: key, ChecksumMode: s3types.ChecksumModeEnabled}
			_, err := c.s3.HeadObject(ctx, in)
			return err
		}, []string{"s3:GetObject" + object}},
		{"put object", func(ctx context.Context, c *sdk) error {
			in := &s3.PutObjectInput{Bucket: bucket, Key: key, Body: body(), IfNoneMatch: aws.String("*")}
			_, err := c.s3.PutObject(ctx, in)
			return err
		}, []string{"s3:PutObject" + object}},
		{"put object over a known one", func(ctx context.Context, c *sdk) error {
			in := &s3.PutObjectInput{Bucket: bucket, Key: key, Body: body(), IfMatch: aws.String("e")}
			_, err := c.s3.PutObject(ctx, in)
			return err
		}, []string{"s3:GetObject" + object, "s3:PutObject" + object}},
		{"put object with tags and an ACL", func(ctx context.Context, c *sdk) error {
			in := &s3.PutObjectInput{
				Bucket: bucket, Key: key, Body: body(), Tagging: aws.String("a=b"), ACL: s3types.ObjectCannedACLPrivate,
			}
			_, err := c.s3.PutObject(ctx, in)
			return err
		}, []string{"s3:PutObject" + object, "s3:PutObjectAcl" + object, "s3:PutObjectTagging" + object}},
		{"copy object", func(ctx context.Context, c *sdk) error {
			in := &s3.CopyObjectInput{Bucket: bucket, Key: key, CopySource: aws.String("other/lake/c%20d")}
			_, err := c.s3.CopyObject(ctx, in)
			return err
		}, []string{"s3:GetObject on arn:aws:s3:::other/lake/c d", "s3:PutObject" + object}},
		{"copy a version", func(ctx context.Context, c *sdk) error {
			in := &s3.CopyObjectInput{Bucket: bucket, Key: key, CopySource: aws.String("other/c?versionId=v")}
			_, err := c.s3.CopyObject(ctx, in)
			return err
		}, []string{"s3:GetObjectVersion on arn:aws:s3:::other/c", "s3:PutObject" + object}},
		{"create an upload", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
			return err
		}, []string{"s3:PutObject" + object}},
		{"upload a part", func(ctx context.Context, c *sdk) error {
			in := &s3.UploadPartInput{
				Bucket: bucket, Key: key, UploadId: aws.String("u"), PartNumber: aws.Int32(1), Body: body(),
			}
			_, err := c.s3.UploadPart(ctx, in)
			return err
		}, []string{"s3:PutObject" + object}},
		{"complete an upload", func(ctx context.Context, c *sdk) error {
			in := &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: key, UploadId: aws.String("u")}
			_, err := c.s3.CompleteMultipartUpload(ctx, in)
			return err
		}, []string{"s3:PutObject" + object}},
		{"abort an upload", func(ctx context.Context, c *sdk) error {
			in := &s3.AbortMultipartUploadInput{Bucket: bucket, Key: key, UploadId: aws.String("u")}
			_, err := c.s3.AbortMultipartUpload(ctx, in)
			return err
		}, []string{"s3:AbortMultipartUpload" + object}},
		{"list parts", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.ListParts(ctx, &s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: aws.String("u")})
			return err
		}, []string{"s3:ListMultipartUploadParts" + object}},
		{"delete object", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
			return err
		}, []string{"s3:DeleteObject" + object}},
		{"delete objects", func(ctx context.Context, c *sdk) error {
			in := &s3.DeleteObjectsInput{Bucket: bucket, Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{
				{Key: key}, {Key: aws.String("x"), VersionId: aws.String("v")},
			}}}
			_, err := c.s3.DeleteObjects(ctx, in)
			return err
		}, []string{"s3:DeleteObject" + object, "s3:DeleteObjectVersion on arn:aws:s3:::b/x"}},
		{"the tags of an object are not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})
			return err
		}, nil},
		{"the policy of a bucket is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: bucket})
			return err
		}, nil},
		{"the list of buckets is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.s3.ListBuckets(ctx, &s3.ListBucketsInput{})
			return err
		}, nil},
	})
}

func TestCallsOfDynamoDB(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := func(pk string) map[string]types.AttributeValue {
		number := &types.AttributeValueMemberN{Value: "1"}
		return map[string]types.AttributeValue{"pk": text(pk), "sk": text("s"), "n": number}
	}
	table := aws.String("t")
	on := func(action, key string) string {
		arn := "arn:aws:dynamodb:eu-central-1:123456789012:table/t"
		return "dynamodb:" + action + " on " + arn + " with dynamodb:LeadingKeys [" + key + "]"
	}
	query := func(condition string) *dynamodb.QueryInput {
		return &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: &condition,
			ExpressionAttributeNames:  map[string]string{"#k": "pk", "#s": "sk"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("keys"), ":s": text("x")},
		}
	}
	testRequests(t, []request{
		{"get item", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: item("a")})
			return err
		}, []string{on("GetItem", "a")}},
		{"put item", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item("a")})
			return err
		}, []string{on("PutItem", "a")}},
		{"update item", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: item("a")})
			return err
		}, []string{on("UpdateItem", "a")}},
		{"delete item", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: item("a")})
			return err
		}, []string{on("DeleteItem", "a")}},
		{"query", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.Query(ctx, query("#k = :k AND begins_with(#s, :s)"))
			return err
		}, []string{on("Query", "keys")}},
		{"query by the attribute's name", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.Query(ctx, query("pk = :k"))
			return err
		}, []string{on("Query", "keys")}},
		{"query of an index", func(ctx context.Context, c *sdk) error {
			in := query("#k = :k")
			in.IndexName = aws.String("i")
			_, err := c.dynamodb.Query(ctx, in)
			return err
		}, []string{strings.Replace(on("Query", "keys"), "table/t", "table/t/index/i", 1)}},
		{"a query without the partition key is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.Query(ctx, query("#s = :s"))
			return err
		}, nil},
		{"scan", func(ctx context.Context, c *sdk) error {
			_, err := c.dynamodb.Scan(ctx, &dynamodb.ScanInput{TableName: table})
			return err
		}, []string{"dynamodb:Scan on arn:aws:dynamodb:eu-central-1:123456789012:table/t"}},
		{"each action of a transaction is judged by all keys", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: table, Item: item("a")}},
				{Update: &types.Update{TableName: table, Key: item("b"), UpdateExpression: aws.String("SET n = :n")}},
				{Delete: &types.Delete{TableName: table, Key: item("c")}},
				{ConditionCheck: &types.ConditionCheck{
					TableName: table, Key: item("d"), ConditionExpression: aws.String("x"),
				}},
			}}
			_, err := c.dynamodb.TransactWriteItems(ctx, in)
			return err
		}, []string{
			on("ConditionCheckItem", "a b c d"), on("DeleteItem", "a b c d"), on("PutItem", "a b c d"),
			on("UpdateItem", "a b c d"),
		}},
		{"the keys of a transaction are a set", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: table, Item: item("b")}}, {Put: &types.Put{TableName: table, Item: item("a")}},
				{Put: &types.Put{TableName: table, Item: item("b")}},
			}}
			_, err := c.dynamodb.TransactWriteItems(ctx, in)
			return err
		}, []string{on("PutItem", "a b")}},
		{"a transaction over two tables is not understood", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: table, Item: item("a")}},
				{Put: &types.Put{TableName: aws.String("t2"), Item: item("a")}},
			}}
			_, err := c.dynamodb.TransactWriteItems(ctx, in)
			return err
		}, nil},
		{"a transaction of reads", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
				{Get: &types.Get{TableName: table, Key: item("a")}},
			}}
			_, err := c.dynamodb.TransactGetItems(ctx, in)
			return err
		}, []string{on("GetItem", "a")}},
		{"batch of reads", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"t": {Keys: []map[string]types.AttributeValue{item("a"), item("b")}},
			}}
			_, err := c.dynamodb.BatchGetItem(ctx, in)
			return err
		}, []string{on("BatchGetItem", "a b")}},
		{"batch of writes", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"t": {
				{PutRequest: &types.PutRequest{Item: item("a")}}, {DeleteRequest: &types.DeleteRequest{Key: item("b")}},
			}}}
			_, err := c.dynamodb.BatchWriteItem(ctx, in)
			return err
		}, []string{on("BatchWriteItem", "a b")}},
		{"PartiQL is not understood", func(ctx context.Context, c *sdk) error {
			in := &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM t`)}
			_, err := c.dynamodb.ExecuteStatement(ctx, in)
			return err
		}, nil},
	})
}

func TestCallsOfAthena(t *testing.T) {
	arn := " on arn:aws:athena:eu-central-1:123456789012:"
	sql, known, unknown := aws.String("SELECT 1"), aws.String("e1"), aws.String("e2")
	testRequests(t, []request{
		{"start", func(ctx context.Context, c *sdk) error {
			in := &athena.StartQueryExecutionInput{QueryString: sql, WorkGroup: aws.String("interactive")}
			_, err := c.athena.StartQueryExecution(ctx, in)
			return err
		}, []string{"athena:StartQueryExecution" + arn + "workgroup/interactive"}},
		{"start without a workgroup", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.StartQueryExecution(ctx, &athena.StartQueryExecutionInput{QueryString: sql})
			return err
		}, []string{"athena:StartQueryExecution" + arn + "workgroup/primary"}},
		{"state", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: known})
			return err
		}, []string{"athena:GetQueryExecution" + arn + "workgroup/interactive"}},
		{"results", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.GetQueryResults(ctx, &athena.GetQueryResultsInput{QueryExecutionId: known})
			return err
		}, []string{"athena:GetQueryResults" + arn + "workgroup/interactive"}},
		{"stop", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.StopQueryExecution(ctx, &athena.StopQueryExecutionInput{QueryExecutionId: known})
			return err
		}, []string{"athena:StopQueryExecution" + arn + "workgroup/interactive"}},
		{"an execution of an unknown workgroup is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: unknown})
			return err
		}, nil},
		{"workgroup", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.GetWorkGroup(ctx, &athena.GetWorkGroupInput{WorkGroup: aws.String("reports")})
			return err
		}, []string{"athena:GetWorkGroup" + arn + "workgroup/reports"}},
		{"table metadata", func(ctx context.Context, c *sdk) error {
			in := &athena.GetTableMetadataInput{
				CatalogName: aws.String("AwsDataCatalog"), DatabaseName: aws.String("d"), TableName: aws.String("t"),
			}
			_, err := c.athena.GetTableMetadata(ctx, in)
			return err
		}, []string{"athena:GetTableMetadata" + arn + "datacatalog/AwsDataCatalog"}},
		{"another operation is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.athena.ListWorkGroups(ctx, &athena.ListWorkGroupsInput{})
			return err
		}, nil},
	})
}

func TestCallsOfSQS(t *testing.T) {
	queue := aws.String("https://sqs.eu-central-1.amazonaws.com/123456789012/orrery-raw")
	arn := " on arn:aws:sqs:eu-central-1:123456789012:orrery-raw"
	testRequests(t, []request{
		{"receive", func(ctx context.Context, c *sdk) error {
			_, err := c.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
			return err
		}, []string{"sqs:ReceiveMessage" + arn}},
		{"delete", func(ctx context.Context, c *sdk) error {
			_, err := c.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: aws.String("r")})
			return err
		}, []string{"sqs:DeleteMessage" + arn}},
		{"a batch needs the action on one message", func(ctx context.Context, c *sdk) error {
			in := &sqs.DeleteMessageBatchInput{QueueUrl: queue, Entries: []sqstypes.DeleteMessageBatchRequestEntry{
				{Id: aws.String("1"), ReceiptHandle: aws.String("r")},
			}}
			_, err := c.sqs.DeleteMessageBatch(ctx, in)
			return err
		}, []string{"sqs:DeleteMessage" + arn}},
		{"another operation is not understood", func(ctx context.Context, c *sdk) error {
			_, err := c.sqs.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: queue})
			return err
		}, nil},
	})
}

func TestCallsOfDelivery(t *testing.T) {
	raw := func(mail string, more ...string) string {
		form := url.Values{"Action": {"SendRawEmail"}, "RawMessage.Data": {base64.StdEncoding.EncodeToString([]byte(mail))}}
		for i := 0; i < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return form.Encode()
	}
	const from = "From: Orrery <orrery@shop.example>\r\nSubject: x\r\n\r\nx\r\n"
	mail := func(resource, to string) string {
		return "ses:SendRawEmail on arn:aws:ses:eu-central-1:1:" + resource +
			" with ses:FromAddress [orrery@shop.example] with ses:Recipients [" + to + "]\n"
	}
	for _, test := range []struct{ name, service, target, body, want string }{
		{"a mail is judged by its sender and its receivers", "ses", "",
			raw("To: A <a@shop.example>, b@shop.example\r\nCc: c@shop.example\r\n" + from),
			mail("identity/orrery@shop.example", "a@shop.example b@shop.example c@shop.example") +
				mail("identity/a@shop.example", "a@shop.example b@shop.example c@shop.example") +
				mail("identity/b@shop.example", "a@shop.example b@shop.example c@shop.example") +
				mail("identity/c@shop.example", "a@shop.example b@shop.example c@shop.example") +
				mail("configuration-set/set-of-the-identity", "a@shop.example b@shop.example c@shop.example")},
		{"the receivers of the request come before those of the mail", "ses", "",
			raw("To: a@shop.example\r\n"+from, "Destinations.member.1", "d@shop.example", "Source", "orrery@shop.example"),
			mail("identity/orrery@shop.example", "d@shop.example") + mail("identity/d@shop.example", "d@shop.example") +
				mail("configuration-set/set-of-the-identity", "d@shop.example")},
		{"the senders of the mail and of the request are judged", "ses", "",
			raw(from, "Source", "bot@shop.example", "ConfigurationSetName", "reports"),
			mail("identity/orrery@shop.example", "") + mail("configuration-set/reports", "") +
				strings.ReplaceAll(mail("identity/orrery@shop.example", "")+mail("configuration-set/reports", ""), "orrery@", "bot@")},
		{"a mail to a list that is not valid is not understood", "ses", "", raw("To: a b\r\n" + from), ""},
		{"a mail without a sender is not understood", "ses", "", raw("Subject: x\r\n\r\nx"), ""},
		{"another operation of mail is not understood", "ses", "", "Action=SendEmail&Source=a%40b", ""},
		{"a message is published to a topic", "sns", "", "Action=Publish&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A2%3Areports",
			"sns:Publish on arn:aws:sns:eu-west-1:2:reports"},
		{"a message to a telephone is not understood", "sns", "", "Action=Publish&PhoneNumber=1", ""},
		{"a parameter is read", "ssm", "AmazonSSM.GetParameter", `{"Name":"/orrery/chat"}`,
			"ssm:GetParameter on arn:aws:ssm:eu-central-1:1:parameter/orrery/chat"},
		{"a parameter outside folders is read", "ssm", "AmazonSSM.GetParameter", `{"Name":"chat"}`,
			"ssm:GetParameter on arn:aws:ssm:eu-central-1:1:parameter/chat"},
		{"several parameters are not understood", "ssm", "AmazonSSM.GetParameters", `{"Names":["/a"]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=key/20260101/eu-central-1/"+test.service+
				"/aws4_request, SignedHeaders=host, Signature=0")
			if test.target != "" {
				r.Header.Set("X-Amz-Target", test.target)
			}
			calls, err := iamproxy.Scope{Account: "1"}.CallsOf(r, []byte(test.body))
			var got []string
			for _, c := range calls {
				got = append(got, c.String())
			}
			if diff := cmp.Diff(strings.TrimSuffix(test.want, "\n"), strings.Join(got, "\n")); (err != nil) != (test.want == "") || diff != "" {
				t.Errorf("error %v, calls (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCallsOfOtherRequests(t *testing.T) {
	signed := func(service string) http.Header {
		credential := "key/20260101/eu-central-1/" + service + "/aws4_request"
		return http.Header{"Authorization": {
			"AWS4-HMAC-SHA256 Credential=" + credential + ", SignedHeaders=host, Signature=0",
		}}
	}
	for _, test := range []struct {
		name   string
		header http.Header
		target string
		body   string
		want   string // "" if the request is not understood
	}{
		{"an operation of Glue is one on everything", signed("glue"), "AWSGlue.GetTable", "{}", "glue:GetTable on *"},
		{"the query protocol names an action", signed("iam"), "", "Action=GetRole&Version=1", "iam:GetRole on *"},
		{"a request without an operation", signed("lambda"), "", "", ""},
		{"a target without an operation", signed("glue"), "AWSGlue", "{}", ""},
		{"a body that is no JSON", signed("glue"), "AWSGlue.GetTable", "<x/>", ""},
		{"a request that is not signed", http.Header{}, "AWSGlue.GetTable", "{}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Header = test.header
			if test.target != "" {
				r.Header.Set("X-Amz-Target", test.target)
			}
			calls, err := iamproxy.Scope{}.CallsOf(r, []byte(test.body))
			if (err != nil) != (test.want == "") || err == nil && calls[0].String() != test.want {
				t.Errorf("calls %v, error %v", calls, err)
			}
		})
	}
}
