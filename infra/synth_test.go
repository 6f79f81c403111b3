package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

var update = flag.Bool("update", false, "update the files in testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// deployment holds the templates as CloudFormation gets them and the findings of cdk-nag.
type deployment struct {
	data, api, ops template
	findings       []string
	err            error
}

type template struct {
	Resources map[string]resource
	Outputs   map[string]any
}

type resource struct {
	Type                string
	Properties          map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
}

// deployed returns the deployment with the default properties. It is synthesized once.
func deployed(t *testing.T) deployment {
	t.Helper()
	if os.Getenv("ORRERY_TEST_CDK") == "" {
		t.Skip("synthesizing the stacks takes up to a minute; set ORRERY_TEST_CDK=1 to run this test")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the CDK needs node (20 or later) on the PATH")
	}
	d := synthesize()
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d
}

// everyDestination has a destination of each kind.
const everyDestination = `{"mail":{"ses":true,"from":"Orrery <orrery@shop.example>","domains":["shop.example"],` +
	`"configuration-set":"reports"},"destination":{"archive":{"bucket":"shop-archive","prefix":"reports/"},` +
	`"chat":{"slack-parameter":"/orrery/chat"},"hook":{"webhook-parameter":"/orrery/hook",` +
	`"webhook-secret-parameter":"/orrery/hook-secret"},` +
	`"topic":{"topic":"arn:aws:sns:eu-central-1:123456789012:reports"}}}`

var synthesize = sync.OnceValue(func() deployment { return synthesizeWith(defaults, true) })

// synthesizeWith returns the stacks of properties, with every destination of reports. They have the findings of cdk-nag only
// if nag is set, because that takes seconds.
func synthesizeWith(p Props, nag bool) (d deployment) {
	dir, err := os.MkdirTemp("", "orrery-infra-")
	if err != nil {
		return deployment{err: err}
	}
	defer func() { d.err = errors.Join(d.err, os.RemoveAll(dir)) }()
	p.Zips, p.AlarmEmail, p.Reports = filepath.Join(dir, "zips"), "ops@shop.example", everyDestination
	if err := makeZips(p); err != nil {
		return deployment{err: err}
	}
	app := newApp(jsii.String(filepath.Join(dir, "cdk.out")))
	built := build(app, p)
	if nag {
		cdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	}
	app.Synth(nil)

	if nag {
		d.findings = findingsOf(built.data.stack, built.api.stack, built.ops)
	}
	for name, into := range map[string]*template{"data": &d.data, "api": &d.api, "ops": &d.ops} {
		text, err := os.ReadFile(filepath.Join(dir, "cdk.out", p.Name+"-"+name+".template.json"))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return deployment{err: err}
		}
	}
	return d
}

// findingsOf returns what cdk-nag has found in stacks.
func findingsOf(stacks ...cdk.Stack) (findings []string) {
	for _, stack := range stacks {
		annotations := assertions.Annotations_FromStack(stack)
		all, pattern := jsii.String("*"), assertions.Match_StringLikeRegexp(jsii.String("AwsSolutions-.*"))
		messages := append(*annotations.FindError(all, pattern), *annotations.FindWarning(all, pattern)...)
		for _, message := range messages {
			//nolint:staticcheck // the type has moved, but the CDK's assertions still return the old one
			findings = append(findings, fmt.Sprintf("%s: %v", *message.Id, message.Entry.Data))
		}
	}
	return findings
}

// makeZips writes a placeholder for each function's zip.
func makeZips(p Props) error {
	for _, f := range functions() {
		if err := os.MkdirAll(filepath.Dir(p.zip(f)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(p.zip(f), []byte(f.Name), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// of returns the logical IDs of the resources of a type, sorted.
func (t template) of(kind string) (ids []string) {
	for id, r := range t.Resources {
		if r.Type == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// at returns the value at a path of names and indexes in properties, such as "A.B.0.C", or nil if there is none.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

func (r resource) at(path string) any { return at(r.Properties, path) }

// flat returns a value of a template as one line of text. It prints a reference as the name that it refers to, and it
// evaluates joins.
func flat(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = flat(v[i])
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return "<" + strings.TrimPrefix(ref, "AWS::") + ">"
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return "<" + flat(get[0]) + ">"
		}
		if name, ok := v["Fn::ImportValue"].(string); ok {
			return "<" + name + ">"
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var out strings.Builder
			for i, part := range join[1].([]any) {
				if i > 0 {
					out.WriteString(flat(join[0]))
				}
				out.WriteString(flat(part))
			}
			return out.String()
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the value was parsed from JSON
	}
	return string(text)
}
