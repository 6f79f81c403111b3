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
	"eq": "=", "equal": "=", "equals": "=", "ne": "!=", "neq": "!=", "gt": ">", "lt": "<", "gte": ">=", "lte": "<=", "ge": ">=", "le": "<=",
	"regex": "~", "regexp": "~", "matches": "~", "match": "~", "rlike": "~", "contains": "~", "includes": "~",
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

// cutNegation takes one not, in the spellings of other languages, from before an operator. A guess that lost
// it would turn the filter round.
func cutNegation(word string) (rest string, negated bool) {
	for _, not := range []string{"not", "!", "n"} {
		if rest, ok := strings.CutPrefix(word, not); ok {
			return strings.TrimLeft(rest, " "), true
		}
	}
	return word, false
}

// wordOperators are the operators of the query-string form that are words, in lower case.
var wordOperators = map[string]Op{"between": Between, "in": In, "is": Is}

// guessWordOperator finds what an unknown word of the query-string form was meant to be: the name of an operator
// elsewhere, one with its not run together with it, or a slip of the finger.
func guessWordOperator(word string) (operator, bool) {
	negated := false
	for {
		if op, ok := wordOperators[word]; ok {
			return operator{op, negated}, true
		}
		if symbol, ok := words[word]; ok {
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

// text spells the operator in the query-string form; not > has no spelling: its not stands before the field.
func (o operator) text() string {
	if _, word := wordOperators[o.op.String()]; word {
		return jsonOperator(o.op, o.negated)
	}
	text, _ := symbolOf(o.op, o.negated)
	return text
}

// guessJSONOperator finds what an unknown operator of the JSON form was meant to be: another case or
// spacing, a symbol, a name used elsewhere, or a slip of the finger. Of two negations it says nothing.
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

// foreignOperator is what a symbol, a name used elsewhere or an operator of the JSON form means.
func foreignOperator(text string) (operator, bool) {
	if op, ok := jsonOperators[text]; ok {
		return op, true
	}
	if symbol, ok := words[text]; ok {
		text = symbol
	}
	if symbol, ok := slips[text]; ok {
		text = symbol
	}
	op, ok := symbols[text]
	return op, ok
}
