package why

import (
	"regexp"
	"strings"
)

// reason has the parts of the text of a reason, which has the grammar
//
//	reason = action " - " initiator [ " " verb ] " " list " - " rule " - [" place "]" .
//
// as in `Block - acl Deny ["all"] - acl1 - [request]`.
type reason struct {
	initiator initiator
	verb      string   // of acl and aws-waf: Deny, Force Deny …
	causes    []string // the list: tags, members, rules
	rule      string
	place     string // the section of the request
}

// initiator is a stage of the gateway, or AWS WAF.
type initiator string

const (
	byACL           initiator = "acl"
	byRestriction   initiator = "content filter restrict"
	byContentFilter initiator = "content filter"
	byGlobalFilter  initiator = "global filter"
	byRateLimit     initiator = "rate limit"
	byDynamicRule   initiator = "dynamic rule"
	byAWSWAF        initiator = "aws-waf"
)

// initiators lists the initiators; one that begins with another is before it.
var initiators = []initiator{
	byACL, byRestriction, byContentFilter, byGlobalFilter, byRateLimit, byDynamicRule, byAWSWAF,
}

var (
	reasonPattern = regexp.MustCompile(`(?s)^\w+ - (.+?) ?(\[.*?\]) - (.*) - \[([^\]]*)\]$`)
	causePattern  = regexp.MustCompile(`(?s)"((?:[^"\\]|\\.)*)"`)
)

// readReason reads the text of a reason. It returns nil if the text has another grammar.
func readReason(text string) *reason {
	m := reasonPattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for _, by := range initiators {
		verb, ok := strings.CutPrefix(m[1], string(by))
		if !ok || verb != "" && verb[0] != ' ' {
			continue
		}
		r := &reason{initiator: by, verb: strings.TrimSpace(verb), rule: m[3], place: m[4]}
		for _, cause := range causePattern.FindAllStringSubmatch(m[2], -1) {
			r.causes = append(r.causes, cause[1])
		}
		return r
	}
	return nil
}

// reasonOf returns the reason of what happened to a request: of its blocking, or of the first rule that monitored it.
func reasonOf(r Record) *reason {
	switch r.Result() {
	case Blocked:
		return readReason(r.text("reason"))
	case Monitored:
		if texts := r.texts("monitor_reasons"); len(texts) > 0 {
			return readReason(texts[0])
		}
	}
	return nil
}

// bot reports whether the verb of an access control profile is about bots.
func (r *reason) bot() bool { return strings.Contains(strings.ToLower(r.verb), "bot") }

// first returns the first cause, or "".
func (r *reason) first() string {
	if len(r.causes) == 0 {
		return ""
	}
	return r.causes[0]
}

// shortReason returns the text of a reason for little room: rate limit “Login attempts”: login.
func shortReason(text string) string {
	r := readReason(text)
	if r == nil {
		return text
	}
	causes := strings.Join(r.causes, ", ")
	switch r.initiator {
	case byGlobalFilter, byDynamicRule, byRateLimit:
		return string(r.initiator) + " “" + r.rule + "”: " + causes
	}
	bot := ""
	if r.bot() {
		bot = " (bot)"
	}
	return string(r.initiator) + " " + r.rule + bot + ": " + causes
}

// RuleOf returns the rule that the text of a reason names, with its stage, as in "acl acl1". All reasons of a rule have the
// same one. A text with another grammar is a rule of its own.
func RuleOf(text string) string {
	r := readReason(text)
	if r == nil {
		return text
	}
	rule := string(r.initiator) + " " + r.rule
	if r.initiator == byRestriction { // the rule is the profile of the content filter; the causes are the restrictions
		rule += ": " + strings.Join(r.causes, ", ")
	}
	return rule
}
