// Command infra describes the deployment for the CDK toolkit, which runs it as cdk.json says: three stacks of one
// account and region. README.md has the commands, the properties and what it costs.
//
//	data   what must never be lost: buckets, the two tables in Glue, workgroups, the DynamoDB table, queues
//	api    what runs: the functions and the gateway in front of them; can be replaced at any time
//	ops    what watches: dashboard, alarms, saved queries, budget
package main

import (
	"fmt"
	"os"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	defer jsii.Close()
	app := newApp(nil)
	props, err := readProps(func(name string) any { return app.Node().TryGetContext(jsii.String(name)) })
	if err == nil {
		err = props.checkZips()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
	build(app, props)
	app.Synth(nil)
}

// newApp makes the app. Stacks that use parts of another hold those parts in place, and no construct notes which line
// made it, which would take longer than all the rest.
func newApp(outdir *string) cdk.App {
	return cdk.NewApp(&cdk.AppProps{
		Outdir: outdir, AnalyticsReporting: jsii.Bool(false),
		Context: &map[string]any{"@aws-cdk/core:defaultCrossStackReferences": "strong", "aws:cdk:disable-stack-trace": true},
	})
}

// stacks is what build made.
type stacks struct {
	data *dataStack
	api  *apiStack
	ops  cdk.Stack
}

// build adds the three stacks to an app. The props are whole, see readProps.
func build(app constructs.Construct, p Props) stacks {
	cdk.Tags_Of(app).Add(jsii.String(tagKey), jsii.String(p.Name), nil)
	data := newDataStack(app, p)
	api := newAPIStack(app, p, data)
	ops := newOpsStack(app, p)
	return stacks{data, api, ops}
}

// tagKey marks everything of a deployment, for its budget and for whoever meets it in the console.
const tagKey = "app"

// newStack makes a stack named after the deployment and what it holds.
func newStack(app constructs.Construct, p Props, name, description string) cdk.Stack {
	id := p.Name + "-" + name
	return cdk.NewStack(app, &id, &cdk.StackProps{Description: jsii.String("Orrery: " + description)})
}

// output prints a value after a deployment, under a name that the README and the scripts use.
func output(stack cdk.Stack, name string, value *string, description string) {
	made := cdk.NewCfnOutput(stack, jsii.String("Output-"+name), &cdk.CfnOutputProps{Value: value, Description: jsii.String(description)})
	made.OverrideLogicalId(jsii.String(name))
}
