package catalog

// Description is a field as GET /api/v4.0/data/fields tells of it.
type Description struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Operators []string `json:"operators"`
	Key       *Keys    `json:"key,omitempty"` // absent when the field takes no key
	Doc       string   `json:"doc"`
	Example   string   `json:"example"`
}

// Keys tells which keys a field takes.
type Keys struct {
	Rule    string   `json:"rule"`              // "closed": only the members; "open": any name; "folded": any name, in any case
	Members []Member `json:"members,omitempty"` // of closed keys
	Names   []string `json:"names,omitempty"`   // documented names of open keys
}

// Member is one member of a field with closed keys.
type Member struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Operators []string `json:"operators"`
}

var typeNames = [...]string{String: "string", Int: "integer", Float: "float", Bool: "boolean", Time: "timestamp", Any: "any"}

// String is the type's name in descriptions and messages.
func (t Type) String() string { return typeNames[t] }

var ruleNames = [...]string{NoKey: "none", ClosedKeys: "closed", OpenKeys: "open", FoldedKeys: "folded"}

// String is the rule's name in descriptions.
func (r KeyRule) String() string { return ruleNames[r] }

// Describe tells of every field, in alphabetical order.
func Describe() []Description {
	all := make([]Description, len(Fields))
	for i := range Fields {
		all[i] = Fields[i].Describe()
	}
	return all
}

// Describe tells of the field.
func (f *Field) Describe() Description {
	d := Description{Name: f.Name, Type: f.Type.String(), Operators: operatorNames(f.Sources), Doc: f.Doc, Example: f.Example}
	if f.Keys == NoKey {
		return d
	}
	d.Key = &Keys{Rule: f.Keys.String(), Names: f.Names}
	if f.Keys == ClosedKeys {
		for _, s := range f.Sources {
			d.Key.Members = append(d.Key.Members, Member{Name: s.Name, Type: s.Type.String(), Operators: operatorNames([]Source{s})})
		}
	}
	return d
}

func operatorNames(sources []Source) []string {
	ops := OpsOf(sources)
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = op.String()
	}
	return names
}
