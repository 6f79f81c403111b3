package definition

import (
	"bytes"
	"encoding/json"
	"net/mail"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/zone"
)

// Rules are what the operator allows.
type Rules struct {
	Domains      []string // to which mails may be sent, in lower case
	Destinations []string // names of destinations, sorted
	ASCII        bool     // addresses must be ASCII, because what sends the mail does not support SMTPUTF8 (RFC 6531)
}

// members are the names of the members of a body.
var members = []string{
	"title", "filters", "period", "at", "weekday", "tz", "template", "compare", "when", "deliver", "max_bytes", "paused",
}

// Parse reads a definition from JSON. syntax is the syntax of the filter; 0: determined by its first character. The error has
// all mistakes: Problems, or, if there are none, a *query.FilterError.
func Parse(body []byte, syntax filter.Syntax, rules Rules) (Definition, error) {
	return parse(body, syntax, rules, Definition{})
}

// ParsePause reads a body that pauses a report and changes nothing else. Its filter and its destinations are not checked
// again, so a report can be paused when the operator has removed a destination. ok is false if it is another body.
func ParsePause(body []byte, syntax filter.Syntax, old Definition) (d Definition, ok bool) {
	d, err := parse(body, syntax, Rules{}, old)
	old.Paused, old.Reason = true, ""
	return d, err == nil && reflect.DeepEqual(d, old)
}

// parse is Parse, but the title, the filter and the destinations of the definition old are accepted as they are.
func parse(body []byte, syntax filter.Syntax, rules Rules, old Definition) (Definition, error) {
	var p Problems
	found, ok := p.object(nil, body, members)
	if !ok {
		return Definition{}, p
	}
	d := Definition{
		Title:    p.text(found, "title", ""),
		Period:   p.choice(found, "period", Periods, ""),
		TZ:       p.text(found, "tz", DefaultTZ),
		Template: p.choice(found, "template", Templates, Templates[0]),
		Compare:  p.choice(found, "compare", Compares, Compares[0]),
		When:     p.choice(found, "when", Whens, Whens[0]),
		Deliver:  p.destinations(found, rules, old.Deliver),
		Paused:   p.flag(found, "paused"),
		MaxBytes: p.number(found, "max_bytes"),
	}
	if d.Period == "" && found["period"] == nil {
		p.missing("period")
	}
	if utf8.RuneCountInString(d.Title) > MaxTitle {
		p.tooLong(MaxTitle, "title")
	}
	if d.Title != old.Title && strings.ContainsFunc(d.Title, unicode.IsControl) {
		p.control("title")
	}
	if _, err := zone.Load(d.TZ); err != nil {
		p.badZone(d.TZ)
	}
	p.times(found, &d)
	p.combinations(d)
	canonical, err := p.filter(found, syntax, old.Filters)
	d.Filters = canonical
	if len(p) > 0 {
		return Definition{}, p
	}
	return d, err
}

// object reads the members of a JSON object, and reports those that are unknown or repeated.
func (p *Problems) object(loc []any, body []byte, known []string) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	if !json.Valid(body) {
		var value json.RawMessage
		p.notJSON(json.Unmarshal(body, &value))
		return nil, false
	}
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		p.wrongType("an object", loc...)
		return nil, false
	}
	found := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			p.notJSON(err)
			return nil, false
		}
		member := name.(string) // a member begins with its name
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			p.notJSON(err)
			return nil, false
		}
		at := append(slices.Clone(loc), member)
		switch {
		case !slices.Contains(known, member):
			p.unknown(known, at...)
		case found[member] != nil:
			p.repeated(at...)
		default:
			found[member] = value
		}
	}
	return found, true
}

func (p *Problems) text(found map[string]json.RawMessage, name, standard string) string {
	value, given := found[name]
	if !given {
		return standard
	}
	var text string
	switch err := json.Unmarshal(value, &text); {
	case err != nil || value[0] != '"':
		p.wrongType("a string", name)
		return standard
	case strings.TrimSpace(text) == "":
		p.empty(name)
		return standard
	}
	return text
}

func (p *Problems) choice(found map[string]json.RawMessage, name string, values []string, standard string) string {
	text := p.text(found, name, standard)
	if text != standard && !slices.Contains(values, text) {
		p.notOneOf(text, values, name)
		return standard
	}
	return text
}

func (p *Problems) flag(found map[string]json.RawMessage, name string) (flag bool) {
	if value, given := found[name]; given && (json.Unmarshal(value, &flag) != nil || value[0] == 'n') {
		p.wrongType("a boolean", name)
	}
	return flag
}

func (p *Problems) number(found map[string]json.RawMessage, name string) (n int64) {
	value, given := found[name]
	if !given {
		return 0
	}
	if err := json.Unmarshal(value, &n); err != nil || n < 1 {
		p.wrongType("an integer of at least 1", name)
	}
	return n
}

