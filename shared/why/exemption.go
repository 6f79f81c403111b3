package why

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/orrery/orrery/shared/terraform"
)

// Exemption is the smallest change of settings that lets such requests pass.
type Exemption struct {
	Text  string          `json:"text" doc:"What the exemption does"`
	Parts []ExemptionPart `json:"parts" doc:"The changes, in order"`
}

// ExemptionPart is a part of an exemption, in two forms that mean the same.
type ExemptionPart struct {
	To        string `json:"to" doc:"The setting to change" example:"content filter profile cf1"`
	JSON      string `json:"json" doc:"The JSON that the API of the gateway takes: a whole global filter, or members to add to a profile or rule"`
	Terraform string `json:"terraform" doc:"The Terraform code: a resource, or a block or attribute to add to the existing resource"`
}

// exemption returns the exemption for a request. It is nil if no rule acted, or the rule has no exemptions: the steps
// have then what to do instead.
func exemption(r Record) *Exemption {
	by := reasonOf(r)
	if by == nil {
		return nil
	}
	switch by.initiator {
	case byContentFilter:
		return signatureExemption(r, by)
	case byACL:
		return profileExemption(r, by)
	case byRateLimit:
		return limitExemption(r, by)
	case byRestriction, byGlobalFilter, byDynamicRule, byAWSWAF:
	}
	return nil
}

// entry is an entry of a content filter profile, which exempts a part of the request from signatures. A part whose
// value matches Value is not checked at all, so Value matches the empty text only.
type entry struct {
	Parameter string   `json:"parameter,omitempty"`
	Value     string   `json:"value,omitempty"`
	Path      string   `json:"path,omitempty"`
	Domain    string   `json:"domain,omitempty"`
	Ignored   []string `json:"ignore_cf_rule_tags"`
	Active    bool     `json:"active"`
}

// signatureExemption exempts one part of the request from one signature, or from its category if its id is not known.
func signatureExemption(r Record, by *reason) *Exemption {
	one := r.trigger("cf_triggers")
	section, name := one.text("section"), one.text("name")
	if section == "" {
		section = by.place
	}
	var ignored []string
	if id := one.text("ruleid"); id != "" {
		ignored = []string{"cf-rule-id:" + id}
	} else {
		for _, tag := range by.causes { // a risk has signatures of all kinds
			if !strings.HasPrefix(tag, "cf-rule-risk:") {
				ignored = append(ignored, tag)
			}
		}
	}
	e, block, list := entry{Ignored: ignored, Active: true}, section, "names"
	switch {
	case len(ignored) == 0:
		return nil
	case section == "path" || section == "uri":
		e.Path, e.Domain, block, list = r.text("path"), r.text("host"), "url", "text"
	case name == "" || sectionWords[section] == "":
		return nil
	default:
		e.Parameter, e.Value = name, "^$"
	}
	var attributes []terraform.Attribute
	if e.Parameter != "" {
		attributes = append(attributes, terraform.Set("parameter", e.Parameter), terraform.Set("value", e.Value))
	} else {
		attributes = append(attributes, terraform.Set("path", e.Path), terraform.Set("domain", e.Domain))
	}
	attributes = append(attributes, terraform.Set("ignore_cf_rule_tags", e.Ignored), terraform.Set("active", true))
	profile, _, _ := strings.Cut(by.rule, " ")
	return &Exemption{
		Text: fmt.Sprintf("It exempts the %s from %s, and from nothing else.", partOf(one, by.place), listed(ignored)),
		Parts: []ExemptionPart{{
			To:        "content filter profile " + profile,
			JSON:      jsonOf(map[string]any{block: map[string]any{list: []entry{e}}}),
			Terraform: terraform.Block(block, nil, terraform.Block(list, attributes)),
		}},
	}
}

// profileExemption lets requests for the path pass an access control profile. In the order of the gateway, what is
// allowed comes before what is denied, and what is denied by force before both.
func profileExemption(r Record, by *reason) *Exemption {
	list := "allow"
	switch {
	case strings.Contains(strings.ToLower(by.verb), "force"), r.text("path") == "":
		return nil
	case by.bot():
		list = "allow_bot"
	}
	mark, tag := markPath(r, by.rule)
	return &Exemption{
		Text: fmt.Sprintf("It lets all requests for the path pass access control profile %s.", by.rule),
		Parts: []ExemptionPart{mark, {
			To:        "access control profile " + by.rule,
			JSON:      jsonOf(map[string][]string{list: {tag}}),
			Terraform: terraform.Attributes([]terraform.Attribute{terraform.Set(list, []string{tag})}),
		}},
	}
}

// limitExemption lets requests for the path pass a rate limit uncounted.
func limitExemption(r Record, by *reason) *Exemption {
	if r.text("path") == "" {
		return nil
	}
	mark, tag := markPath(r, by.rule)
	return &Exemption{
		Text: fmt.Sprintf("It leaves all requests for the path out of rate limit “%s”.", by.rule),
		Parts: []ExemptionPart{mark, {
			To:   "rate limit “" + by.rule + "”",
			JSON: jsonOf(map[string]any{"exclude": tagFilter{"OR", []string{tag}}}),
			Terraform: terraform.Block("exclude", []terraform.Attribute{
				terraform.Set("relation", "OR"), terraform.Set("tags", []string{tag}),
			}),
		}},
	}
}

// tagFilter selects requests by their tags.
type tagFilter struct {
	Relation string   `json:"relation"`
	Tags     []string `json:"tags"`
}

// globalFilter is a global filter of the gateway.
type globalFilter struct {
	Name   string   `json:"name"`
	Active bool     `json:"active"`
	Action string   `json:"action"`
	Tags   []string `json:"tags"`
	Rule   struct {
		Relation string      `json:"relation"`
		Entry    []condition `json:"entry"`
	} `json:"rule"`
}

// condition is an entry of a global filter.
type condition struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// markPath returns a global filter that puts a tag on all requests for the path of a request, and the tag.
func markPath(r Record, rule string) (ExemptionPart, string) {
	tag := "exempt-" + slug(rule+" "+r.text("path"))
	f := globalFilter{Name: "Exempt from " + rule, Active: true, Action: "action-monitor", Tags: []string{tag}}
	f.Rule.Relation = "AND"
	f.Rule.Entry = []condition{{"path", "^" + regexp.QuoteMeta(r.text("path")) + "$"}}
	if host := r.text("host"); host != "" {
		f.Rule.Entry = append(f.Rule.Entry, condition{"authority", "^" + regexp.QuoteMeta(host) + "$"})
	}
	var entries []string
	for _, one := range f.Rule.Entry {
		entries = append(entries, terraform.Block("entry", []terraform.Attribute{
			terraform.Set("type", one.Type), terraform.Set("value", one.Value),
		}))
	}
	return ExemptionPart{
		To:   "a new global filter",
		JSON: jsonOf(f),
		Terraform: terraform.Block(terraform.Resource("link11waap_global_filter", tag), []terraform.Attribute{
			terraform.Set("config_id", terraform.Config), terraform.Set("name", f.Name), terraform.Set("active", f.Active),
			terraform.Set("action", f.Action), terraform.Set("tags", f.Tags),
		}, terraform.Block("rule", []terraform.Attribute{terraform.Set("relation", f.Rule.Relation)}, entries...)),
	}, tag
}

var notInSlugs = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns a text as a part of a tag: small letters, digits and dashes, at most 60.
func slug(text string) string {
	text = notInSlugs.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 60)], "-")
}

func jsonOf(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		panic(fmt.Sprintf("why: an exemption is not JSON: %v", err))
	}
	return b.String()
}
