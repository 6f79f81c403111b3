package whatif

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/terraform"
	"github.com/orrery/orrery/shared/wording"
)

// Form is a part of a rule as the gateway has it, in three forms that mean the same.
type Form struct {
	To        string // what it adds
	JSON      string // as the API of the gateway has it
	Terraform string // a resource
	Curl      string // the command that sends JSON to the API
}

// Forms returns the parts of the rule as the gateway has them, in the order in which they are added: a limit whose
// conditions a rate limit does not have is preceded by a global filter that puts a tag on the requests. There are none
// if the gateway cannot have such conditions or fields.
func (r Rule) Forms() []Form {
	conditions := filter.ParseQueryString(r.Where)
	if r.Limit == nil {
		if r.AnyOf != nil {
			return []Form{globalFilterForm(r.label(), filterActions[r.Action], r.Tags, *r.vendor.Rule)}
		}
		if rule, ok := ruleOf(conditions.Conditions); ok {
			return []Form{globalFilterForm(r.label(), filterActions[r.Action], r.Tags, rule)}
		}
		return nil
	}
	limit, ok := r.limitForm()
	if !ok {
		return nil
	}
	var parts []Form
	include, exclude, ok := tagsOf(conditions.Conditions)
	if r.AnyOf != nil {
		exclude = r.vendor.Exclude
	}
	if !ok {
		rule, ok := ruleOf(conditions.Conditions)
		if !ok {
			return nil
		}
		tag := "counted-" + slug(r.label())
		include, exclude = vendorTags{"OR", []string{tag}}, vendorTags{"OR", []string{}}
		parts = append(parts, globalFilterForm("Counted by "+r.label(), filterActions[Monitor], []string{tag}, rule))
	}
	limit.Include, limit.Exclude = include, exclude
	return append(parts, limit.form())
}

// label returns the name of the rule, or a short text instead of it.
func (r Rule) label() string {
	switch {
	case r.Name != "":
		return r.Name
	case r.AnyOf != nil && r.Where == "":
		return r.short() + " where one of several conditions holds"
	case r.AnyOf != nil:
		return wording.Shown(r.short(), 80) + ", and one of several conditions holds"
	}
	return wording.Shown(r.short(), 80)
}

var notInSlugs = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns a text as an id: small letters, digits and dashes, at most 60.
func slug(text string) string {
	text = notInSlugs.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 60)], "-")
}

// limitForm is a rate limit as the API of the gateway has it.
type limitForm struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"`
	Global    bool                `json:"global"`
	Active    bool                `json:"active"`
	Timeframe int64               `json:"timeframe"`
	Threshold int64               `json:"threshold"`
	TTL       int64               `json:"ttl"`
	Action    string              `json:"action"`
	IsBan     bool                `json:"is_action_ban"`
	Key       []map[string]string `json:"key"`
	PairWith  map[string]string   `json:"pairwith"`
	Include   vendorTags          `json:"include"`
	Exclude   vendorTags          `json:"exclude"`
}

// limitForm returns the limit without its conditions. ok is false if there is none, or the gateway cannot count by its
// fields.
func (r Rule) limitForm() (of limitForm, ok bool) {
	l := r.Limit
	if l == nil {
		return of, false
	}
	of = limitForm{
		ID: slug(r.label()), Name: r.label(), Global: true, Active: true, Timeframe: int64(l.Per / time.Second),
		Threshold: l.Threshold, TTL: int64(l.Ban / time.Second), Action: vendorActions[r.Action], IsBan: l.Ban > 0,
		PairWith: map[string]string{"self": "self"},
	}
	for _, field := range l.Key {
		part, known := partOf(field)
		if !known {
			return of, false
		}
		of.Key = append(of.Key, part)
	}
	if l.With != "" {
		of.PairWith, ok = partOf(l.With)
		return of, ok
	}
	return of, true
}

