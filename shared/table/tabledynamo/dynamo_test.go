package tabledynamo_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// over returns a table that does not wait between repetitions.
func over(client *dynamodb.Client, name string) *tabledynamo.Table {
	t := tabledynamo.New(client, name)
	t.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return t
}

func through(network http.RoundTripper) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: network} }
}

func TestTable(t *testing.T) {
	tabletest.Run(t, func(t *testing.T) table.Table { return over(dynamotest.Client(t)) })
}

func TestFaults(t *testing.T) {
	tabletest.Faults(t, func(t *testing.T) (table.Table, func(http.RoundTripper) table.Table) {
		client, name := dynamotest.Client(t)
		return over(client, name), func(network http.RoundTripper) table.Table {
			return over(dynamotest.Connect(t, through(network)), name)
		}
	})
}

// TestItemsOfDeployments: the items of earlier versions are read as the codecs get them in their tests.
func TestItemsOfDeployments(t *testing.T) {
	files, err := filepath.Glob("../../*/testdata/items.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../../report/runs/testdata/items.json", "../../search/pending/testdata/items.json") {
		t.Run(file, func(t *testing.T) {
			client, name := dynamotest.Client(t)
			in := over(client, name)
			put(t, client, name, file)
			for _, item := range tabletest.Load(t, file).Items() {
				got, err := in.Get(t.Context(), item.Key)
				if diff := cmp.Diff(item, got); diff != "" || err != nil {
					t.Errorf("%v\n%s", err, diff)
				}
			}
		})
	}
}

// TestContention: a write that conflicts with another transaction is repeated, and is unavailable in the end.
func TestContention(t *testing.T) {
	client, name := dynamotest.Client(t)
	for what, test := range map[string]struct {
		times int
		fails bool
	}{"once": {1, false}, "always": {1000, true}} {
		t.Run(what, func(t *testing.T) {
			in := over(dynamotest.Connect(t, through(&contention{times: test.times})), name)
			key := table.Key{Partition: "p", Sort: what}
			err := in.Write(t.Context(), table.Change{Key: key, Attributes: table.Attributes{}, When: table.Absent})
			if (err != nil) != test.fails || err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
			if item, err := over(client, name).Get(t.Context(), key); err != nil || item.Exists() == test.fails {
				t.Errorf("%v, %v", item, err)
			}
		})
	}
}

// contention refuses the first transactions like DynamoDB does while another transaction uses one of the items.
type contention struct{ times int }

func (w *contention) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.times == 0 || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return http.DefaultTransport.RoundTrip(r)
	}
	w.times--
	const body = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no",` +
		`"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"},{"Code":"None"}]}`
	return &http.Response{
		StatusCode: http.StatusBadRequest,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}, r.Body.Close()
}

// TestOtherTypesAreErrors: an attribute of a type that no version writes is not read as a missing one.
func TestOtherTypesAreErrors(t *testing.T) {
	client, name := dynamotest.Client(t)
	in := over(client, name)
	for what, value := range map[string]types.AttributeValue{
		"is not an integer":         &types.AttributeValueMemberN{Value: "0.5"},
		"is not a list of strings":  &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberBOOL{}}},
		"has the type *types.Attri": &types.AttributeValueMemberBOOL{Value: true},
	} {
		item := map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "keys"}, "sk": &types.AttributeValueMemberS{Value: "x"}, "odd": value,
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			t.Fatal(err)
		}
		_, getting := in.Get(t.Context(), table.Key{Partition: "keys", Sort: "x"})
		_, listing := table.List(t.Context(), in, table.Range{Partition: "keys"})
		for _, err := range []error{getting, listing} {
			if err == nil || !strings.Contains(err.Error(), "item keys x: attribute odd "+what) {
				t.Errorf("%v, want %q", err, what)
			}
		}
	}
}

// put writes the items of a file as they are.
func put(t *testing.T, client *dynamodb.Client, name, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var items []map[string]wireValue
	if err := json.Unmarshal(text, &items); err != nil {
		t.Fatal(err)
	}
	for _, one := range items {
		item := map[string]types.AttributeValue{}
		for name, value := range one {
			item[name] = value.typed()
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
}

type wireValue struct {
	S, N *string
	B    []byte
	L    []wireValue
}

func (v wireValue) typed() types.AttributeValue {
	switch {
	case v.S != nil:
		return &types.AttributeValueMemberS{Value: *v.S}
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}
	case v.B != nil:
		return &types.AttributeValueMemberB{Value: v.B}
	}
	list := make([]types.AttributeValue, len(v.L))
	for i, one := range v.L {
		list[i] = one.typed()
	}
	return &types.AttributeValueMemberL{Value: list}
}

// TestLargestSettingsFit: a version of a document has 350,000 bytes of text, twice in its transaction if it has a name.
func TestLargestSettingsFit(t *testing.T) {
	s := document.Over(over(dynamotest.Client(t)))
	for name, filling := range map[string]string{
		"letters": "x", "runes": "\U0001F6F0", "escapes": `\"`, "backslashes": `\\`,
	} {
		t.Run(name, func(t *testing.T) {
			id := document.ID{Kind: "note", Config: "c", Name: name}
			text := strings.Repeat(filling, 350_000/len(filling))
			v := document.NewVersion(1, text, strings.Repeat("k", 64), time.UnixMilli(0))
			if err := s.Append(t.Context(), id, v); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Newest(t.Context(), id); err != nil || got != v {
				t.Errorf("%d bytes came back, %v", len(got.Text), err)
			}
		})
	}
}

// TestTimeToLive: DynamoDB removes items by their attribute table.Expires.
func TestTimeToLive(t *testing.T) {
	client, name := dynamotest.Client(t)
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != table.Expires {
		t.Errorf("the time to live is %v, %v", ttl, err)
	}
}
