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

// whole is an environment that every function can run in.
func whole() map[string]string {
	variables := map[string]string{}
	for _, f := range lambdas.All {
		for _, v := range f.Variables {
			variables[v.Name] = v.Example
		}
	}
	return variables
}

func TestEverythingMissingIsNamedAtOnce(t *testing.T) {
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
		if _, err := lookupIn(whole()).Read(f); err != nil {
			t.Errorf("with everything set: %v", err)
		}
	}
}

func TestWhatMakesNoSenseIsNamed(t *testing.T) {
	f, _ := lambdas.Named("topx")
	for name, values := range map[string][]string{
		"ORRERY_RESULTS":         {"orrery-results", "s3://", "s3:///results/", "https://b/results/", "s3://b/results"},
		"ORRERY_PROJECTION_FROM": {"20x", "1969", "10000", "-1"},
		"ORRERY_QUERY_TIMEOUT":   {"27", "0s", "-1s", "soon"},
	} {
		for _, value := range values {
			variables := whole()
			variables[name] = value
			if _, err := lookupIn(variables).Read(f); err == nil || !strings.Contains(err.Error(), name+`: "`+value+`" is not`) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	variables := whole()
	variables["ORRERY_QUERY_TIMEOUT"], variables["ORRERY_PROJECTION_FROM"] = "", ""
	if e, err := lookupIn(variables).Read(f); err != nil || e.QueryTimeout.Seconds() != 27 || e.ProjectionFrom != 2000 {
		t.Errorf("what is left empty has its default: %+v %v", e, err)
	}
}

// TestEveryRouteHasOneFunction: the whole surface is deployed, and every function has a folder.
func TestEveryRouteHasOneFunction(t *testing.T) {
	served := map[string]int{}
	var named []string
	for _, f := range lambdas.All {
		named = append(named, f.Name)
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
		t.Errorf("there is no route %s", id)
	}
	mains, err := filepath.Glob("../../*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, path := range mains {
		folders = append(folders, filepath.Base(filepath.Dir(path)))
		if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") > 35 {
			t.Errorf("%s is more than a start: %v", path, err)
		}
	}
	slices.Sort(named)
	slices.Sort(folders)
	if !slices.Equal(named, folders) {
		t.Errorf("functions of the table %v, folders %v", named, folders)
	}
}
