package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// WorkgroupClient is the part of *athena.Client that Workgroup uses.
type WorkgroupClient interface {
	GetWorkGroup(
		context.Context, *athena.GetWorkGroupInput, ...func(*athena.Options),
	) (*athena.GetWorkGroupOutput, error)
}

// Workgroup checks that the workgroup writes results to the expected location and limits how many bytes a query scans.
func Workgroup(client WorkgroupClient, name, results string) Check {
	return Check{
		Name: "workgroup",
		Remedy: "deploy the data stack again: it creates the workgroup with an enforced configuration; " +
			"ORRERY_WORKGROUP and ORRERY_RESULTS must be its name and its location of results, " +
			"and the role must allow athena:GetWorkGroup",
		Run: func(ctx context.Context) (string, error) {
			out, err := client.GetWorkGroup(ctx, &athena.GetWorkGroupInput{WorkGroup: &name})
			if err != nil {
				var invalid *types.InvalidRequestException
				if errors.As(err, &invalid) {
					return "", fmt.Errorf("the workgroup %s does not exist", name)
				}
				return "", refused(err, "the workgroup "+name)
			}
			return workgroupFound(name, results, out.WorkGroup)
		},
	}
}

func workgroupFound(name, results string, g *types.WorkGroup) (string, error) {
	if g == nil || g.Configuration == nil || g.Configuration.ResultConfiguration == nil {
		return "", fmt.Errorf("the workgroup %s has no configuration", name)
	}
	cutoff := aws.ToInt64(g.Configuration.BytesScannedCutoffPerQuery)
	switch output := aws.ToString(g.Configuration.ResultConfiguration.OutputLocation); {
	case g.State == types.WorkGroupStateDisabled:
		return "", fmt.Errorf("the workgroup %s is disabled", name)
	case !aws.ToBool(g.Configuration.EnforceWorkGroupConfiguration):
		return "", fmt.Errorf("the workgroup %s does not enforce its configuration", name)
	case strings.TrimSuffix(output, "/") != strings.TrimSuffix(results, "/"):
		return "", fmt.Errorf("the workgroup %s writes results to %s, not to %s", name, output, results)
	case cutoff == 0:
		return "", fmt.Errorf("the workgroup %s does not limit the bytes that one query may scan", name)
	}
	return fmt.Sprintf("the workgroup %s is enforced; one query may scan %d bytes", name, cutoff), nil
}

// CatalogueClient is the part of *athena.Client that Partitions uses. It returns the definition of a table in Glue.
type CatalogueClient interface {
	GetTableMetadata(
		context.Context, *athena.GetTableMetadataInput, ...func(*athena.Options),
	) (*athena.GetTableMetadataOutput, error)
}

// FirstYear checks that the tables have partitions for all data: that the data does not begin before their first year.
func FirstYear(states engine.States, year int) Check {
	return Check{
		Name: "first year",
		Remedy: "deploy with the property projection-from set to the year of the oldest record; if the time of that " +
			"record is wrong, remove its object from the lake bucket, and the next compaction narrows the data",
		Run: func(ctx context.Context) (string, error) {
			state, err := states.State(ctx)
			if err != nil {
				return "", refused(err, "the state of the lake")
			}
			oldest := time.UnixMilli(state.Extent.MinTsMs).UTC()
			switch {
			case state.Extent.Rows == 0:
				return fmt.Sprintf("there is no data before the year %d", year), nil
			case oldest.Year() < year:
				return "", fmt.Errorf("the data begins at %s UTC, but the tables begin with the year %d: "+
					"queries of earlier times fail", oldest.Format(time.DateTime), year)
			}
			return fmt.Sprintf("the data begins at %s UTC, in or after the first year of the tables, %d",
				oldest.Format(time.DateTime), year), nil
		},
	}
}

// Partitions checks that a table has the columns and the partition projection of this version of the program.
func Partitions(client CatalogueClient, t lake.Table) Check {
	return Check{
		Name: "partitions of " + t.Name,
		Remedy: "deploy the data stack of this version: it creates the tables from the definitions of the program; " +
			"ORRERY_DATABASE, ORRERY_LAKE_BUCKET and ORRERY_PROJECTION_FROM must have the deployment's values, " +
			"and the role must allow athena:GetTableMetadata and glue:GetTable",
		Run: func(ctx context.Context) (string, error) {
			out, err := client.GetTableMetadata(ctx, &athena.GetTableMetadataInput{
				CatalogName: aws.String("AwsDataCatalog"), DatabaseName: &t.Schema, TableName: &t.Name,
			})
			if err != nil {
				return "", refused(err, "the table "+t.Schema+"."+t.Name)
			}
			return partitionsFound(t, out.TableMetadata)
		},
	}
}

