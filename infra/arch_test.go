package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOnlyInfraImportsTheCDK keeps the 80 MB of the CDK out of every other program.
func TestOnlyInfraImportsTheCDK(t *testing.T) {
	kit := regexp.MustCompile(`aws-cdk-go|jsii-runtime-go|constructs-go|cdk-nag-go`)
	files := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			if kit.MatchString(spec.Path.Value) && filepath.Dir(path) != filepath.Join("..", "infra") {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
}
