package sqlgen

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// athena is the dialect of Athena engine version 3: Trino's dialect, within Athena's limits.
type athena struct{}

const (
	athenaMaxBytes   = 262_144 // bytes of SQL
	athenaMaxArray   = 254     // elements of an ARRAY constructor
	athenaMaxPattern = 4_096   // bytes of a pattern that combines several
)

func (athena) maxBytes() int { return athenaMaxBytes }

// The number of expressions that the compiler accepts, measured on Trino 476 for the kinds whose number is unlimited:
// conditions on different keys, and on all members of a structure. Between 700 and 800 positive expressions ran, and
// between 800 and 1,000 did not. Negated ones compile to more code: 550 ran and 600 did not.
const (
	athenaMaxExpressions = 700
	athenaMaxNegated     = 550
)

// maxExpressions weighs the two limits in proportion if a query has both kinds.
func (athena) maxExpressions(expressions, negated int) int {
	load := float64(expressions-negated)/athenaMaxExpressions + float64(negated)/athenaMaxNegated
	if load <= 1 {
		return expressions
	}
	return int(float64(expressions) / load)
}

// athenaMaxBranches is the number of branches that Trino 476 planned in a measurement, which had 27 years of days in
// Berlin. The time for planning grows faster than the number of branches.
const athenaMaxBranches = 82

func (athena) maxBranches() int { return athenaMaxBranches }

// quotient uses /, which divides integers without a remainder.
func (athena) quotient(a, b fragment) fragment { return a + " / " + b }

// whole changes nothing: a sum of BIGINTs is a BIGINT.
func (athena) whole(sum fragment) fragment { return sum }

// total converts the values, because a sum of BIGINTs that overflows is an error.
func (athena) total(column fragment) fragment {
	return "coalesce(sum(CAST(" + column + " AS decimal(38, 0))), 0)"
}

func (athena) limited(total fragment) fragment {
	const low, high fragment = "DECIMAL '-9223372036854775808'", "DECIMAL '9223372036854775807'"
	return "CAST(least(greatest(" + total + ", " + low + "), " + high + ") AS bigint)"
}

func (athena) countIf(condition fragment) fragment { return "count_if(" + condition + ")" }

// pattern translates the pattern for Joni, which backtracks and reads RE2 syntax differently.
func (athena) pattern(r *pattern.Regex) (text, warning string) { return pattern.Joni(r.Canonical) }

// foundAny combines the patterns into a few large ones, as their alternatives: a constant pattern is compiled once,
// but a pattern in an array is compiled for every record.
func (athena) foundAny(p *printer, text fragment, patterns []string) fragment {
	var parts []fragment
	for len(patterns) > 0 {
		n, size := 1, len(patterns[0])
		for n < len(patterns) && size+len(patterns[n]) <= athenaMaxPattern {
			size += len(patterns[n])
			n++
		}
		parts = append(parts, "regexp_like("+text+", "+p.text(alternatives(patterns[:n]))+")")
		patterns = patterns[n:]
	}
	return either(parts)
}

// alternatives returns one pattern that is found wherever any of the given patterns is.
func alternatives(patterns []string) string {
	if len(patterns) == 1 {
		return patterns[0]
	}
	return "(?:" + strings.Join(patterns, ")|(?:") + ")"
}

// inList looks the value up in a map of the values of the list, which is made once for a query. Any expression may contain this
// query, unlike a join.
func (athena) inList(p *printer, value fragment, t query.InList) fragment {
	from := " FROM " + name(lake.ListTable) + " WHERE " + name(lake.ListKey) + " = " + p.text(t.Digest)
	has := func(text fragment) fragment {
		return "element_at((SELECT map_agg(" + name(lake.ListColumn) + ", true)" + from + "), " + text + ") IS NOT NULL"
	}
	switch t.Kind {
	case query.IntegerList:
		return has("CAST(" + value + " AS varchar)")
	case query.TextList, query.SystemList: // the objects of lists have numbers of systems with AS, as records do
		return has(value)
	}
	if len(t.NetworkSizes()) == 0 {
		return has(value)
	}
	isNetwork := " AND strpos(" + name(lake.ListColumn) + ", '/') > 0"
	key := addressBits("split_part("+name(lake.ListColumn)+", '/', 1)") + " || '/' || split_part(" + name(lake.ListColumn) + ", '/', 2)"
	networks := "SELECT map_agg(" + key + ", true)" + from + isNetwork
	return either([]fragment{both([]fragment{"strpos(" + value + ", '/') = 0", has(value)}), p.inListedNetworks(value, t, networks)})
}

