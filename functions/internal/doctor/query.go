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

// WorkgroupClient is what is used of *athena.Client.
type WorkgroupClient interface {
	GetWorkGroup(context.Context, *athena.GetWorkGroupInput, ...func(*athena.Options)) (*athena.GetWorkGroupOutput, error)
}

// Workgroup checks that queries run where their answers are expected and what they may scan is bounded.
func Workgroup(client WorkgroupClient, name, results string) Check {
	return Check{
		Name: "workgroup",
		Mend: "deploy the data stack again: it makes the workgroup with an enforced configuration; ORRERY_WORKGROUP and ORRERY_RESULTS must be its name and its place for results, and the role must allow athena:GetWorkGroup",
		Look: func(ctx context.Context) (string, error) {
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
		return "", fmt.Errorf("the workgroup %s puts results into %s, and %s is expected", name, output, results)
	case cutoff == 0:
		return "", fmt.Errorf("in the workgroup %s one query may scan everything there is", name)
	}
	return fmt.Sprintf("the workgroup %s is enforced; one query may scan %d bytes", name, cutoff), nil
}

// CatalogueClient is what is used of *athena.Client: it tells what Glue knows of a table.
type CatalogueClient interface {
	GetTableMetadata(context.Context, *athena.GetTableMetadataInput, ...func(*athena.Options)) (*athena.GetTableMetadataOutput, error)
}

// Partitions checks that a table is as this program reads and writes it: its columns, and how the hours are found.
func Partitions(client CatalogueClient, t lake.Table) Check {
	return Check{
		Name: "partitions of " + t.Name,
		Mend: "deploy the data stack of this version: it prints the tables from the program itself; ORRERY_DATABASE, ORRERY_LAKE_BUCKET and ORRERY_PROJECTION_FROM must be those of the deployment, and the role must allow athena:GetTableMetadata and glue:GetTable",
		Look: func(ctx context.Context) (string, error) {
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
		return "", fmt.Errorf("the table %s.%s is not described", t.Schema, t.Name)
	}
	columns, wanted := map[string]string{}, map[string]string{}
	for _, c := range found.Columns {
		columns[aws.ToString(c.Name)] = aws.ToString(c.Type)
	}
	for _, c := range lake.HiveColumns() {
		wanted[c.Name] = c.Type
	}
	wrong := slices.Concat(differences("column", wanted, columns), differences("property", lake.TableProperties(t.Location, t.FromYear), found.Parameters))
	if len(wrong) > 0 {
		return "", fmt.Errorf("the table %s.%s is not as it must be: %s", t.Schema, t.Name, strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("the table %s.%s has the %d columns of this version, and its hours are found from %d on", t.Schema, t.Name, len(wanted), t.FromYear), nil
}

// differences tells what is not as wanted. What is there besides does no harm.
func differences(kind string, wanted, got map[string]string) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if value, there := got[name]; !there {
			wrong = append(wrong, fmt.Sprintf("%s %s is missing", kind, name))
		} else if value != wanted[name] {
			wrong = append(wrong, fmt.Sprintf("%s %s is %q, not %q", kind, name, value, wanted[name]))
		}
	}
	return wrong
}

// Lake checks that there is something to ask about, and tells how new it is.
func Lake(states engine.States, now func() time.Time) Check {
	return Check{
		Name: "last ingest",
		Mend: "put a log under raw/ of the raw bucket, and look into the log of the function ingest and into its dead letters",
		Look: func(ctx context.Context) (string, error) {
			state, err := states.State(ctx)
			if err != nil {
				return "", refused(err, "the state of the lake")
			}
			if state.Extent.Rows == 0 {
				return "", errors.New("nothing has been imported yet")
			}
			newest := time.UnixMilli(state.Extent.MaxTsMs).UTC()
			return fmt.Sprintf("%d records, the newest of %s UTC, %s ago; data version %d; hours before %s are compacted",
				state.Extent.Rows, newest.Format(time.DateTime), age(now().Sub(newest)), state.Version, state.Watermark), nil
		},
	}
}

// age is a length of time as people say it.
func age(d time.Duration) string {
	if days := int(d.Hours() / 24); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return d.Round(time.Second).String()
}
