// Command infra describes the deployment for the CDK toolkit, which runs it by cdk.json: three stacks in one account
// and region. README.md has the commands, the properties and the cost.
//
//	data   everything that must never be lost: buckets, two Glue tables, workgroups, the DynamoDB table, queues
//	api    the functions and the gateway in front of them; can be replaced at any time
//	ops    monitoring: dashboard, alarms, saved queries, budget
package main

import (
	"context"
	"fmt"
	"os"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	if len(os.Args) > 1 { // a command of scripts/cdk.sh; the CDK gives no arguments
		if err := runPreflight(context.Background(), os.Args[1], os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "preflight:", err)
			os.Exit(1)
		}
		return
	}
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

// newApp returns the app. A stack that uses parts of another prevents their removal. Constructs do not record the line
// that created them, because that takes longer than everything else.
func newApp(outdir *string) cdk.App {
	return cdk.NewApp(&cdk.AppProps{
		Outdir: outdir, AnalyticsReporting: jsii.Bool(false),
		Context: &map[string]any{
			"@aws-cdk/core:defaultCrossStackReferences": "strong",
			"aws:cdk:disable-stack-trace":               true,
		},
	})
}

// stacks are the stacks that build returns.
type stacks struct {
	data *dataStack
	api  *apiStack
	ops  cdk.Stack
}

// build adds the three stacks to an app. The props come from readProps, which checks them.
func build(app constructs.Construct, p Props) stacks {
	cdk.Tags_Of(app).Add(jsii.String(tagKey), jsii.String(p.Name), nil)
	data := newDataStack(app, p)
	api := newAPIStack(app, p, data)
	ops := newOpsStack(app, p, data)
	return stacks{data, api, ops}
}

// tagKey is the tag of every resource of a deployment, for its budget and for people who see it in the console.
const tagKey = "app"

// stackName returns the full name of a stack: the name of the deployment, a hyphen and the given name.
func stackName(deployment, name string) string { return deployment + "-" + name }

// newStack adds a stack.
func newStack(app constructs.Construct, p Props, name, description string) cdk.Stack {
	id := stackName(p.Name, name)
	return cdk.NewStack(app, &id, &cdk.StackProps{Description: jsii.String("Orrery: " + description)})
}

// output adds an output of a stack, which the CDK prints after a deployment. The README and the scripts use its name.
func output(stack cdk.Stack, name string, value *string, description string) {
	props := &cdk.CfnOutputProps{Value: value, Description: &description}
	cdk.NewCfnOutput(stack, jsii.String("Output-"+name), props).OverrideLogicalId(&name)
}