// form returns the forms of a limit.
func (l limitForm) form() Form {
	attributes := []terraform.Attribute{
		terraform.Set("config_id", terraform.Config), terraform.Set("name", l.Name), terraform.Set("global", l.Global),
		terraform.Set("active", l.Active), terraform.Set("timeframe", l.Timeframe), terraform.Set("threshold", l.Threshold),
		terraform.Set("ttl", l.TTL), terraform.Set("action", l.Action), terraform.Set("is_action_ban", l.IsBan),
	}
	if l.PairWith["self"] == "" {
		attributes = append(attributes, terraform.Set("pairwith", compact(l.PairWith)))
	}
	var blocks []string
	for _, part := range l.Key {
		for kind, name := range part {
			blocks = append(blocks, terraform.Block("key", []terraform.Attribute{terraform.Set(kind, name)}))
		}
	}
	blocks = append(blocks, l.Include.block("include"), l.Exclude.block("exclude"))
	return formOf("a new rate limit", "rate-limit-rules", l.ID, l,
		terraform.Block(terraform.Resource("link11waap_rate_limit_rule", l.ID), attributes, blocks...))
}

func (t vendorTags) block(name string) string {
	return terraform.Block(name, []terraform.Attribute{terraform.Set("relation", t.Relation), terraform.Set("tags", t.Tags)})
}