// times checks when the report is made.
func (p *Problems) times(found map[string]json.RawMessage, d *Definition) {
	if d.Period == Hour {
		if found["at"] != nil {
			p.notWithHour("at")
		}
	} else if d.At = p.text(found, "at", DefaultAt); !validTime(d.At) {
		p.badTime(d.At)
	}
	switch {
	case d.Period == Week:
		d.Weekday = p.choice(found, "weekday", Weekdays, Weekdays[0])
	case found["weekday"] != nil && d.Period != "":
		p.weekdayWithout(d.Period)
	}
}

func validTime(text string) bool {
	t, err := time.Parse("15:04", text)
	return err == nil && t.Format("15:04") == text
}

// combinations checks members that depend on others.
func (p *Problems) combinations(d Definition) {
	if d.Period == Hour && d.When != Attacks {
		p.hourAlways()
	}
	if d.Compare == SameWeekday && (d.Period == Week || d.Period == Month) {
		p.sameWeekdayOf(d.Period)
	}
}

// destinations reads the destinations. There may be none. It accepts the destinations in old as they are.
func (p *Problems) destinations(found map[string]json.RawMessage, rules Rules, old []Destination) []Destination {
	value, given := found["deliver"]
	none := []Destination{}
	if !given {
		return none
	}
	var list []json.RawMessage
	switch err := json.Unmarshal(value, &list); {
	case err != nil || value[0] != '[':
		p.wrongType("a list", "deliver")
		return nil
	case len(list) > MaxDestinations:
		p.tooMany(MaxDestinations, "deliver")
		return nil
	}
	var all []Destination
	if json.Unmarshal(value, &all) == nil && reflect.DeepEqual(all, old) {
		return old
	}
	all = none
	for i, one := range list {
		if d, ok := p.destination(i, one, rules); ok {
			all = append(all, d)
		}
	}
	return all
}

func (p *Problems) destination(i int, value json.RawMessage, rules Rules) (d Destination, ok bool) {
	found, ok := p.object([]any{"deliver", i}, value, []string{"mail", "to"})
	if !ok {
		return d, false
	}
	if (found["mail"] == nil) == (found["to"] == nil) {
		p.mailOrTo("deliver", i)
		return d, false
	}
	if to := found["to"]; to != nil {
		if json.Unmarshal(to, &d.To) != nil || to[0] != '"' {
			p.wrongType("a string", "deliver", i, "to")
			return d, false
		}
		if !slices.Contains(rules.Destinations, d.To) {
			p.unknownDestination(d.To, rules.Destinations, "deliver", i, "to")
			return d, false
		}
		return d, true
	}
	if err := json.Unmarshal(found["mail"], &d.Mail); err != nil || len(d.Mail) == 0 {
		p.wrongType("a list of addresses", "deliver", i, "mail")
		return d, false
	}
	if len(d.Mail) > MaxAddresses {
		p.tooMany(MaxAddresses, "deliver", i, "mail")
		return d, false
	}
	for n, address := range d.Mail {
		ok = p.address(address, rules, "deliver", i, "mail", n) && ok
	}
	return d, ok
}

// DomainOf returns the domain of an address, as it is written, and whether it is one of domains, which are in lower
// case.
func DomainOf(address string, domains []string) (domain string, ok bool) {
	domain = address[strings.LastIndexByte(address, '@')+1:]
	return domain, slices.Contains(domains, strings.ToLower(domain))
}

// LowerDomain returns an address with its domain in lower case. AWS compares the domains of receivers with the domains
// of a permission letter by letter.
func LowerDomain(address string) string {
	at := strings.LastIndexByte(address, '@') + 1
	return address[:at] + strings.ToLower(address[at:])
}

// address checks an address, which is without the name of its owner.
func (p *Problems) address(text string, rules Rules, loc ...any) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text {
		p.badAddress(text, loc...)
		return false
	}
	domain, ok := DomainOf(text, rules.Domains)
	switch {
	case !isASCII(domain): // domains of rules are ASCII, but letters such as the Kelvin sign are others in lower case
		p.unicodeDomain(domain, loc...)
	case !ok:
		p.otherDomain(domain, rules.Domains, loc...)
	case rules.ASCII && !isASCII(text):
		p.unicodeAddress(text, loc...)
	default:
		return true
	}
	return false
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// conditions returns the text of a filter, which is a JSON string or the filter itself, and false for all else.
func conditions(value json.RawMessage) (text string, ok bool) {
	switch value[0] {
	case '"':
		ok = json.Unmarshal(value, &text) == nil
		return text, ok
	case '{', '[':
		return string(value), true
	}
	return "", false
}

// filter returns the canonical filter, which has no period. The filter old is accepted as it is.
func (p *Problems) filter(found map[string]json.RawMessage, syntax filter.Syntax, old string) (string, error) {
	value, given := found["filters"]
	if !given {
		return "", nil
	}
	text, ok := conditions(value)
	if !ok {
		p.wrongType("a string, an object or a list", "filters")
		return "", nil
	}
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	if text == old {
		return old, nil
	}
	f := syntax.Parse(text)
	bound, err := query.BindConditions(f)
	if err != nil {
		return "", err
	}
	if first := bound.Conditions[0]; first.Field.Text == "timestamp" && first.Op == filter.Between && !first.Negated {
		p.hasPeriod()
		return "", nil
	}
	return filter.Format(bound), nil
}