// addressBits is the 128 bits of an address, as 32 hexadecimal digits. An address of IPv4 has the bits of ::ffff:0:0/96 before it.
func addressBits(text fragment) fragment {
	return "to_hex(CAST(CAST(" + text + " AS ipaddress) AS varbinary))"
}

// inListedNetworks looks up the network around an address of each size that the list has in a map, whose keys are the bits
// of the network and its size. Trino takes many texts for addresses, so it gets only those that are canonical.
func (p *printer) inListedNetworks(value fragment, t query.InList, networks fragment) fragment {
	var four, six []fragment
	for _, size := range t.NetworkSizes() {
		masked, of := &six, size.Bits()
		if size.Addr().Is4() {
			masked, of = &four, size.Bits()+96
		}
		key := p.firstBits(addressBits(value), of) + " || " + p.text(fmt.Sprintf("/%d", size.Bits()))
		*masked = append(*masked, "element_at(("+networks+"), "+key+") IS NOT NULL")
	}
	cases := fragment("CASE")
	for _, family := range []struct {
		all   netip.Prefix
		found []fragment
	}{{everyFour, four}, {everySix, six}} {
		if len(family.found) > 0 {
			isAddress := p.inNetworks(value, query.NetworkIn{Networks: []netip.Prefix{family.all}})
			cases += " WHEN " + isAddress + " THEN " + either(family.found)
		}
	}
	return cases + " ELSE false END"
}

// firstBits is the first bits of 32 hexadecimal digits, with zeros after them.
func (p *printer) firstBits(digits fragment, bits int) fragment {
	const all = "0123456789ABCDEF"
	first := "substr(" + digits + ", 1, " + integer(int64(bits/4)) + ")"
	if rest := bits % 4; rest > 0 {
		masked := []byte(all)
		for i := range masked {
			masked[i] = all[i&^(15>>rest)]
		}
		first += " || translate(substr(" + digits + ", " + integer(int64(bits/4+1)) + ", 1), " + p.text(all) + ", " + p.text(string(masked)) + ")"
	}
	return "rpad(" + first + ", 32, '0')"
}

// numeric anchors the pattern, because regexp_like searches. The end is \z, because $ also matches before a final line
// break.
func (athena) numeric(p *printer, text fragment) fragment {
	return "regexp_like(" + text + ", " + p.text(`\A(?:`+catalog.NumericPattern+`)\z`) + ")"
}

func (athena) anyElement(list, condition fragment) fragment {
	return "any_match(" + list + ", " + element + " -> " + condition + ")"
}

func (a athena) overlaps(list fragment, values []fragment) fragment {
	if len(values) == 1 {
		return "contains(" + list + ", " + values[0] + ")"
	}
	return a.eachArray(values, func(chunk fragment) fragment { return "arrays_overlap(" + list + ", " + chunk + ")" })
}

// fewTests is the largest number of tests that are written as separate expressions. More become the elements of an
// array, because the compiler accepts thousands of array elements but not hundreds of expressions. Few do not, because
// patterns in an array are compiled for every record.
const fewTests = 8

// demands writes more than fewTests tests as the elements of an array, and one expression for all of them.
func (a athena) demands(p *printer, t query.Term, tests []query.Test) (all fragment, ok bool) {
	if len(tests) <= fewTests {
		return "", false
	}
	rows := make([]fragment, len(tests))
	demand := t
	for i, test := range tests {
		switch test := test.(type) {
		case query.TextIn:
			rows[i] = array(p.texts(test.Values))
		case query.IntIn:
			rows[i] = array(integers(test.Values))
		case query.Matches:
			rows[i] = p.text(alternatives(p.patterns(test.Patterns)))
		case query.PairIn:
			rows[i] = array(p.pairRows(test.Pairs))
		default:
			return "", false
		}
		demand.Test = test
	}
	parts := make([]fragment, 0, len(rows)/athenaMaxArray+1)
	for chunk := range slices.Chunk(rows, athenaMaxArray) {
		parts = append(parts, "all_match("+array(chunk)+", d -> "+p.meets(demand)+")")
	}
	return both(parts), true
}

