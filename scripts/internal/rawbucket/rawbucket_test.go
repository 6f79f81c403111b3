package rawbucket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/shared/filelock"
)

// stackServer answers DescribeStacks for one stack with these outputs. It returns a configuration for it.
func stackServer(t *testing.T, stack string, outputs map[string]string) aws.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		switch name := r.FormValue("StackName"); {
		case strings.HasPrefix(name, "denied"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>`+
				`<Message>not authorized</Message></Error></ErrorResponse>`)
		case name != stack:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>`+
				`<Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`, name)
		default:
			var members strings.Builder
			for key, value := range outputs {
				fmt.Fprintf(&members, "<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>",
					key, value)
			}
			fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>%s</StackName>`+
				`<CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>`+
				`<Outputs>%s</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
				name, members.String())
		}
	}))
	t.Cleanup(server.Close)
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
}

var allOutputs = map[string]string{bucketOutput: "raw-logs", yearOutput: "2020", horizonOutput: "35"}

func TestOfStack(t *testing.T) {
	found := Bucket{Name: "raw-logs", keeps: period{
		known: true, firstYear: 2020, horizon: 35 * 24 * time.Hour, widen: "deploy it with -c projection-from=%d",
	}}
	earlier := Bucket{Name: "raw-logs", keeps: period{widen: found.keeps.widen}}
	for _, test := range []struct {
		rule, stack, name string
		outputs           map[string]string
		want              Bucket
		problem           string // in the error
	}{
		{"the name of the deployment is enough", "shop-data", "shop", allOutputs, found, ""},
		{"the name may be that of the data stack", "shop-data", "shop-data", allOutputs, found, ""},
		{
			"a deployment of an earlier version reports no times", "shop-data", "shop",
			map[string]string{bucketOutput: "raw-logs"}, earlier, "",
		},
		{
			"a missing stack is reported with the region", "shop-data", "store", allOutputs, Bucket{},
			"no stack store-data or store in region eu-central-1",
		},
		{
			"another stack has no bucket", "shop-api", "shop-api", map[string]string{"URL": "u"}, Bucket{},
			"ends in -data",
		},
		{"a missing permission is named", "", "denied", nil, Bucket{}, "allow cloudformation:DescribeStacks"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := OfStack(t.Context(), stackServer(t, test.stack, test.outputs), test.name)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("error %v, want one with %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Name != test.want.Name || got.keeps != test.want.keeps {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
	t.Run("a missing region is reported", func(t *testing.T) {
		c := stackServer(t, "shop-data", allOutputs)
		c.Region = ""
		if _, err := OfStack(t.Context(), c, "shop"); err == nil || !strings.Contains(err.Error(), "--region") {
			t.Error(err)
		}
	})
	t.Run("missing credentials are reported", func(t *testing.T) {
		c := stackServer(t, "shop-data", allOutputs)
		c.Credentials = credentials.NewStaticCredentialsProvider("", "", "")
		if _, err := OfStack(t.Context(), c, "shop"); err == nil || !strings.Contains(err.Error(), "set AWS_PROFILE") {
			t.Error(err)
		}
	})
}

// TestOutputs checks that the stack of the deployment has the outputs.
func TestOutputs(t *testing.T) {
	text, err := os.ReadFile("../../../infra/testdata/data.json")
	if err != nil {
		t.Fatal(err)
	}
	var stack struct{ Outputs map[string]any }
	if err := json.Unmarshal(text, &stack); err != nil {
		t.Fatal(err)
	}
	for name := range allOutputs {
		if stack.Outputs[name] == nil {
			t.Errorf("the stack has no output %s", name)
		}
	}
}

func TestOfFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := OfFolder(dir); err == nil || !strings.Contains(err.Error(), "orrery up --dir "+dir) {
		t.Errorf("error %v, want one with the remedy", err)
	}
	lock, err := filelock.TryAcquire(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(localaws.Connection{
		AWSEndpoint: "http://127.0.0.1:1", Region: localaws.Region, Outputs: allOutputs,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "deployment.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := OfFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "raw-logs" || b.keeps.firstYear != 2020 || !strings.Contains(b.keeps.widen, "orrery up --from-year") {
		t.Errorf("%+v", b)
	}
	if at := b.client.Options(); !at.UsePathStyle || aws.ToString(at.BaseEndpoint) != "http://127.0.0.1:1" {
		t.Errorf("endpoint %s, path style %v", aws.ToString(at.BaseEndpoint), at.UsePathStyle)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := OfFolder(dir); err == nil || !strings.Contains(err.Error(), "no deployment is running") {
		t.Errorf("after the deployment ended: %v", err)
	}
}
