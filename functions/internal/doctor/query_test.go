package doctor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

func look(t *testing.T, check doctor.Check) doctor.Line {
	t.Helper()
	return doctor.Examine(t.Context(), "", "", []doctor.Check{check}).Checks[0]
}

// workgroup is a client that returns one workgroup, or an error.
type workgroup struct {
	found *types.WorkGroup
	err   error
}

func (w workgroup) GetWorkGroup(
	context.Context, *athena.GetWorkGroupInput, ...func(*athena.Options),
) (*athena.GetWorkGroupOutput, error) {
	return &athena.GetWorkGroupOutput{WorkGroup: w.found}, w.err
}

func TestWorkgroup(t *testing.T) {
	with := func(change func(*types.WorkGroup)) workgroup {
		g := &types.WorkGroup{State: types.WorkGroupStateEnabled, Configuration: &types.WorkGroupConfiguration{
			EnforceWorkGroupConfiguration: aws.Bool(true), BytesScannedCutoffPerQuery: aws.Int64(10_000_000),
			ResultConfiguration: &types.ResultConfiguration{OutputLocation: aws.String("s3://b/results")},
		}}
		change(g)
		return workgroup{found: g}
	}
	for _, test := range []struct {
		name   string
		client workgroup
		status string
		found  string
	}{
		{
			name:   "a good workgroup",
			client: with(func(*types.WorkGroup) {}),
			status: doctor.OK,
			found:  "one query may scan 10000000 bytes",
		},
		{
			name:   "disabled",
			client: with(func(g *types.WorkGroup) { g.State = types.WorkGroupStateDisabled }),
			status: doctor.Problem,
			found:  "is disabled",
		},
		{
			name:   "not enforced",
			client: with(func(g *types.WorkGroup) { g.Configuration.EnforceWorkGroupConfiguration = nil }),
			status: doctor.Problem,
			found:  "does not enforce",
		},
		{
			name: "another location of results",
			client: with(func(g *types.WorkGroup) {
				g.Configuration.ResultConfiguration.OutputLocation = aws.String("s3://c/")
			}),
			status: doctor.Problem,
			found:  "writes results to s3://c/, not to s3://b/results/",
		},
		{
			name:   "no limit",
			client: with(func(g *types.WorkGroup) { g.Configuration.BytesScannedCutoffPerQuery = nil }),
			status: doctor.Problem,
			found:  "does not limit the bytes",
		},
		{
			name:   "no configuration",
			client: with(func(g *types.WorkGroup) { g.Configuration = nil }),
			status: doctor.Problem,
			found:  "has no configuration",
		},
		{
			name:   "no workgroup",
			client: workgroup{err: &types.InvalidRequestException{}},
			status: doctor.Problem,
			found:  "does not exist",
		},
		{
			name:   "access denied",
			client: workgroup{err: &smithy.GenericAPIError{Code: "AccessDeniedException"}},
			status: doctor.Problem,
			found:  "role does not allow",
		},
		{
			name: "no credentials",
			client: workgroup{err: errors.New(
				"operation error Athena: GetWorkGroup, get identity: get credentials: no EC2 IMDS role found",
			)},
			status: doctor.Problem,
			found:  "there are no AWS credentials; set AWS_PROFILE",
		},
		{
			name:   "expired credentials",
			client: workgroup{err: &smithy.GenericAPIError{Code: "ExpiredTokenException"}},
			status: doctor.Problem,
			found:  "the AWS credentials are wrong or have expired",
		},
		{
			name:   "unreachable",
			client: workgroup{err: errors.New("dial tcp: secret")},
			status: doctor.Problem,
			found:  "the workgroup w cannot be reached",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			line := look(t, doctor.Workgroup(test.client, "w", "s3://b/results/"))
			if line.Status != test.status || !strings.Contains(line.Found, test.found) {
				t.Errorf("%+v", line)
			}
			if strings.Contains(line.Found, "secret") {
				t.Errorf("the report shows the secret: %+v", line)
			}
		})
	}
}

// catalogue is a client that returns the definition of one table.
type catalogue struct{ found types.TableMetadata }

func (c catalogue) GetTableMetadata(
	context.Context, *athena.GetTableMetadataInput, ...func(*athena.Options),
) (*athena.GetTableMetadataOutput, error) {
	return &athena.GetTableMetadataOutput{TableMetadata: &c.found}, nil
}