// meets is true if some value at the term's source passes the test d. In the SQL, d is an array of values, one of
// which the value must be, or a pattern, which the value must contain.
func (p *printer) meets(t query.Term) fragment {
	column := name(t.Source.Column)
	value := element
	switch t.Source.Layout {
	case catalog.Scalar:
		return passesDemand(scalar(t.Source, t.Test), t.Test)
	case catalog.Structs:
		value += "." + name(t.Source.Member)
	case catalog.Pairs:
		value += ".value"
	}
	condition := passesDemand(value, t.Test)
	if t.Key != nil {
		condition = p.keyed(t) + " AND " + condition
	}
	return p.dialect.anyElement(column, condition)
}

func passesDemand(value fragment, test query.Test) fragment {
	switch test := test.(type) {
	case query.Matches:
		return "regexp_like(" + value + ", d)"
	case query.PairIn:
		pairName := element + ".name"
		if test.Fold {
			pairName = foldedName
		}
		return "contains(d, ROW(" + pairName + ", " + value + "))"
	}
	return "contains(d, " + value + ")"
}

// pairRows returns name/value pairs as rows.
func (p *printer) pairRows(pairs []lake.Pair) []fragment {
	out := make([]fragment, len(pairs))
	for i, pair := range pairs {
		out[i] = "ROW(" + p.text(pair.Name) + ", " + p.text(pair.Value) + ")"
	}
	return out
}

func array(values []fragment) fragment { return "ARRAY[" + join(values, ", ") + "]" }

func (athena) bytes(text fragment) fragment { return "length(to_utf8(" + text + "))" }

// sha256 converts the text to bytes and the hash to text. to_hex writes upper-case digits.
func (athena) sha256(text fragment) fragment { return "lower(to_hex(sha256(to_utf8(" + text + "))))" }

func (athena) length(list fragment) fragment { return "cardinality(" + list + ")" }

// last uses element_at, which is NULL out of bounds. The subscript operator would be an error.
func (athena) last(list fragment) fragment { return "element_at(" + list + ", -1)" }

// eachArray splits the values into arrays of at most athenaMaxArray elements, writes the condition for each array and
// joins the conditions with OR.
func (athena) eachArray(values []fragment, condition func(list fragment) fragment) fragment {
	var parts []fragment
	for chunk := range slices.Chunk(values, athenaMaxArray) {
		parts = append(parts, condition(array(chunk)))
	}
	return either(parts)
}

func (athena) filtered(list, condition fragment) fragment {
	return "filter(" + list + ", " + element + " -> " + condition + ")"
}

func (athena) mapped(list, value fragment) fragment {
	return "transform(" + list + ", " + element + " -> " + value + ")"
}

// withElement leaves NULL out, because array_distinct keeps it. A list concatenated with NULL is NULL.
func (athena) withElement(list, value fragment) fragment {
	list = "coalesce(" + list + ", ARRAY[])"
	return "IF(" + value + " IS NULL, " + list + ", " + list + " || " + value + ")"
}

func (athena) spaced(list fragment) fragment { return "array_join(" + list + ", ' ')" }

func (athena) different(list fragment) fragment { return "array_distinct(" + list + ")" }

func (athena) orNull(list fragment) fragment {
	return "coalesce(nullif(" + list + ", ARRAY[]), ARRAY[NULL])"
}

// gathered counts the records with each integer.
func (athena) gathered(rounded fragment) fragment { return "histogram(" + rounded + ")" }

// atRank adds up the counts, from the smallest integer on, until they reach the rank.
func (athena) atRank(gathered, count fragment, i int) fragment {
	const state fragment = " AS ROW(upto bigint, found bigint))"
	reached := "100 * s.upto >= " + integer(query.Percents[i]) + " * " + count
	next := "CAST(ROW(s.upto + e[2], e[1])" + state
	return "IF(" + count + " > 0, reduce(array_sort(map_entries(" + gathered + ")), CAST(ROW(0, 0)" + state +
		", (s, e) -> IF(" + reached + ", s, " + next + "), s -> s.found))"
}

func (athena) commonest(text fragment) fragment {
	return "element_at(array_sort(transform(map_entries(histogram(" + text + ")), e -> ROW(-e[2], e[1]))), 1)[2]"
}
