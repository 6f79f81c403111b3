package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden compares the deployment with testdata, so that a review shows how a change affects it.
// To update testdata: ORRERY_TEST_CDK=1 go test ./infra -update
func TestGolden(t *testing.T) {
	d := deployed(t)
	gateway := template{Resources: maps.Clone(d.api.Resources), Outputs: d.api.Outputs}
	elsewhere := []string{"AWS::ApiGateway::Method", "AWS::ApiGateway::Resource", "AWS::IAM::Role"}
	maps.DeleteFunc(gateway.Resources, func(_ string, r resource) bool { // routes.txt and permissions.txt have these
		return slices.Contains(elsewhere, r.Type)
	})
	for name, got := range map[string]string{
		"data.json":       asText(t, d.data),
		"api.json":        asText(t, gateway),
		"ops.json":        asText(t, d.ops),
		"routes.txt":      strings.Join(routesOf(d.api), "\n") + "\n",
		"permissions.txt": strings.Join(permissionsOf(d.api), "\n") + "\n",
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs (-golden +got); to accept the change, run with -update\n%s", name, diff)
		}
	}
}

var (
	assetHash    = regexp.MustCompile(`[0-9a-f]{64}`)
	deploymentID = regexp.MustCompile(`(GatewayDeployment[0-9A-F]{8})[0-9a-f]{32}`)
)

// asText returns a template as text, without the hashes that depend on the content of the zips.
func asText(t *testing.T, of template) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(of); err != nil {
		t.Fatal(err)
	}
	return deploymentID.ReplaceAllString(assetHash.ReplaceAllString(text.String(), "HASH"), "${1}HASH")
}

// routesOf returns the methods of a gateway, sorted by path: "/api/v4/data/topx GET → orrery-topx".
func routesOf(t template) []string {
	var pathOf func(id string) string
	pathOf = func(id string) string {
		if r, ok := t.Resources[id]; ok && r.Type == "AWS::ApiGateway::Resource" {
			return pathOf(strings.Trim(flat(r.Properties["ParentId"]), "<>")) + "/" + flat(r.Properties["PathPart"])
		}
		return ""
	}
	var lines []string
	for _, id := range t.of("AWS::ApiGateway::Method") {
		m := t.Resources[id]
		path := pathOf(strings.Trim(flat(m.Properties["ResourceId"]), "<>"))
		if path == "" {
			path = "/"
		}
		function := functionArn.FindStringSubmatch(flat(m.at("Integration.Uri")))[1]
		name := flat(t.Resources[function].Properties["FunctionName"])
		lines = append(lines, path+" "+flat(m.Properties["HttpMethod"])+" → "+name)
	}
	slices.Sort(lines)
	return lines
}

var functionArn = regexp.MustCompile(`functions/<([A-Za-z0-9]+)>/invocations`)

// permissionsOf returns the permissions of each function: "orrery-topx: s3:GetObject on … if …".
func permissionsOf(t template) []string {
	var lines []string
	for _, id := range t.of("AWS::Lambda::Function") {
		f := t.Resources[id]
		role := t.Resources[strings.Trim(flat(f.Properties["Role"]), "<>")]
		for _, policy := range role.Properties["Policies"].([]any) {
			for _, s := range at(policy, "PolicyDocument.Statement").([]any) {
				line := flat(f.Properties["FunctionName"]) + ": " + flat(at(s, "Action"))
				line += "\n    on " + flat(at(s, "Resource"))
				if condition := at(s, "Condition"); condition != nil {
					line += "\n    if " + flat(condition)
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}
