package whatif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/filter"
)

// The rules of the gateway in JSON, as its API and its Terraform provider have them: rate limits and global filters.
// Members that change nothing about past requests, such as the tags of a limit, are not read.

type vendorRule struct {
	Name   string `json:"name"`
	Active *bool  `json:"active"`
	Action string `json:"action"`

	// of a rate limit
	Timeframe *int64              `json:"timeframe"`
	Threshold *int64              `json:"threshold"`
	TTL       int64               `json:"ttl"`
	IsBan     bool                `json:"is_action_ban"`
	Key       []map[string]string `json:"key"`
	PairWith  map[string]string   `json:"pairwith"`
	Include   vendorTags          `json:"include"`
	Exclude   vendorTags          `json:"exclude"`

	// of a global filter
	Rule *vendorConditions `json:"rule"`
	Tags []string          `json:"tags"`
}

type vendorTags struct {
	Relation string   `json:"relation"`
	Tags     []string `json:"tags"`
}

type vendorConditions struct {
	Relation string             `json:"relation"`
	Entry    []vendorEntry      `json:"entry,omitempty"`
	Group    []vendorConditions `json:"group,omitempty"`
}

type vendorEntry struct {
	Type  string          `json:"type"`
	Name  string          `json:"name,omitempty"`
	Value json.RawMessage `json:"value"` // a string or a number
}

// text returns the value as text.
func (e vendorEntry) text() (value string) {
	if err := json.Unmarshal(e.Value, &value); err != nil {
		value = string(bytes.TrimSpace(e.Value)) // a number
	}
	return value
}

// parseJSON reads a rule of the gateway.
func parseJSON(text []byte) (Rule, error) {
	var of vendorRule
	if err := json.Unmarshal(text, &of); err != nil {
		return Rule{}, &RuleError{"the rule is not JSON as the gateway has it: " + err.Error(), ""}
	}
	r := Rule{Name: of.Name, Action: actionOf(of.Action)}
	switch {
	case of.Active != nil && !*of.Active:
		return r, &RuleError{"the rule is not active, so it would do nothing; leave out active to try it", ""}
	case strings.Contains(of.Action, "skip"):
		return r, &RuleError{"a rule with action-skip stops nothing; rules that let requests pass cannot be tried", ""}
	case of.Threshold != nil || of.Timeframe != nil:
		return r, r.readLimit(of)
	case of.Rule == nil:
		return r, &RuleError{"the rule has neither rule, as a global filter has, nor threshold and timeframe, as a rate limit has", ""}
	}
	s, err := of.Rule.selects("rule")
	r.Where, r.AnyOf, r.Tags = filter.Joined(s.all...), s.anyOf, of.Tags
	if r.AnyOf != nil {
		r.vendor = &of
	}
	return r, err
}

// actionOf returns what an action of the gateway does to a request. Without one it blocks: a person who tries a rule wants
// to know whom it would stop.
func actionOf(action string) string {
	switch {
	case strings.Contains(action, "challenge"):
		return Challenge
	case strings.Contains(action, "monitor"):
		return Monitor
	}
	return Block
}

func (r *Rule) readLimit(of vendorRule) error {
	if of.Threshold == nil || of.Timeframe == nil {
		return &RuleError{"a rate limit needs both threshold and timeframe", ""}
	}
	l := Limit{Threshold: *of.Threshold, Per: time.Duration(*of.Timeframe) * time.Second}
	if of.IsBan {
		l.Ban = time.Duration(of.TTL) * time.Second
	}
	if l.Threshold < 0 || l.Ban < 0 {
		return &RuleError{"threshold and ttl cannot be negative", ""}
	}
	for i, part := range of.Key {
		field, err := fieldOf(part, fmt.Sprintf("key[%d]", i))
		if err != nil {
			return err
		}
		l.Key = append(l.Key, field)
	}
	if len(l.Key) == 0 {
		return &RuleError{"a rate limit needs a key, such as [{\"attrs\": \"ip\"}]", ""}
	}
	if len(of.PairWith) > 0 && of.PairWith["self"] == "" { // a limit that counts requests has {"self": "self"}
		var err error
		if l.With, err = fieldOf(of.PairWith, "pairwith"); err != nil {
			return err
		}
	}
	included := of.Include.conditions(false)
	r.Limit = &l
	if t := of.Exclude; t.isAll() {
		r.Where, r.AnyOf, r.vendor = included, [][]string{t.lacking()}, &of
		return checkLimit(l)
	}
	r.Where = filter.Joined(included, of.Exclude.conditions(true))
	return checkLimit(l)
}

// attributes are the fields that have the attributes of requests.
var attributes = map[string]string{
	"ip": "ip", "session": "session", "authority": "authority", "path": "path", "method": "method", "country": "country",
	"asn": "asn", "company": "organization", "organization": "organization", "host": "host", "uri": "url",
	"query": "query", "region": "geo_region",
}

// headers are the fields that have headers of requests.
var headers = map[string]string{"user-agent": "user_agent", "referer": "referer", "host": "host"}

// members are the fields whose members are parts of keys, by their kinds.
var members = map[string]string{"headers": "headers", "cookies": "cookies", "args": "arguments"}

// fieldOf returns the field that has a part of a key.
func fieldOf(part map[string]string, place string) (string, error) {
	for kind, name := range part {
		switch {
		case len(part) > 1:
		case kind == "attrs" && attributes[name] != "":
			return attributes[name], nil
		case kind == "headers" && headers[strings.ToLower(name)] != "":
			return headers[strings.ToLower(name)], nil
		case members[kind] != "" && name != "":
			if kind == "headers" {
				name = strings.ToLower(name)
			}
			return members[kind] + "[" + filter.Quote(name) + "]", nil
		default:
			return "", &RuleError{fmt.Sprintf("%s: %s %q is not knowable from the log as one value, so requests cannot be "+
				"counted by it; use an attribute such as ip, session, path or country, or a header, cookie or argument by its "+
				"name", place, kind, name), ""}
		}
	}
	return "", &RuleError{place + " has one member, such as {\"attrs\": \"ip\"}", ""}
}

