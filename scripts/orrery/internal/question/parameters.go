package question

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/orrery/orrery/shared/search"
)

// ParameterFlags are the flags of a command that set parameters of data routes. A flag has the name of its parameter,
// with hyphens: --group-by for group_by.
type ParameterFlags struct {
	kong.Plugins // NewParameterFlags makes them
}

// NewParameterFlags returns a flag for each parameter that has a help, except for the given ones.
func NewParameterFlags(except ...string) ParameterFlags {
	types := map[search.ParameterKind]reflect.Type{
		search.IntegerKind: reflect.TypeFor[*int](), search.BytesKind: reflect.TypeFor[*int64](), search.BooleanKind: reflect.TypeFor[bool](),
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
	return ParameterFlags{kong.Plugins{reflect.New(reflect.StructOf(members)).Interface()}}
}

// memberOf returns the name of the member of a structure that has a parameter.
func memberOf(parameter string) string { return strings.ToUpper(parameter) }

// Given returns the values of the given flags by the names of the parameters: strings, integers and true.
func (f ParameterFlags) Given() map[string]any {
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

// Has reports whether the flag of a parameter is given.
func (f ParameterFlags) Has(parameter string) bool { return f.Given()[parameter] != nil }

// Text returns the value of a flag as text, or "" if it is not given.
func (f ParameterFlags) Text(parameter string) string {
	if value := f.Given()[parameter]; value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// SetIn sets the parameters of a request.
func (f ParameterFlags) SetIn(r *search.Request) {
	for name, value := range f.Given() {
		r.Set(name, fmt.Sprint(value))
	}
}

// Fields returns the fields of --fields, or nil for all.
func (f ParameterFlags) Fields() []string {
	if !f.Has("fields") {
		return nil
	}
	names := strings.Split(f.Text("fields"), ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}
