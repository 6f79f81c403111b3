package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
)

// testMessages sends messages as an operator may write them: they name no version of the log. One is about a log that
// has been imported, the other about a log that does not exist, which becomes a dead letter.
func testMessages(t *testing.T, d *localaws.Deployment, s *targets) {
	records := countDeployed(t, s, wholeDay)
	dead := waiting(t, d, "RawDeadLettersURL", bothStates...)
	giveUpAfter(t, d, 2)
	for _, key := range []string{"raw/history/2026/01/01/ordinary.ndjson.gz", "raw/none.ndjson"} {
		s3 := fmt.Sprintf(`{"bucket":{"name":%q},"object":{"key":%q}}`, d.Outputs["RawBucketName"], key)
		body := `{"Records":[{"eventName":"ObjectCreated:Put","s3":` + s3 + `}]}`
		_, err := sqs.NewFromConfig(d.Config()).SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(d.Outputs["RawQueueURL"]), MessageBody: &body,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, d, "a dead letter", func() bool {
		return waiting(t, d, "RawDeadLettersURL", bothStates...) == dead+1 &&
			waiting(t, d, "RawQueueURL", bothStates...) == 0
	})
	if after := countDeployed(t, s, wholeDay); after != records {
		t.Errorf("%d records, %d before", after, records)
	}
}

