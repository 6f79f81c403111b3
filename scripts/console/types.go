package main

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/orrery/orrery/shared/answer"
	reportmodel "github.com/orrery/orrery/shared/report" // tests have a step named report
	"github.com/orrery/orrery/shared/why"
)

// typesFile is a source with types of answers, in the folder of the console.
type typesFile struct {
	path string
	of   string // the rest of "The types of", with the packages that define them
	from []reflect.Type

	imports string         // of types that another file has
	there   []reflect.Type // those types
}

// typesFiles are the sources with types of answers.
var typesFiles = []typesFile{
	{
		path: "src/pure/answers.ts", of: "what data routes answer. Written by go run ./scripts/console from packages answer and why",
		from: []reflect.Type{
			reflect.TypeFor[answer.Meta](), reflect.TypeFor[answer.TimelineResult](), reflect.TypeFor[answer.StatsResult](),
			reflect.TypeFor[answer.TopXResult](), reflect.TypeFor[answer.FacetResult](), reflect.TypeFor[answer.HistogramResult](),
			reflect.TypeFor[answer.DiffResult](), reflect.TypeFor[answer.ValueResult](), reflect.TypeFor[answer.IncidentResult](),
			reflect.TypeFor[answer.EffectResult](), reflect.TypeFor[answer.WhatIfResult](), reflect.TypeFor[why.Explanation](),
		},
		imports: "import type { Value } from './filter';\n",
	},
	{
		path: "src/pure/reportanswer.ts", of: "a report in JSON. Written by go run ./scripts/console from package report",
		from:    []reflect.Type{reflect.TypeFor[reportmodel.Document]()},
		imports: "import type { IncidentResult, Mark } from './answers';\n",
		there:   []reflect.Type{reflect.TypeFor[answer.IncidentResult](), reflect.TypeFor[answer.Mark]()},
	},
}

// content returns the types in TypeScript.
func (f typesFile) content() []byte {
	t := typeWriter{seen: map[reflect.Type]bool{}, queue: f.from}
	for _, one := range f.there {
		t.seen[one] = true
	}
	t.out.WriteString("// The types of " + f.of + "; do not edit.\n" + f.imports)
	for len(t.queue) > 0 {
		next := t.queue[0]
		t.queue = t.queue[1:]
		if !t.seen[next] {
			t.seen[next] = true
			t.write(next)
		}
	}
	return t.out.Bytes()
}

// typeWriter writes types, and then those that they need.
type typeWriter struct {
	out   bytes.Buffer
	seen  map[reflect.Type]bool
	queue []reflect.Type
}

func (t *typeWriter) write(of reflect.Type) {
	base, members := "", ""
	for f := range of.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			base = " extends " + t.named(embedded)
		case name != "-" && f.IsExported():
			if option == "omitempty" || f.Tag.Get("required") == "false" {
				name += "?"
			}
			members += fmt.Sprintf("\t%s: %s;\n", name, t.typeOf(f, option == "omitempty"))
		}
	}
	fmt.Fprintf(&t.out, "\nexport interface %s%s {\n%s}\n", of.Name(), base, members)
}

// typeOf returns the type of a member. One that may be left out is null only if its tag says so.
func (t *typeWriter) typeOf(f reflect.StructField, optional bool) string {
	of := f.Type
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	text := t.plain(of)
	if values := f.Tag.Get("enum"); values != "" {
		or := "' | '"
		if len(values) > 80 {
			or = "'\n\t\t| '"
		}
		text = "'" + strings.ReplaceAll(values, ",", or) + "'"
	}
	if nullable := f.Tag.Get("nullable") == "true"; nullable || f.Type.Kind() == reflect.Pointer && !optional {
		text += " | null"
	}
	return text
}

// plain returns a type without regard to tags.
func (t *typeWriter) plain(of reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Interface:
		return "Value"
	case reflect.Slice:
		return t.plain(of.Elem()) + "[]"
	case reflect.Struct:
		return t.named(of)
	}
	panic(fmt.Sprintf("console: no type for %s", of))
}

func (t *typeWriter) named(of reflect.Type) string {
	t.queue = append(t.queue, of)
	return of.Name()
}
