package why

import (
	"fmt"
	"strings"
)

// sentence returns the sentence that says what happened to a request, and why.
func sentence(r Record) string {
	switch r.Result() {
	case Blocked:
		return blockedSentence(r)
	case Challenged:
		return challengedSentence(r)
	case Monitored:
		return monitoredSentence(r)
	case Refused:
		return fmt.Sprintf("It passed, and the origin refused it with the status %s.", textOf(r.lastAttempt()))
	}
	switch {
	case !r.judged():
		return "The log does not say how the request was judged."
	case r.reachedOrigin():
		return "It passed and the origin answered it."
	}
	return "It passed."
}

func blockedSentence(r Record) string {
	end := ""
	if !r.reachedOrigin() {
		end = " The origin never saw it."
	}
	text := r.text("reason")
	known := readReason(text)
	switch {
	case text == "":
		return "It was blocked, and the log gives no reason." + end
	case known == nil:
		return "It was blocked: " + text + "." + end
	}
	return actSentence(known, r, "blocked") + end
}

// actSentence says which rule acted and what caused it.
func actSentence(by *reason, r Record, verb string) string {
	cause, rule := listed(by.causes), by.rule
	switch by.initiator {
	case byACL:
		bot := ""
		if by.bot() {
			bot = " as a bot"
		}
		return fmt.Sprintf("Access control profile %s %s it%s, because it carries the %s %s.",
			named(rule, triggerName(r, "acl_triggers", rule)), verb, bot, tagWord(len(by.causes)), cause)
	case byContentFilter:
		return fmt.Sprintf("Content filter %s %s it: %s matched %s.", rule, verb, matchedText(r, "cf_triggers", by.place), cause)
	case byRestriction:
		at := ""
		if one := r.trigger("cf_restrict_triggers"); one.text("name") != "" {
			at = " at " + one.text("name")
		}
		return fmt.Sprintf("Content filter %s %s it: its %s exceed the limit %s%s.", rule, verb, sectionPlural(by.place), cause, at)
	case byGlobalFilter:
		return fmt.Sprintf("Global filter %s %s it, because %s matches.",
			named(by.first(), rule), verb, matchedText(r, "gf_triggers", by.place))
	case byRateLimit:
		return fmt.Sprintf("Rate limit “%s” %s it: the client is over the limit%s.", rule, verb, limitText(r, " requests"))
	case byDynamicRule:
		return fmt.Sprintf("Dynamic rule %s %s it, because of what the client did before.", named(by.first(), rule), verb)
	case byAWSWAF:
		return fmt.Sprintf("AWS WAF %s it: the rule %s of %s matched.", verb, cause, rule)
	}
	panic(fmt.Sprintf("why: no sentence for %q", by.initiator))
}

// limitText returns " of 20" and the unit, or "" if the record does not have the threshold.
func limitText(r Record, unit string) string {
	for _, one := range r.triggers("rl_triggers") {
		if threshold, ok := one["threshold"].(float64); ok {
			return " of " + textOf(threshold) + unit
		}
	}
	return ""
}

func challengedSentence(r Record) string {
	how := "The client’s browser had to prove itself"
	if hasPuzzle(r) {
		how = "The client had to solve a puzzle"
	}
	one := r.trigger("acl_triggers")
	if one == nil {
		return how + " before the request could pass."
	}
	tags := one.texts("tags")
	return fmt.Sprintf("%s, because access control profile %s challenges requests with the %s %s.",
		how, named(one.text("trigger_id"), one.text("trigger_name")), tagWord(len(tags)), listed(tags))
}

// hasPuzzle reports whether a person had to solve the challenge of a request.
func hasPuzzle(r Record) bool {
	return r.text("challenge_type") == "interactive" || r["ichallenge"] == true
}

func monitoredSentence(r Record) string {
	texts := r.texts("monitor_reasons")
	if len(texts) == 0 {
		return "It passed and was recorded by a rule that only monitors."
	}
	known := readReason(texts[0])
	if known == nil {
		return "It passed: " + strings.Join(texts, "; ") + "."
	}
	more := ""
	switch others := len(texts) - 1; {
	case others == 1:
		more = " 1 more rule matched."
	case others > 1:
		more = fmt.Sprintf(" %d more rules matched.", others)
	}
	return "It passed. " + actSentence(known, r, "would have blocked") + more
}

// matchedText names the first match of a field: “' OR 1=1” in argument q.
func matchedText(r Record, field, place string) string {
	one := r.trigger(field)
	section, value := one.text("section"), one.text("value")
	if section == "" {
		section = place
	}
	if value == "" {
		value = one.text("matched")
	}
	where := "its " + sectionWord(section)
	if name := one.text("name"); name != "" && name != section {
		where = sectionWord(section) + " " + name
	}
	if value == "" {
		return where
	}
	return "“" + value + "” in " + where
}

// triggerName returns the name of the rule with an id, or "".
func triggerName(r Record, field, id string) string {
	for _, one := range r.triggers(field) {
		if one.text("trigger_id") == id {
			return one.text("trigger_name")
		}
	}
	return ""
}

// named returns a rule as acl1 “Default”.
func named(id, name string) string {
	switch {
	case name == "" || name == id:
		return id
	case id == "":
		return "“" + name + "”"
	}
	return id + " “" + name + "”"
}

// listed returns texts as a, b and c.
func listed(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	end := len(texts) - 1
	return strings.Join(texts[:end], ", ") + " and " + texts[end]
}

func tagWord(n int) string {
	if n == 1 {
		return "tag"
	}
	return "tags"
}
