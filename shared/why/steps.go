package why

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// Step is a step that a reader can take, and what to look at before it.
type Step struct {
	Text    string `json:"text" doc:"A sentence; it names rules and parts of the request, but no values"`
	Filter  string `json:"filter,omitempty" doc:"Conditions of the requests to look at, without a period"`
	Planets bool   `json:"planets,omitempty" doc:"The settings are in a planet"`
}

// steps returns what to do about a request, in the order in which a reader does it.
func steps(r Record) []Step {
	switch r.Result() {
	case Blocked:
		return append(looking(
			Step{Text: "Look at the people whom the same rule stopped. If they did nothing wrong, it is too strict.", Filter: peopleOf(r)},
			Step{Text: "Look at what else the client sent. An attack rarely comes alone.", Filter: clientOf(r)},
		), Step{Text: "If it should have passed: " + remedy(r)})
	case Challenged:
		return challengedSteps(r)
	case Monitored:
		return looking(Step{
			Text:   "Nothing was stopped. Before the rule may block, look at the people among its requests.",
			Filter: peopleOf(r),
		})
	case Refused:
		return refusedSteps(r)
	case Passed:
		if status, _ := r["status"].(float64); !r.judged() && status < 400 {
			return []Step{}
		}
		return looking(Step{
			Text:   "If it was an attack: look at what else the client sent, to find what a rule can go by.",
			Filter: clientOf(r),
		})
	}
	panic(fmt.Sprintf("why: no steps for %q", r.Result()))
}

// looking returns the steps that have requests to look at.
func looking(list ...Step) []Step {
	kept := []Step{}
	for _, one := range list {
		if one.Filter != "" {
			kept = append(kept, one)
		}
	}
	return kept
}

// clientOf returns the conditions of what the client of a request sent.
func clientOf(r Record) string {
	if filter := alike(r, "session"); filter != "" {
		return filter
	}
	return alike(r, "ip")
}

// ruleOf returns the conditions of the requests on which the rule of a request acted. Challenges have no reason, so the
// profile counts.
func ruleOf(r Record) string {
	if id := r.trigger("acl_triggers").text("trigger_id"); r.Result() == Challenged && id != "" && !strings.ContainsRune(id, 0) {
		flag := "challenge"
		if r["ichallenge"] == true {
			flag = "ichallenge"
		}
		return flag + " is true, " + filter.Condition{
			Field: filter.Word{Text: "acl_triggers"}, Key: &filter.Key{Text: "trigger_id", Exact: true}, Op: filter.Eq,
			Values: []filter.Value{{Kind: filter.Text, Text: id, Quoted: true}},
		}.String()
	}
	if filter := alike(r, "reason"); filter != "" {
		return filter
	}
	return alike(r, "monitor_reasons")
}

// peopleOf returns the conditions of the people among the requests on which the rule of a request acted.
func peopleOf(r Record) string {
	filter := ruleOf(r)
	if filter == "" {
		return ""
	}
	return filter + ", human is true"
}

// remedy says what to change so that such a request passes.
func remedy(r Record) string {
	by := readReason(r.text("reason"))
	switch {
	case r.text("reason") == "":
		return "the gateway’s own log may have the reason, at the same time."
	case by == nil:
		return "look for the words of the reason in the settings of the gateway."
	}
	cause := listed(by.causes)
	switch by.initiator {
	case byACL:
		return fmt.Sprintf("let access control profile %s pass the %s %s, or do not set the tag for the client.",
			by.rule, tagWord(len(by.causes)), cause)
	case byContentFilter:
		return fmt.Sprintf("exempt the %s from %s in content filter %s, and nothing else.",
			partOf(r.trigger("cf_triggers"), by.place), cause, by.rule)
	case byRestriction:
		return fmt.Sprintf("raise the limit %s of content filter %s, or exempt the %s.",
			cause, by.rule, partOf(r.trigger("cf_restrict_triggers"), by.place))
	case byGlobalFilter:
		return fmt.Sprintf("take what matched out of global filter %s.", named(by.first(), by.rule))
	case byRateLimit:
		return fmt.Sprintf(
			"raise the threshold of rate limit “%s”. If many clients share an address, let it count them by session.", by.rule)
	case byDynamicRule:
		return fmt.Sprintf("look at what the client did before, which dynamic rule “%s” goes by.", by.rule)
	case byAWSWAF:
		return fmt.Sprintf("let the rule %s of %s only count, or exempt the path from it in the web ACL.", cause, by.rule)
	}
	panic(fmt.Sprintf("why: no remedy for %q", by.initiator))
}

// partOf names the part of the request that a trigger is about: argument q.
func partOf(trigger Record, place string) string {
	section := trigger.text("section")
	if section == "" {
		section = place
	}
	if name := trigger.text("name"); name != "" && name != section {
		return sectionWord(section) + " " + name
	}
	return sectionWord(section)
}

func challengedSteps(r Record) []Step {
	list := looking(Step{
		Text: "See whether the client solved the challenge: then its next requests passed.", Filter: clientOf(r),
	})
	profile := "the access control profile"
	if one := r.trigger("acl_triggers"); one != nil {
		if name := named(one.text("trigger_id"), one.text("trigger_name")); name != "" {
			profile = "access control profile " + name
		}
	}
	list = append(list, Step{
		Text: "If it is a program of yours: it has no browser and cannot solve any. Let " + profile + " not challenge it.",
	})
	if hasPuzzle(r) {
		list = append(list, Step{
			Text: "If people give up: the texts and looks of the puzzle are in the planet.", Planets: true,
		})
	}
	return list
}

func refusedSteps(r Record) []Step {
	path := pathOf(r)
	if path != "" {
		path += ", upstream_status>=400"
	}
	list := looking(Step{
		Text: "See whether the path fails for others, too. Then the fault is not in this request.", Filter: path,
	})
	if status, err := strconv.ParseFloat(textOf(r.lastAttempt()), 64); err == nil && status >= 500 {
		origin := ""
		if addresses := r.texts("upstream_addr"); len(addresses) > 0 {
			origin = " " + last(addresses)
		}
		return append(list, Step{Text: "Look into the log of the origin" + origin + " at this time."})
	}
	return append(list, looking(Step{
		Text: "Look at what else the client asked for. Much that is not there is a scan.", Filter: clientOf(r),
	})...)
}
