package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocuments checks the names of resources and properties in the documents of the deployment.
func TestDocuments(t *testing.T) {
	var resources strings.Builder
	for _, name := range []string{"data.json", "api.json", "ops.json"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		resources.Write(text)
	}
	var properties []string
	for _, s := range new(Props).settings() {
		properties = append(properties, s.name)
	}
	resource := regexp.MustCompile("`orrery-([a-z-]+[a-z])`")
	property := regexp.MustCompile(`-c ([a-z-]+)=`)
	stacks := []string{"data", "api", "ops"}
	for _, page := range []string{"README.md", "../events/RUNBOOKS.md", "../events/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range resource.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(stacks, m[1]) && !strings.Contains(resources.String(), `"orrery-`+m[1]+`"`) {
				t.Errorf("%s: there is no resource orrery-%s", page, m[1])
			}
		}
		for _, m := range property.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(properties, m[1]) {
				t.Errorf("%s: there is no property %s", page, m[1])
			}
		}
	}
}

// TestREADMEListsTheAlarms compares the alarms in README.md with the template.
func TestREADMEListsTheAlarms(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("testdata/ops.json")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Alarms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for _, row := range regexp.MustCompile(`(?m)^\| [^`+"`"+`]+ \| (.*) \|$`).FindAllStringSubmatch(section, -1) {
		for _, m := range regexp.MustCompile("`([a-z0-9-]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, m[1])
		}
	}
	every := regexp.MustCompile("-(errors|throttled)$") // of the functions; Athena and the table have alarms of their own
	for _, m := range regexp.MustCompile(`"AlarmName": "orrery-([^"]+)"`).FindAllStringSubmatch(string(template), -1) {
		if !every.MatchString(m[1]) || slices.Contains([]string{"athena-throttled", "table-throttled", "topx-errors"}, m[1]) {
			want = append(want, m[1])
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 20 || !slices.Equal(got, want) {
		t.Errorf("README.md lists the alarms\n%q, the template has\n%q", got, want)
	}
}

// TestDeployCommandsOfOneStack checks the commands that deploy a single stack, in documents, scripts and the texts of
// programs. Without -e the toolkit deploys the stacks that it depends on, too. To go back to an earlier version would
// then remove exports that are in use, which CloudFormation refuses.
func TestDeployCommandsOfOneStack(t *testing.T) {
	commands := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{".md", ".go", ".sh"}, filepath.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(text), "\n") {
			single, alone := deploysOne(line)
			if single {
				commands++
			}
			if single && !alone {
				t.Errorf("%s: a single stack is deployed without -e: %s", path, line)
			}
		}
		return nil
	})
	if err != nil || commands == 0 {
		t.Errorf("%d commands were found: %v", commands, err)
	}
}

var (
	oneStack    = regexp.MustCompile("(?i)\\bdeploy(ing)?\\b[^`|#]*`?[^`|#]*\\b[a-z]+-(data|api|ops)\\b")
	exclusively = regexp.MustCompile(`\bdeploy[^|#]* (-e|--exclusively)\b`)
)

// deploysOne reports whether a line deploys a single stack, and whether it deploys nothing else.
func deploysOne(line string) (single, alone bool) {
	return oneStack.MatchString(line), exclusively.MatchString(line)
}

func TestDeploysOne(t *testing.T) {
	for line, want := range map[string][2]bool{
		"cdk deploy orrery-api -c version=1":    {true, false},
		"cdk deploy -c version=1 orrery-api":    {true, false},
		"cdk deploy -e orrery-api -c version=1": {true, true},
		"cdk.sh deploy --exclusively shop-data": {true, true},
		"deploy `orrery-data` again":            {true, false},
		"cdk deploy --all -c version=1":         {false, false},
	} {
		if single, alone := deploysOne(line); [2]bool{single, alone} != want {
			t.Errorf("%s: %v %v, want %v", line, single, alone, want)
		}
	}
}
