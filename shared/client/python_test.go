package client_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestPythonTypes checks that the types of the package for Python are those of the answers.
func TestPythonTypes(t *testing.T) {
	p := pythonTypes{t: t, types: map[string]reflect.Type{}}
	p.add("Question", reflect.TypeFor[client.Question]())
	p.add("Meta", reflect.TypeFor[answer.Meta]())
	for _, one := range []any{
		client.Timeline{}, answer.StatsResult{}, client.TopX{}, client.Facet{}, client.Bar{}, client.Finding{},
		client.Value{}, client.Explanation{}, client.Incident{}, client.Effect{}, client.WhatIf{}, client.Status{},
	} {
		p.nameOf(reflect.TypeOf(one))
	}
	for len(p.waiting) > 0 {
		next := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.add(pythonName(next), next)
	}
	text := `"""What the API answers. Times are texts in RFC 3339 format. The file is generated:
go test ./shared/client -run PythonTypes -update
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Record = dict[str, Any]  # of the logs; its members depend on the request
` + p.text.String()
	goldentest.Compare(t, filepath.Join("python", "orrery", "answers.py"), text)
}

// pythonTypes writes the types of Go as types of Python.
type pythonTypes struct {
	t       *testing.T
	text    strings.Builder
	types   map[string]reflect.Type // by the names of their classes
	waiting []reflect.Type          // those that yet have no class
}

// pythonNames has the names of types that package client names otherwise.
var pythonNames = map[string]string{
	"HistogramResult": "Bar", "DiffResult": "Finding", "StatusResult": "StatusCount",
}

func pythonName(t reflect.Type) string {
	if name := pythonNames[t.Name()]; name != "" {
		return name
	}
	return strings.TrimSuffix(t.Name(), "Result")
}

// keywords are the words of Python that cannot be names of members of a class.
var keywords = strings.Fields(`
	and as assert async await break class continue def del elif else except finally for from global if
	import in is lambda nonlocal not or pass raise return try while with yield
`)

// add writes the class of a struct.
func (p *pythonTypes) add(name string, t reflect.Type) {
	p.types[name] = t
	members := p.members(t, false)
	if slices.ContainsFunc(members, func(m pythonMember) bool { return slices.Contains(keywords, m.name) }) {
		fmt.Fprintf(&p.text, "\n\n%s = TypedDict(\n    %q,\n    {\n", name, name)
		for _, m := range members {
			p.line("        ", fmt.Sprintf("%q: %q,", m.name, m.of), m.doc)
		}
		p.text.WriteString("    },\n)\n")
		return
	}
	fmt.Fprintf(&p.text, "\n\nclass %s(TypedDict):\n", name)
	for _, m := range members {
		p.line("    ", m.name+": "+m.of, m.doc)
	}
}

type pythonMember struct{ name, of, doc string }

// line writes a member with its comment, which stands before it if the line would be long.
func (p *pythonTypes) line(indent, member, doc string) {
	const width = 120
	switch {
	case doc == "":
		fmt.Fprintf(&p.text, "%s%s\n", indent, member)
		return
	case len(indent)+len(member)+len("  # ")+len(doc) <= width:
		fmt.Fprintf(&p.text, "%s%s  # %s\n", indent, member, doc)
		return
	}
	comment := indent + "#"
	for _, word := range strings.Fields(doc) {
		if len(comment)+1+len(word) > width {
			p.text.WriteString(comment + "\n")
			comment = indent + "#"
		}
		comment += " " + word
	}
	fmt.Fprintf(&p.text, "%s\n%s%s\n", comment, indent, member)
}

// members returns the members of a struct, including those of embedded structs. absent: every member may be absent.
func (p *pythonTypes) members(t reflect.Type, absent bool) []pythonMember {
	var list []pythonMember
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			list = append(list, p.members(embedded, field.Type != embedded)...)
			continue
		case name == "-" || !field.IsExported():
			continue
		}
		missing := absent || strings.Contains(options, "omitempty") || field.Tag.Get("required") == "false"
		of := field.Type
		if strings.Contains(options, "omitempty") && of.Kind() == reflect.Pointer {
			of = of.Elem() // nil is absent
		}
		text := p.nameOf(of)
		if enum := field.Tag.Get("enum"); enum != "" && of.Kind() == reflect.String {
			text = `Literal["` + strings.ReplaceAll(enum, ",", `", "`) + `"]`
		}
		if missing {
			text = "NotRequired[" + text + "]"
		}
		list = slices.DeleteFunc(list, func(m pythonMember) bool { return m.name == name }) // the outer one hides it
		list = append(list, pythonMember{name, text, field.Tag.Get("doc")})
	}
	return list
}

// nameOf returns the type of Python.
func (p *pythonTypes) nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[json.RawMessage]() {
		return "Any"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.nameOf(t.Elem()) + " | None"
	case reflect.Slice:
		return "list[" + p.nameOf(t.Elem()) + "]"
	case reflect.Map:
		return "dict[str, " + p.nameOf(t.Elem()) + "]"
	case reflect.Struct:
		name := pythonName(t)
		switch p.types[name] {
		case nil:
			p.types[name] = t
			p.waiting = append(p.waiting, t)
		case t:
		default:
			p.t.Errorf("%s and %s have the same name in Python", p.types[name], t)
		}
		return name
	case reflect.String:
		return "str"
	case reflect.Bool:
		return "bool"
	case reflect.Float64:
		return "float"
	case reflect.Interface:
		return "Any"
	}
	return "int"
}
