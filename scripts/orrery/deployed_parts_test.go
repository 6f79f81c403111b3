package main

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/shared/lambdas"
)

// testParts has parts counted of all questions of some routes, and checks that the answers are the same as before, and
// that each part is counted once.
func testParts(t *testing.T, d *localaws.Deployment, s *targets) {
	client := lambda.NewFromConfig(d.Config())
	for _, route := range []string{"topx", "facets", "diff", "timeline", "histogram", "stats"} {
		name := localaws.Name + "-" + route
		before, err := client.GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: &name})
		if err != nil {
			t.Fatal(err)
		}
		set := func(variables map[string]string) {
			t.Helper()
			_, err := client.UpdateFunctionConfiguration(t.Context(), &lambda.UpdateFunctionConfigurationInput{
				FunctionName: &name, Environment: &types.Environment{Variables: variables},
			})
			if err == nil {
				err = lambda.NewFunctionUpdatedV2Waiter(client).Wait(
					t.Context(), &lambda.GetFunctionInput{FunctionName: &name}, patience)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		changed := maps.Clone(before.Environment.Variables)
		changed[lambdas.ScanMegabytes.Name] = "0"
		set(changed)
		defer set(before.Environment.Variables)
	}
	counted := func() (parts int) {
		t.Helper()
		list, err := s3Client(d).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{
			Bucket: aws.String(d.Outputs["ResultsBucketName"]), Prefix: aws.String("results/parts/"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Contents)
	}
	const period = "timestamp between 2026-01-01 01:15 and 2026-01-01 04:30"
	var questions []apiRequest
	for route, more := range map[string]url.Values{
		"topx": {"figures": {"percentiles"}}, "facets": {"by": {"host,ip,tags"}}, "timeline": {"segment": {"300"}},
		"histogram": {"by": {"status"}, "segment": {"900"}},
		"stats":     {"figures": {"percentiles"}, "group_by": {"hostname"}}, "diff": {"select": {"blocked is true"}},
	} {
		for _, filter := range []string{period, `status >= 400, not path ~ (?i)^/login, ` + period} {
			parameters := maps.Clone(more)
			parameters.Set("filters", filter)
			questions = append(questions, apiRequest{method: "GET", path: "/api/v4.0/data/" + route + "?" + parameters.Encode()})
		}
	}
	ask := func() {
		t.Helper()
		for _, q := range questions {
			// On a busy machine, Athena answers first. The next time, some parts are there already.
			status, body, scanned := 0, []byte(nil), false
			for try := 0; try < 5 && !scanned; try++ {
				status, body = s.ask(t, q)
				scanned = status == http.StatusOK && bytes.Contains(body, []byte(`"engine":"scan"`))
			}
			if !scanned {
				t.Errorf("%s: %d %.300s", q.path, status, body)
			}
		}
	}
	ask()
	first := counted()
	ask()
	if again := counted(); first < 4*len(questions) || again != first {
		t.Errorf("%d parts were counted at first, and %d when the questions were asked again", first, again)
	}
}
