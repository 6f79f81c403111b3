package filter

import "strings"

// operator is an operator with its negation.
type operator struct {
	op      Op
	negated bool
}

// symbols maps the operators of the query-string form that are not words.
var symbols = map[string]operator{
	"=": {Eq, false}, "!=": {Eq, true},
	">": {Gt, false}, "<": {Lt, false}, ">=": {Gte, false}, "<=": {Lte, false},
	"~": {Regex, false}, "!~": {Regex, true},
}

// symbolOf returns the symbol of an operator in the query-string form. ok is false if it has none.
func symbolOf(op Op, negated bool) (symbol string, ok bool) {
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

// foreignSymbols maps symbols of other languages to symbols of the query-string form.
var foreignSymbols = map[string]string{
	"==": "=", "===": "=", ":": "=", ":=": "=",
	"!==": "!=", "=!": "!=", "<>": "!=", "!": "!=", "!:": "!=", "~!": "!~",
	"=~": "~", "~=": "~", "~~": "~", "!=~": "!~", "!~=": "!~",
	"=>": ">=", "=<": "<=", ">>": ">", "<<": "<", ">==": ">=", "<==": "<=",
}

// foreignWords maps names of operators in other languages, including the JSON form, to symbols of the query-string
// form.
var foreignWords = map[string]string{
	"eq": "=", "equal": "=", "equals": "=", "ne": "!=", "neq": "!=",
	"gt": ">", "lt": "<", "gte": ">=", "lte": "<=", "ge": ">=", "le": "<=",
	"regex": "~", "regexp": "~", "matches": "~", "match": "~", "rlike": "~", "contains": "~", "includes": "~",
}

// jsonOperators maps the operators of the JSON form.
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

// cutNegation removes one not, in the spellings of this and other languages, from the start of word. A guess that lost
// the negation would turn the filter into its opposite.
func cutNegation(word string) (rest string, negated bool) {
	for _, not := range []string{"not", "!", "n"} {
		if rest, ok := strings.CutPrefix(word, not); ok {
			return strings.TrimLeft(rest, " "), true
		}
	}
	return word, false
}

// wordOperators maps the operators of the query-string form that are words, in lower case.
var wordOperators = map[string]Op{"between": Between, "in": In, "is": Is}

// guessWordOperator returns the operator that an unknown word of the query-string form was meant to be: the name of an
// operator in another language, an operator with a not joined to it, or a misspelt operator.
func guessWordOperator(word string) (operator, bool) {
	negated := false
	for {
		if op, ok := wordOperators[word]; ok {
			return operator{op, negated}, true
		}
		if symbol, ok := foreignWords[word]; ok {
			op := symbols[symbol]
			return operator{op.op, op.negated != negated}, true
		}
		rest, cut := cutNegation(word)
		if !cut {
			break
		}
		if negated {
			return operator{}, false
		}
		word, negated = rest, true
	}
	if near := Nearest(word, []string{"between", "in", "is"}); near != "" && len(word) > 2 {
		return operator{wordOperators[near], negated}, true
	}
	return operator{}, false
}

// text returns the operator in the query-string form, or "" if it has no spelling of its own, like not >, where not is
// written before the field.
func (o operator) text() string {
	if _, word := wordOperators[o.op.String()]; word {
		return jsonOperator(o.op, o.negated)
	}
	text, _ := symbolOf(o.op, o.negated)
	return text
}

// guessJSONOperator returns the operator that an unknown operator of the JSON form was meant to be. The text may be an
// operator in another case or with other spaces, a symbol, a name from another language, or a misspelt operator. It
// does not guess if there are two negations.
func guessJSONOperator(text string) (string, bool) {
	plain := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '_' || r == '-'
	}), " ")
	negated := false
	for {
		if meant, ok := foreignOperator(plain); ok {
			if meant.negated && negated {
				return "", false
			}
			return jsonOperator(meant.op, meant.negated || negated), true
		}
		rest, cut := cutNegation(plain)
		if !cut {
			break
		}
		if negated {
			return "", false
		}
		plain, negated = rest, true
	}
	if near := Nearest(plain, jsonOperatorNames); near != "" {
		return jsonOperator(jsonOperators[near].op, negated), true
	}
	return "", false
}

// foreignOperator returns the operator for a symbol, a name from another language or an operator of the JSON form.
func foreignOperator(text string) (operator, bool) {
	if op, ok := jsonOperators[text]; ok {
		return op, true
	}
	if symbol, ok := foreignWords[text]; ok {
		text = symbol
	}
	if symbol, ok := foreignSymbols[text]; ok {
		text = symbol
	}
	op, ok := symbols[text]
	return op, ok
}