// giveUpAfter makes messages of raw logs dead letters after some deliveries, which take seconds, instead of the number
// of the stack, which takes hours.
func giveUpAfter(t *testing.T, d *localaws.Deployment, deliveries int) {
	t.Helper()
	client, url := sqs.NewFromConfig(d.Config()), aws.String(d.Outputs["RawQueueURL"])
	const name = "RedrivePolicy"
	got, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		t.Fatal(err)
	}
	var policy map[string]any
	if err := json.Unmarshal([]byte(got.Attributes[name]), &policy); err != nil {
		t.Fatal(err)
	}
	policy["maxReceiveCount"] = deliveries
	text, err := json.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	in := &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{name: string(text)}}
	if _, err := client.SetQueueAttributes(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// provenElsewhere names the test that sees the use of a grant which the deployment does not get to: it would take hours,
// days of records, or a failure at the right moment.
var provenElsewhere = map[string]string{
	// The questions of the reports here are so small that the functions answer all of them.
	"querying for reports: athena:StartQueryExecution on reports workgroup": "TestReportUsesTheWorkgroupOfReports",
	"querying for reports: athena:GetQueryExecution on reports workgroup":   "TestReportUsesTheWorkgroupOfReports",
	"querying for reports: athena:GetQueryResults on reports workgroup":     "TestReportUsesTheWorkgroupOfReports",
	"compacting: s3:DeleteObject on lake objects lake/*":                    "TestFunctionsUseTheirGrants",
	"compacting: s3:GetObject on lake objects quarantine/*":                 "TestFunctionsUseTheirGrants",
	"compacting: s3:PutObject on lake objects quarantine/*":                 "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:PutItem on items suspects":                        "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:GetItem on items counts":                          "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:PutItem on items counts":                          "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:Query on items counts":                            "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:Query on items sizes":                             "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:GetItem on items ingest#*":                        "TestFunctionsUseTheirGrants",
	"compacting: dynamodb:Query on items ingest#*":                          "TestFunctionsUseTheirGrants",
	"compacting: s3:GetObject on raw objects raw/*":                         "TestFunctionsUseTheirGrants",
	"compacting: s3:GetObjectVersion on raw objects raw/*":                  "TestRebuildReadsTheImportedVersion",
	"finding values: s3:ListBucket on lake listing lake/compact/*":          "TestValuesUsesItsGrants",
	"finding values: s3:ListBucket on lake listing lake/fresh/*":            "TestValuesUsesItsGrants",
	"ingesting: s3:GetObject on lake objects quarantine/*":                  "TestFunctionsUseTheirGrants",
	"ingesting: sqs:SendMessage on raw queue":                               "TestSQSRequests",
	"reconciling: dynamodb:PutItem on items arrived":                        "TestFunctionsUseTheirGrants",
	"making reports: dynamodb:Query on items runs#*":                        "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:GetItem on items report#*":                     "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:PutItem on items report#*":                     "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:GetItem on items run#*":                        "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:PutItem on items run#*":                        "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:DeleteItem on items run#*":                     "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:DeleteItem on items runs#*":                    "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:DeleteItem on items unfinished":                "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:PutItem on items runs#*":                       "TestGrantsCoverStoreActions",
	"queueing runs: dynamodb:PutItem on items unfinished":                   "TestGrantsCoverStoreActions",
	"sealing tokens: dynamodb:GetItem on items seals":                       "TestGrantsCoverStoreActions",
	"sealing tokens: dynamodb:PutItem on items seals":                       "TestGrantsCoverStoreActions",
	"querying for reports: athena:StopQueryExecution on reports workgroup":  "TestReportStopsQueriesOfACancelledRun",
	"describing the lake: dynamodb:Query on items counts":                   "TestGrantsCoverStoreActions",
	"querying: dynamodb:Query on items counts":                              "TestGrantsCoverStoreActions",
	"querying: dynamodb:GetItem on items suspects":                          "TestGrantsCoverStoreActions",
	"querying: dynamodb:PutItem on items suspects":                          "TestGrantsCoverStoreActions",
}

// TestGrantsAreProvenElsewhere: those tests exist, and compare the grants with calls that passed through the guard.
func TestGrantsAreProvenElsewhere(t *testing.T) {
	missing := map[string]bool{}
	for _, name := range provenElsewhere {
		missing[name] = true
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."): // such as data, which changes
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && f.Recv == nil && missing[f.Name.Name] && reviewsGrants(f) {
				delete(missing, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range missing {
		t.Errorf("no test %s passes calls of a guard to permissions.Review", name)
	}
}

// reviewsGrants reports whether a test passes calls of a guard to permissions.Review.
func reviewsGrants(f *ast.FuncDecl) bool {
	called := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if function, ok := call.Fun.(*ast.SelectorExpr); ok {
				called[function.Sel.Name] = true
			}
		}
		return true
	})
	return called["Review"] && called["Calls"]
}

// testPermissions comes last. It runs the doctor of every function, and then compares what all functions have done with
// what they may do: nothing was denied, and no grant is unused.
func testPermissions(t *testing.T, d *localaws.Deployment, s *targets) {
	for _, f := range lambdas.All {
		var report struct {
			OK bool `json:"ok"`
		}
		body := invoke(t, d, localaws.Name+"-"+f.Name, `{"doctor":true}`)
		if err := json.Unmarshal(body, &report); err != nil || !report.OK {
			t.Errorf("the doctor of %s: %v %s", f.Name, err, body)
		}
	}
	// A long answer is read from its object.
	path := bases[0] + "/data/logs?" + url.Values{"filters": {wholeDay}, "limit": {"1000"}}.Encode()
	if status, body := s.ask(t, apiRequest{method: "GET", path: path}); status != http.StatusOK {
		t.Errorf("%s: %d %.500s", path, status, body)
	}
	calls, denied, resources := d.Permissions()
	for _, reason := range denied {
		t.Error(reason)
	}
	var seen []string
	judged := func(a permissions.Atom) bool {
		seen = append(seen, a.String())
		// The task is querying, but for the workgroup.
		if a.Task == "querying for reports" && a.On != permissions.ReportsWorkgroup {
			return false
		}
		return provenElsewhere[a.String()] == ""
	}
	for _, mistake := range permissions.Review(resources, calls, judged) {
		t.Error(mistake)
	}
	for atom := range provenElsewhere {
		if !slices.Contains(seen, atom) {
			t.Errorf("%s: proven elsewhere, but not granted", atom)
		}
	}
	for function, made := range calls {
		t.Logf("%s made %d different calls", function, len(made))
	}
}
