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

var update = flag.Bool("update", false, "write testdata anew")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// deployment is what the tests look at: the templates as CloudFormation gets them, and what cdk-nag says.
type deployment struct {
	data, api, ops template
	complaints     []string
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

// deployed gives the deployment by the default properties, made once.
func deployed(t *testing.T) deployment {
	t.Helper()
	if os.Getenv("ORRERY_TEST_CDK") == "" {
		t.Skip("making the templates takes up to a minute: set ORRERY_TEST_CDK=1")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the CDK needs node (20 or later) on the PATH, and there is none")
	}
	d := synthesize()
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d
}

var synthesize = sync.OnceValue(func() (d deployment) {
	dir, err := os.MkdirTemp("", "orrery-infra-")
	if err != nil {
		return deployment{err: err}
	}
	defer func() { d.err = errors.Join(d.err, os.RemoveAll(dir)) }()
	p := defaults
	p.Zips, p.AlarmEmail = filepath.Join(dir, "zips"), "ops@shop.example"
	if err := makeZips(p); err != nil {
		return deployment{err: err}
	}
	app := newApp(jsii.String(filepath.Join(dir, "cdk.out")))
	made := build(app, p)
	cdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	app.Synth(nil)

	for _, stack := range []cdk.Stack{made.data.stack, made.api.stack, made.ops} {
		found := assertions.Annotations_FromStack(stack)
		pattern := assertions.Match_StringLikeRegexp(jsii.String("AwsSolutions-.*"))
		messages := append(*found.FindError(jsii.String("*"), pattern), *found.FindWarning(jsii.String("*"), pattern)...)
		for _, message := range messages {
			//nolint:staticcheck // the type has moved, but the CDK's assertions still give the old one
			d.complaints = append(d.complaints, fmt.Sprintf("%s: %v", *message.Id, message.Entry.Data))
		}
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
})

// makeZips puts something where the zips of the functions would be.
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

// of lists the resources of a type by their logical ids, in order.
func (t template) of(kind string) (ids []string) {
	for id, r := range t.Resources {
		if r.Type == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// at follows a path of names and indexes into properties: "A.B.0.C". What is not there is nil.
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

// flat writes a value of a template as one line of text: references by the name they refer to, joins joined.
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
		panic(err) // it was JSON before
	}
	return string(text)
}
