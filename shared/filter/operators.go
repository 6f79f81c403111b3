package filter

import "strings"

// operator is what a spelling means.
type operator struct {
	op      Op
	negated bool
}

// symbols are the operators of the query-string form that are not words.
var symbols = map[string]operator{
	"=": {Eq, false}, "!=": {Eq, true},
	">": {Gt, false}, "<": {Lt, false}, ">=": {Gte, false}, "<=": {Lte, false},
	"~": {Regex, false}, "!~": {Regex, true},
}

// symbolOf is the spelling of an operator in the query-string form, if it has one.
func symbolOf(op Op, negated bool) (string, bool) {
	switch (operator{op, negated}) {
	case operator{Eq, false}:
		return "=", true
	case operator{Eq, true}:
		return "!=", true
	case operator{Gt, false}:
		return ">", true
	case operator{Lt, false}:
		return "<", true
	case operator{Gte, false}:
		return ">=", true
	case operator{Lte, false}:
		return "<=", true
	case operator{Regex, false}:
		return "~", true
	case operator{Regex, true}:
		return "!~", true
	}
	return "", false
}

// slips are symbols of other languages, and what is written for them here.
var slips = map[string]string{
	"==": "=", "===": "=", ":": "=", ":=": "=",
	"!==": "!=", "=!": "!=", "<>": "!=", "!": "!=", "!:": "!=", "~!": "!~",
	"=~": "~", "~=": "~", "~~": "~", "!=~": "!~", "!~=": "!~",
	"=>": ">=", "=<": "<=", ">>": ">", "<<": "<", ">==": ">=", "<==": "<=",
}

// words are names of operators elsewhere, the JSON form included, and what the query-string form writes.
var words = map[string]string{
	"eq": "=", "equals": "=", "ne": "!=", "neq": "!=", "gt": ">", "lt": "<", "gte": ">=", "lte": "<=", "ge": ">=", "le": "<=",
	"regex": "~", "regexp": "~", "matches": "~", "match": "~", "rlike": "~",
}

// jsonOperators are the operators of the JSON form.
var jsonOperators = func() map[string]operator {
	all := make(map[string]operator, 2*len(Ops))
	for _, op := range Ops {
		all[jsonOperator(op, false)] = operator{op, false}
		all[jsonOperator(op, true)] = operator{op, true}
	}
	return all
}()

// jsonOperatorNames lists the operators of the JSON form without their negations.
var jsonOperatorNames = func() []string {
	names := make([]string, len(Ops))
	for i, op := range Ops {
		names[i] = op.String()
	}
	return names
}()

// guessJSONOperator finds what an unknown operator of the JSON form was meant to be: another case or
// spacing, a symbol, a name used elsewhere, or a slip of the finger.
func guessJSONOperator(text string) (string, bool) {
	plain := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '_' || r == '-'
	}), " ")
	if _, ok := jsonOperators[plain]; ok {
		return plain, true
	}
	negated := strings.HasPrefix(plain, "not ")
	plain = strings.TrimPrefix(plain, "not ")
	if symbol, ok := words[plain]; ok {
		plain = symbol
	}
	if symbol, ok := slips[plain]; ok {
		plain = symbol
	}
	if meant, ok := symbols[plain]; ok {
		return jsonOperator(meant.op, meant.negated != negated), true
	}
	switch plain {
	case "notin", "nin":
		return jsonOperator(In, !negated), true
	}
	if name := Nearest(plain, jsonOperatorNames); name != "" {
		if negated {
			return "not " + name, true
		}
		return name, true
	}
	return "", false
}