func TestPartitions(t *testing.T) {
	table := lake.Table{
		Schema:   "orrery",
		Name:     lake.FreshTable,
		Location: lake.TableLocation("s3://b/lake/", lake.FreshTable),
		FromYear: 2000,
	}
	deployed := func(fromYear int) types.TableMetadata {
		of := table
		of.FromYear = fromYear
		m := types.TableMetadata{Parameters: of.Properties()}
		for _, c := range lake.HiveColumns() {
			m.Columns = append(m.Columns, types.Column{Name: &c.Name, Type: &c.Type})
		}
		return m
	}
	line := look(t, doctor.Partitions(catalogue{deployed(2000)}, table))
	if line.Status != doctor.OK || !strings.Contains(line.Found, "from the year 2000 on") {
		t.Errorf("%+v", line)
	}
	line = look(t, doctor.Partitions(catalogue{deployed(2020)}, table))
	if line.Status != doctor.Problem || !strings.Contains(line.Found, "property projection.") {
		t.Errorf("%+v", line)
	}
	older := deployed(2000)
	older.Columns = older.Columns[1:]
	older.Columns[0].Type = aws.String("double")
	line = look(t, doctor.Partitions(catalogue{older}, table))
	first, second := lake.HiveColumns()[0], lake.HiveColumns()[1]
	if !strings.Contains(line.Found, "column "+first.Name+" is missing") ||
		!strings.Contains(line.Found, "column "+second.Name+` is "double", not "`+second.Type) {
		t.Errorf("%+v", line)
	}
}

type states engine.State

func (s states) State(context.Context) (engine.State, error) { return engine.State(s), nil }

func TestLake(t *testing.T) {
	line := look(t, doctor.Lake(states{}, func() time.Time { return now }))
	if line.Found != "nothing has been imported yet" || line.Remedy == "" {
		t.Errorf("%+v", line)
	}
	newest := now.Add(-90 * time.Minute)
	full := states{
		Extent:    lake.Extent{MaxTsMs: newest.UnixMilli(), Rows: 12},
		Version:   3,
		Watermark: lake.PartitionOf(newest.UnixMilli()),
	}
	for age, at := range map[string]time.Time{
		"1h30m0s":   now,
		"47h59m59s": newest.Add(48*time.Hour - time.Second),
		"293 days":  newest.AddDate(0, 0, 293),
	} {
		want := "12 records, the newest of 2026-01-02 01:34:05 UTC, " + age + " ago; " +
			"data version 3; hours before 2026/01/02/01 are compacted; "
		unknown := "it is not known yet to which time the data is complete"
		if line := look(t, doctor.Lake(full, func() time.Time { return at })); line.Found != want+unknown {
			t.Errorf("%+v", line)
		}
	}
	full.CompleteThrough = now.Add(-20 * time.Minute)
	want := "the data is complete through 2026-01-02 02:44:05 UTC, 20m0s ago"
	if line := look(t, doctor.Lake(full, func() time.Time { return now })); !strings.HasSuffix(line.Found, want) {
		t.Errorf("%+v", line)
	}
}

func TestDamage(t *testing.T) {
	hour := lake.PartitionOf(now.UnixMilli())
	object := func(name string) engine.LostObject { return engine.LostObject{Name: name, Partition: hour} }
	rebuilt, hopeless := object("fresh/a"), object("fresh/b")
	rebuilt.Rebuilt, hopeless.Reason = now, "its log is gone"
	many := slices.Repeat([]engine.LostObject{object("fresh/c")}, 12)
	for name, test := range map[string]struct {
		lost []engine.LostObject
		want string // "" if there is no problem
	}{
		"nothing is lost":                     {nil, ""},
		"a rebuilt object is not lost":        {[]engine.LostObject{rebuilt}, ""},
		"a lost object is listed":             {many[:1], "fresh/c of the hour 2026/01/02/03"},
		"the reason is given":                 {[]engine.LostObject{hopeless}, "(not rebuilt: its log is gone)"},
		"only the first ones are listed":      {many, "; and 2 more"},
		"all lost objects are counted":        {many, "12 damaged objects are lost"},
		"rebuilt objects are not counted too": {append(many[:3:3], rebuilt), "3 damaged objects are lost"},
	} {
		t.Run(name, func(t *testing.T) {
			line := look(t, doctor.Damage(states{Lost: test.lost}))
			if (line.Remedy == "") != (test.want == "") || !strings.Contains(line.Found, test.want) {
				t.Errorf("%+v, want %q", line, test.want)
			}
		})
	}
}

func TestBucket(t *testing.T) {
	line := look(t, doctor.Bucket("raw bucket", &blobtest.Memory{}, "b", "raw/"))
	if line.Found != "the bucket b can be listed; there is nothing under raw/ yet" {
		t.Errorf("%+v", line)
	}
}

func TestFirstYear(t *testing.T) {
	data := func(year int) states {
		at := time.Date(year, 5, 6, 7, 8, 9, 0, time.UTC).UnixMilli()
		return states{Extent: lake.Extent{MinTsMs: at, MaxTsMs: at, Rows: 1}}
	}
	for _, test := range []struct {
		name   string
		states states
		ok     bool
		found  string
	}{
		{"an empty lake", states{}, true, "there is no data before the year 2020"},
		{
			"data that begins in the first year", data(2020), true,
			"the data begins at 2020-05-06 07:08:09 UTC, in or after the first year of the tables, 2020",
		},
		{
			"data that begins earlier", data(2019), false,
			"the data begins at 2019-05-06 07:08:09 UTC, but the tables begin with the year 2020: " +
				"queries of earlier times fail",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			line := look(t, doctor.FirstYear(test.states, 2020))
			if ok := line.Status != doctor.Problem; ok != test.ok || line.Found != test.found {
				t.Errorf("%+v", line)
			}
		})
	}
}
