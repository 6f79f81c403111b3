package answers

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/scripts/orrery/internal/question"
)

func TestColumnsOfFigures(t *testing.T) {
	given := func(args ...string) question.ParameterFlags {
		flags := question.NewParameterFlags()
		parser, err := kong.New(&flags)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(args); err != nil {
			t.Fatal(err)
		}
		return flags
	}
	for _, c := range []struct {
		name, route string
		flags       question.ParameterFlags
		want        string
	}{
		{
			"stats have the hostname",
			"stats", given(),
			"timeperiod_string hostname num_of_requests sum_of_bandwidth avg_latency",
		},
		{
			"stats by hostname, too",
			"stats", given("--group-by=hostname"),
			"timeperiod_string hostname num_of_requests sum_of_bandwidth avg_latency",
		},
		{
			"stats by another field have its value",
			"stats", given("--group-by=country"),
			"timeperiod_string value num_of_requests sum_of_bandwidth avg_latency",
		},
		{
			"segments of a zone have their local times",
			"timeline", given("--tz=Europe/Berlin"),
			"timeperiod_local num_of_requests num_of_blocked_requests num_of_challenges num_of_ip num_of_sessions " +
				"array_status_codes",
		},
		{
			"percentiles are the last columns",
			"stats", given("--figures=percentiles"),
			"timeperiod_string hostname num_of_requests sum_of_bandwidth avg_latency " +
				"p50_total_time p90_total_time p99_total_time",
		},
		{
			"fields replace all columns",
			"topx", given("--figures=percentiles", "--fields=key,p99_svc_time"),
			"key p99_svc_time",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(columnsOf(c.route, c.flags), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
