package function

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/lambdas"
)

func lookupIn(variables map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

// complete returns an environment for every function.
func complete() map[string]string {
	variables := map[string]string{}
	for _, f := range lambdas.All {
		for _, v := range f.Variables {
			variables[v.Name] = v.Example
		}
	}
	return variables
}

func TestReadNamesEveryMissingVariable(t *testing.T) {
	for _, f := range lambdas.All {
		_, err := lookupIn(nil).Read(f)
		needed := 0
		for _, v := range f.Variables {
			named := err != nil && strings.Contains(err.Error(), "\n  "+v.Name+": "+v.Doc+", such as "+v.Example)
			if named != (v.Default == "") {
				t.Errorf("%s: %s named %t: %v", f.Name, v.Name, named, err)
			}
			if v.Default == "" {
				needed++
			}
		}
		if (needed > 0) != (err != nil) {
			t.Errorf("%s needs %d variables: %v", f.Name, needed, err)
		}
		if _, err := lookupIn(complete()).Read(f); err != nil {
			t.Errorf("with everything set: %v", err)
		}
	}
}

func TestReadNamesInvalidVariables(t *testing.T) {
	f, _ := lambdas.Named("topx")
	f.Variables = append(slices.Clone(f.Variables), lambdas.RawQueue, lambdas.RawDeadLetters, lambdas.HorizonDays)
	for name, values := range map[string][]string{
		"ORRERY_RESULTS":          {"orrery-results", "s3://", "s3:///results/", "https://b/results/", "s3://b/results"},
		"ORRERY_HORIZON_DAYS":     {"35d", "-1", "36501"},
		"ORRERY_RAW_QUEUE":        {"orrery-raw", "https://", "arn:aws:sqs:eu-central-1:123456789012:orrery-raw"},
		"ORRERY_RAW_DEAD_LETTERS": {"orrery-raw-dead-letters", "https://"},
		"ORRERY_PROJECTION_FROM":  {"20x", "1969", "10000", "-1"},
		"ORRERY_QUERY_TIMEOUT":    {"27", "0s", "-1s", "soon"},
	} {
		for _, value := range values {
			variables := complete()
			variables[name] = value
			_, err := lookupIn(variables).Read(f)
			if err == nil || !strings.Contains(err.Error(), name+`: "`+value+`" is not`) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	variables := complete()
	variables["ORRERY_QUERY_TIMEOUT"], variables["ORRERY_PROJECTION_FROM"] = "", ""
	if e, err := lookupIn(variables).Read(f); err != nil || e.QueryTimeout.Seconds() != 27 || e.ProjectionFrom != 2000 {
		t.Errorf("an empty variable does not have its default: %+v %v", e, err)
	}
}

// TestEveryRouteHasOneFunction checks that every route has exactly one function, that lambdas.Older also has every route
// below a base path, and that every function has a folder.
func TestEveryRouteHasOneFunction(t *testing.T) {
	served := map[string]int{}
	var named []string
	for _, f := range lambdas.All {
		named = append(named, f.Name)
		if f.Name == lambdas.Older {
			compareOlder(t, f.Serves)
			continue
		}
		for _, id := range f.Serves {
			served[id]++
		}
	}
	for _, id := range api.RouteIDs() {
		if served[id] != 1 {
			t.Errorf("route %s is answered by %d functions", id, served[id])
		}
		delete(served, id)
	}
	for id := range served {
		t.Errorf("unknown route %s", id)
	}
	mains, err := filepath.Glob("../../*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, path := range mains {
		folders = append(folders, filepath.Base(filepath.Dir(path)))
		if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") > 35 {
			t.Errorf("%s does more than start the function: %v", path, err)
		}
	}
	slices.Sort(named)
	slices.Sort(folders)
	if !slices.Equal(named, folders) {
		t.Errorf("functions of the table %v, folders %v", named, folders)
	}
}

func compareOlder(t *testing.T, served []string) {
	t.Helper()
	var routes []string
	for _, r := range api.Routes() {
		routes = append(routes, r.ID)
	}
	slices.Sort(routes)
	if served = slices.Sorted(slices.Values(served)); !slices.Equal(served, routes) {
		t.Errorf("%s answers %v, want %v", lambdas.Older, served, routes)
	}
}