// formOf returns the forms of a part of a rule, which the API has in a collection under an id.
func formOf(to, collection, id string, value any, block string) Form {
	text := indented(value)
	quoted := strings.ReplaceAll(text, "'", `'\''`)
	return Form{
		To: to, JSON: text, Terraform: block,
		Curl: "curl --fail --request POST \\\n" +
			`  --header "Authorization: Basic $LINK11_API_KEY" --header 'Content-Type: application/json' \` + "\n" +
			`  "https://$LINK11_DOMAIN/api/v4.3/conf/$LINK11_CONFIG/` + collection + "/" + id + `" \` + "\n" +
			"  --data '" + quoted + "'\n",
	}
}

func indented(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic("whatif: encode a rule: " + err.Error()) // texts and numbers can always be encoded
	}
	return strings.TrimSpace(b.String())
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic("whatif: encode a part of a rule: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

// vendorActions are the actions of rate limits, filterActions those of global filters.
var (
	vendorActions = map[string]string{
		Block: "action-rate-limit-block", Challenge: "action-challenge", Monitor: "action-monitor",
	}
	filterActions = map[string]string{
		Block: "action-global-filter-block", Challenge: "action-challenge", Monitor: "action-monitor",
	}
)

// globalFilterForm returns the forms of a global filter.
func globalFilterForm(name, action string, tags []string, rule vendorConditions) Form {
	id := slug(name)
	if len(tags) == 0 {
		tags = []string{id}
	}
	of := struct {
		ID     string           `json:"id"`
		Name   string           `json:"name"`
		Active bool             `json:"active"`
		Action string           `json:"action"`
		Tags   []string         `json:"tags"`
		Rule   vendorConditions `json:"rule"`
	}{id, name, true, action, tags, rule}
	return formOf("a new global filter", "global-filters", id, of,
		terraform.Block(terraform.Resource("link11waap_global_filter", id), []terraform.Attribute{
			terraform.Set("config_id", terraform.Config), terraform.Set("name", name), terraform.Set("active", true),
			terraform.Set("action", action), terraform.Set("tags", tags),
		}, rule.block("rule")))
}

func (c vendorConditions) block(name string) string {
	var inner []string
	for _, e := range c.Entry {
		attributes := []terraform.Attribute{terraform.Set("type", e.Type)}
		if e.Name != "" {
			attributes = append(attributes, terraform.Set("name", e.Name))
		}
		inner = append(inner, terraform.Block("entry", append(attributes, terraform.Set("value", e.text()))))
	}
	for _, g := range c.Group {
		inner = append(inner, g.block("group"))
	}
	return terraform.Block(name, []terraform.Attribute{terraform.Set("relation", c.Relation)}, inner...)
}

// tagsOf returns the tags that select requests. ok is false if there are other conditions, or a limit cannot have such.
func tagsOf(conditions []filter.Condition) (include, exclude vendorTags, ok bool) {
	include, exclude = vendorTags{"OR", []string{"all"}}, vendorTags{"OR", []string{}}
	included := 0 // conditions
	for _, c := range conditions {
		if c.Field.Text != "tags" || c.Op != filter.In && c.Op != filter.Eq {
			return include, exclude, false
		}
		values, ok := textsOf(c)
		switch {
		case !ok:
			return include, exclude, false
		case c.Negated:
			exclude.Tags = append(exclude.Tags, values...)
			continue
		case included == 0:
			include.Tags = values
		case len(values) == 1 && (included > 1 || len(include.Tags) == 1):
			include = vendorTags{"AND", append(include.Tags, values...)}
		default:
			return include, exclude, false
		}
		included++
	}
	return include, exclude, true
}

// textsOf returns the values of a condition. ok is false if they are a list that has a name.
func textsOf(c filter.Condition) (texts []string, ok bool) {
	for _, v := range c.Values {
		if v.Kind == filter.ListName {
			return nil, false
		}
		texts = append(texts, v.Text)
	}
	return texts, len(texts) > 0
}

// ruleOf returns the rule of a global filter that selects the same requests as the conditions. ok is false if there are
// none, or a global filter cannot have one of them.
func ruleOf(conditions []filter.Condition) (rule vendorConditions, ok bool) {
	rule.Relation = "AND"
	for _, c := range conditions {
		entries, ok := entriesOf(c)
		switch {
		case !ok:
			return rule, false
		case len(entries) == 1:
			rule.Entry = append(rule.Entry, entries...)
		default:
			rule.Group = append(rule.Group, vendorConditions{Relation: "OR", Entry: entries})
		}
	}
	return rule, len(conditions) > 0
}

// entriesOf returns the entries of which one must hold so that a condition holds.
func entriesOf(c filter.Condition) (entries []vendorEntry, ok bool) {
	kind, name := typeOf(c.Field.Text), ""
	if c.Key != nil {
		kind, name = c.Field.Text, c.Key.Text
	}
	isPattern := slices.Contains(patterns, kind)
	values, known := textsOf(c)
	switch {
	case !known, kind == "", c.Negated, c.Key != nil && !c.Key.Exact:
		return nil, false
	case c.Op == filter.Regex && !isPattern, c.Op != filter.Regex && c.Op != filter.In && c.Op != filter.Eq:
		return nil, false
	case (kind == "headers" || kind == "cookies") && name == "":
		return nil, false
	}
	for _, value := range values {
		if isPattern && c.Op != filter.Regex {
			value = "^" + regexp.QuoteMeta(value) + "$"
		}
		entries = append(entries, vendorEntry{Type: kind, Name: name, Value: json.RawMessage(compact(value))})
	}
	return entries, true
}

// entryTypes are the types of entries that test a field.
var entryTypes = map[string]string{
	"ip": "ip", "session": "session", "authority": "authority", "path": "path", "method": "method", "country": "country", "asn": "asn",
	"organization": "company", "url": "uri", "query": "query", "geo_region": "region", "tags": "tags",
}

// typeOf returns the type of entries that test a field, or "".
func typeOf(field string) string { return entryTypes[field] }

// partOf returns the part of a key that has a field.
func partOf(field string) (map[string]string, bool) {
	for name, of := range headers {
		if of == field && of != "host" {
			return map[string]string{"headers": name}, true
		}
	}
	if list, err := query.ParseDimensions(field); err == nil && len(list) == 1 && list[0].Key != nil {
		for kind, of := range members {
			if of == list[0].Field.Name {
				return map[string]string{kind: list[0].Key.Name}, true
			}
		}
	}
	names := make([]string, 0, len(attributes))
	for name, of := range attributes {
		if of == field {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, false
	}
	return map[string]string{"attrs": slices.Min(names)}, true
}
