package catalog

// Description is the description of a field in the answer of GET /api/v4.0/data/fields.
type Description struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Operators []string `json:"operators"`
	Key       *Keys    `json:"key,omitempty"` // nil if the field takes no key
	Doc       string   `json:"doc"`
	Example   string   `json:"example"`

	Group     Group    `json:"group" enum:"client,request,decision,rules,origin,timing,geography" doc:"What the field is about"`
	Values    Variety  `json:"values" enum:"few,many,unique" doc:"How many different values the field usually has in a large amount of traffic"`
	Groupable bool     `json:"groupable" doc:"Whether facets and histograms can group by the field, or by some of its members"`
	Networks  []string `json:"networks,omitempty" doc:"Networks of the field's addresses, by which facets and histograms can group, too"`
	Sensitive bool     `json:"sensitive" doc:"Whether values may identify a person or give access"`
	Aliases   []string `json:"aliases" doc:"Names of the field in other products; filters do not accept them"`
}

// Keys describes the keys that a field takes. Rule is "closed" if only the members are valid, "open" if any name is
// valid, and "folded" if any name is valid and names are compared ignoring case.
type Keys struct {
	Rule    string   `json:"rule"`
	Members []Member `json:"members,omitempty"` // of closed keys
	Names   []string `json:"names,omitempty"`   // documented names of open keys
}

// Member is one member of a field with closed keys.
type Member struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Operators []string `json:"operators"`
	Groupable bool     `json:"groupable"`
}

var typeNames = [...]string{
	String: "string", Int: "integer", Float: "float", Bool: "boolean", Time: "timestamp", Any: "any",
	Reference: "reference",
}

// String returns the name of the type in descriptions and messages.
func (t Type) String() string { return typeNames[t] }

var ruleNames = [...]string{NoKey: "none", ClosedKeys: "closed", OpenKeys: "open", FoldedKeys: "folded"}

// String returns the name of the rule in descriptions.
func (r KeyRule) String() string { return ruleNames[r] }

// Describe returns the descriptions of all fields in alphabetical order.
func Describe() []Description {
	all := make([]Description, len(Fields))
	for i := range Fields {
		all[i] = Fields[i].Describe()
	}
	return all
}

// Describe returns the description of the field.
func (f *Field) Describe() Description {
	d := Description{
		Name:      f.Name,
		Type:      f.Type.String(),
		Operators: operatorNames(f.Sources),
		Doc:       f.Doc,
		Example:   f.Example,
		Groupable: f.Groupable(),
		Networks:  f.Networks(),
	}
	d.setProperties()
	if f.Keys == NoKey {
		return d
	}
	d.Key = &Keys{Rule: f.Keys.String(), Names: f.Names}
	if f.Keys == ClosedKeys {
		for _, s := range f.Sources {
			member := Member{
				Name: s.Name, Type: s.Type.String(), Operators: operatorNames([]Source{s}), Groupable: s.Groupable(),
			}
			d.Key.Members = append(d.Key.Members, member)
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