func partitionsFound(t lake.Table, found *types.TableMetadata) (string, error) {
	if found == nil {
		return "", fmt.Errorf("the definition of the table %s.%s is missing in Glue", t.Schema, t.Name)
	}
	columns, wanted := map[string]string{}, map[string]string{}
	for _, c := range found.Columns {
		columns[aws.ToString(c.Name)] = aws.ToString(c.Type)
	}
	for _, c := range t.Columns() {
		wanted[c.Name] = c.Type
	}
	properties := t.Properties()
	wrong := slices.Concat(
		differences("column", wanted, columns),
		differences("property", properties, found.Parameters),
	)
	if len(wrong) > 0 {
		list := strings.Join(wrong, "; ")
		return "", fmt.Errorf("the table %s.%s differs from this version: %s", t.Schema, t.Name, list)
	}
	if t.Name == lake.ListTable {
		return fmt.Sprintf("the table %s.%s has the column and the partitions of this version", t.Schema, t.Name), nil
	}
	return fmt.Sprintf("the table %s.%s has the %d columns of this version and partitions from the year %d on",
		t.Schema, t.Name, len(wanted), t.FromYear), nil
}

// differences describes the entries of wanted that got lacks or has with another value. It ignores additional entries.
func differences(kind string, wanted, got map[string]string) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if value, ok := got[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s %s is missing", kind, name))
		} else if value != wanted[name] {
			wrong = append(wrong, fmt.Sprintf("%s %s is %q, not %q", kind, name, value, wanted[name]))
		}
	}
	return wrong
}

// Lake checks that the lake has data, and reports the age of the newest record.
func Lake(states engine.States, now func() time.Time) Check {
	return Check{
		Name: "last ingest",
		Remedy: "put a log under raw/ of the raw bucket; if it is not imported, " +
			"read the log of the function ingest and its dead letters",
		Run: func(ctx context.Context) (string, error) {
			state, err := states.State(ctx)
			if err != nil {
				return "", refused(err, "the state of the lake")
			}
			if state.Extent.Rows == 0 {
				return "", errors.New("nothing has been imported yet")
			}
			newest := time.UnixMilli(state.Extent.MaxTsMs).UTC()
			return fmt.Sprintf("%d records, the newest of %s UTC, %s ago; "+
				"data version %d; hours before %s are compacted; %s",
				state.Extent.Rows, newest.Format(time.DateTime), age(now().Sub(newest)),
				state.Version, state.Watermark, completeness(state.CompleteThrough, now())), nil
		},
	}
}

// completeness describes to which time the data is complete.
func completeness(through, now time.Time) string {
	if through.IsZero() {
		return "it is not known yet to which time the data is complete"
	}
	return fmt.Sprintf("the data is complete through %s UTC, %s ago",
		through.UTC().Format(time.DateTime), age(now.Sub(through)))
}

// maxListed is the maximum number of lost objects that a line lists.
const maxListed = 10

// Damage checks that no object of the lake is lost, and lists the lost ones.
func Damage(states engine.States) Check {
	return Check{
		Name: "damaged objects",
		Remedy: "wait: compaction rebuilds an object from its raw logs about an hour after it has set it aside; " +
			"if it cannot, put the log back under its key in the raw bucket: compaction tries again every day. " +
			"The runbook damaged-object describes the steps",
		Run: func(ctx context.Context) (string, error) {
			state, err := states.State(ctx)
			if err != nil {
				return "", refused(err, "the state of the lake")
			}
			var lost []string
			for _, o := range state.Lost {
				if !o.Rebuilt.IsZero() {
					continue
				}
				text := fmt.Sprintf("%s of the hour %s", o.Name, o.Partition)
				if o.Reason != "" {
					text += " (not rebuilt: " + o.Reason + ")"
				}
				lost = append(lost, text)
			}
			if len(lost) == 0 {
				return "no object is lost", nil
			}
			listed := strings.Join(lost[:min(len(lost), maxListed)], "; ")
			if more := len(lost) - maxListed; more > 0 {
				listed += fmt.Sprintf("; and %d more", more)
			}
			return "", fmt.Errorf("%d damaged objects are lost, and answers about their hours lack their records: %s",
				len(lost), listed)
		},
	}
}

// age formats a duration: in days from two days on.
func age(d time.Duration) string {
	if days := int(d.Hours() / 24); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return d.Round(time.Second).String()
}