// isAll reports whether requests must have all of several tags.
func (t vendorTags) isAll() bool { return strings.EqualFold(t.Relation, "AND") && len(t.Tags) > 1 }

// conditions returns the conditions of the requests that have the tags, or, negated, that have none of them.
func (t vendorTags) conditions(negated bool) string {
	switch {
	case len(t.Tags) == 0:
		return ""
	case t.isAll() && !negated:
		var all []string
		for _, tag := range t.Tags {
			all = append(all, "tags="+filter.Quote(tag))
		}
		return filter.Joined(all...)
	}
	return inCondition("tags", t.Tags, negated)
}

// lacking returns the conditions of which one holds for requests that do not have all tags.
func (t vendorTags) lacking() (list []string) {
	for _, tag := range t.Tags {
		list = append(list, "tags!="+filter.Quote(tag))
	}
	return list
}

// inCondition is the condition that a field has one of some texts.
func inCondition(field string, values []string, negated bool) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = filter.Quote(v)
	}
	operator := " in ("
	if negated {
		operator = " not in ("
	}
	return field + operator + strings.Join(list, ", ") + ")"
}

// selected is what selects requests: conditions that all must hold, and lists of conditions of which one each must hold.
type selected struct {
	all   []string
	anyOf [][]string
}

// selects returns what the conditions select.
func (c vendorConditions) selects(place string) (s selected, err error) {
	if len(c.Entry)+len(c.Group) == 0 {
		return s, &RuleError{place + " has no entries, so it selects nothing", ""}
	}
	if !strings.EqualFold(c.Relation, "AND") && len(c.Entry)+len(c.Group) > 1 {
		return c.selectsAny(place)
	}
	for i, e := range c.Entry {
		text, err := condition(e.Type, e.Name, []vendorEntry{e}, fmt.Sprintf("%s.entry[%d]", place, i))
		if err != nil {
			return s, err
		}
		s.all = append(s.all, text)
	}
	for i, g := range c.Group {
		inner, err := g.selects(fmt.Sprintf("%s.group[%d]", place, i))
		if err != nil {
			return s, err
		}
		s.all, s.anyOf = append(s.all, inner.all...), append(s.anyOf, inner.anyOf...)
	}
	return s, nil
}

// selectsAny returns that one of the entries or groups holds. Entries of the same type become one condition, as in lists
// of thousands of addresses.
func (c vendorConditions) selectsAny(place string) (s selected, err error) {
	type kind struct{ of, name string }
	var kinds []kind
	entries := map[kind][]vendorEntry{}
	for _, e := range c.Entry {
		k := kind{e.Type, e.Name}
		if entries[k] == nil {
			kinds = append(kinds, k)
		}
		entries[k] = append(entries[k], e)
	}
	var list []string
	for _, k := range kinds {
		text, err := condition(k.of, k.name, entries[k], place)
		if err != nil {
			return s, err
		}
		list = append(list, text)
	}
	for i, g := range c.Group {
		at := fmt.Sprintf("%s.group[%d]", place, i)
		inner, err := g.selects(at)
		switch {
		case err != nil:
			return s, err
		case len(inner.anyOf) == 0:
			list = append(list, filter.Joined(inner.all...))
		case len(inner.anyOf) == 1 && len(inner.all) == 0: // one of one of them
			list = append(list, inner.anyOf[0]...)
		default:
			return s, &RuleError{at + " has groups in which one entry must hold; groups have two levels", ""}
		}
	}
	if len(list) == 1 {
		return selected{all: list}, nil
	}
	return selected{anyOf: [][]string{list}}, nil
}

// patterns are the types whose values are regular expressions.
var patterns = []string{"path", "uri", "method", "query", "headers", "cookies"}

// condition returns the condition that a request has one of the values of entries of the same type.
func condition(kind, name string, of []vendorEntry, place string) (string, error) {
	var values []string
	for _, e := range of {
		value := e.text()
		if value == "" {
			return "", &RuleError{place + " has no value", ""}
		}
		values = append(values, value)
	}
	switch field := attributes[kind]; {
	case kind == "tags":
		return inCondition("tags", values, false), nil
	case (kind == "headers" || kind == "cookies") && name != "":
		return matching(kind+"["+filter.Quote(name)+"]", values), nil
	case kind == "asn":
		for _, v := range values {
			if _, err := strconv.Atoi(v); err != nil {
				return "", &RuleError{fmt.Sprintf("%s: %q is not the number of a network", place, v), ""}
			}
		}
		return inCondition("asn", values, false), nil
	case field == "":
		return "", &RuleError{fmt.Sprintf("%s: conditions of type %q cannot be tried, because the log does not have them", place, kind), ""}
	case slices.Contains(patterns, kind):
		return matching(field, values), nil
	default:
		return inCondition(field, values, false), nil
	}
}

// matching is the condition that one of some regular expressions is found in a field.
func matching(field string, expressions []string) string {
	if len(expressions) == 1 {
		return field + "~" + filter.Quote(expressions[0])
	}
	list := make([]string, len(expressions))
	for i, e := range expressions {
		list[i] = filter.Quote(e)
	}
	return field + "~(" + strings.Join(list, ", ") + ")"
}
