package why

import "github.com/orrery/orrery/shared/filter"

// Match is a part of the request that a rule matched.
type Match struct {
	Field string `json:"field" doc:"The part, as filters name it" example:"arguments[\"item\"]"`
	Part  string `json:"part" doc:"The part in words" example:"argument item"`
	Text  string `json:"text,omitempty" doc:"What the rule matched there; covered if it is sensitive"`
}

// matchTriggers are the fields of triggers that name a part of the request.
var matchTriggers = []string{"cf_triggers", "cf_restrict_triggers", "gf_triggers"}

// matches returns the parts of a request that rules matched.
func matches(r Record) []Match {
	list := []Match{}
	for _, field := range matchTriggers {
		for _, one := range r.triggers(field) {
			section, name, text := one.text("section"), one.text("name"), one.text("value")
			if text == "" {
				text = one.text("matched")
			}
			part := filter.Dimension{Field: filter.Word{Text: fieldOf(section)}}
			if name != "" && name != section {
				part.Key = &filter.Key{Text: name, Exact: true}
			}
			list = append(list, Match{Field: part.String(), Part: partOf(one, ""), Text: text})
		}
	}
	return list
}
