package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/shared/search"
)

// parameterFlags are the flags of a command that set parameters of data routes. A flag has the name of its parameter, with
// hyphens: --group-by for group_by.
type parameterFlags struct {
	kong.Plugins // newParameterFlags makes them
}

// newParameterFlags returns a flag for each parameter that has a help, except for the given ones.
func newParameterFlags(except ...string) parameterFlags {
	types := map[search.ParameterKind]reflect.Type{
		search.IntegerKind: reflect.TypeFor[*int](), search.BooleanKind: reflect.TypeFor[bool](),
	}
	var members []reflect.StructField
	for _, p := range search.Parameters {
		seen := slices.ContainsFunc(members, func(f reflect.StructField) bool { return f.Name == memberOf(p.Name) })
		if p.Help == "" || seen || slices.Contains(except, p.Name) {
			continue
		}
		f := reflect.StructField{Name: memberOf(p.Name), Type: types[p.Kind]}
		if f.Type == nil {
			f.Type = reflect.TypeFor[*string]()
		}
		f.Tag = reflect.StructTag(fmt.Sprintf("name:%q help:%q", strings.ReplaceAll(p.Name, "_", "-"), p.Help))
		if p.Sample != "" {
			f.Tag += reflect.StructTag(fmt.Sprintf(" placeholder:%q", p.Sample))
		}
		members = append(members, f)
	}
	return parameterFlags{kong.Plugins{reflect.New(reflect.StructOf(members)).Interface()}}
}

// memberOf returns the name of the member of a structure that has a parameter.
func memberOf(parameter string) string { return strings.ToUpper(parameter) }

// given returns the values of the given flags by the names of the parameters: strings, ints and true.
func (f parameterFlags) given() map[string]any {
	given := map[string]any{}
	for _, flags := range f.Plugins {
		for member, value := range reflect.ValueOf(flags).Elem().Fields() {
			if !value.IsZero() {
				given[strings.ToLower(member.Name)] = reflect.Indirect(value).Interface()
			}
		}
	}
	return given
}

// has reports whether the flag of a parameter is given.
func (f parameterFlags) has(parameter string) bool { return f.given()[parameter] != nil }

// text returns the value of a flag as text, or "" if it is not given.
func (f parameterFlags) text(parameter string) string {
	if value := f.given()[parameter]; value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// setIn sets the parameters of a request.
func (f parameterFlags) setIn(r *search.Request) {
	for name, value := range f.given() {
		r.Set(name, fmt.Sprint(value))
	}
}

// fields returns the fields of --fields, or nil for all.
func (f parameterFlags) fields() []string {
	if !f.has("fields") {
		return nil
	}
	names := strings.Split(f.text("fields"), ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}
