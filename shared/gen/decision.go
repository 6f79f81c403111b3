package gen

import "strconv"

// rule is a rule of the gateway.
type rule struct {
	id      string
	by      counter
	stage   int // the stage at which it stops a request
	status  int // the status with which it stops a request
	reason  string
	tag     string
	trigger string // its entry in the triggers, as JSON
}

// counter is a member of trigger_counters; it determines the field of the trigger.
type counter int

const (
	byACL counter = iota
	byContentFilter
	byRestriction
	byDynamicRule
	byGlobalFilter
	byRateLimit
	counters
)

// triggerFields contains for each counter its member in trigger_counters, the field of its triggers, and whether that
// field is a list.
var triggerFields = [counters]struct {
	member, field string
	list          bool
}{
	byACL:           {"acl", "acl_triggers", false},
	byContentFilter: {"cf", "cf_triggers", false},
	byRestriction:   {"cf_restrict", "cf_restrict_triggers", true},
	byDynamicRule:   {"dr", "dr_triggers", true},
	byGlobalFilter:  {"gf", "gf_triggers", true},
	byRateLimit:     {"rl", "rl_triggers", true},
}

// The rules. Reasons have the grammar of the product, `Block - acl Deny ["all"] - acl1 - [request]`: the result, the
// stage with its action and the tags that caused it, the profile, and the section of the request.
var (
	aclRules = []rule{
		aclRule("acl1", "Default", "Deny", "all", 403),
		aclRule("acl2", "No anonymizers", "Deny", "geo-anon", 470),
		aclRule("acl3", "No scripts", "Deny Bot", "bot", 403),
		aclRule("acl4", "No data centres", "Force Deny", "geo-datacenter", 470),
	}
	challengeRule = aclRule("acl5", "Prove that you are human", "Challenge", "bot", 247)

	globalRules = []rule{
		globalRule("gf1", "Known scanners", "headers", "user-agent", "sqlmap", 471),
		globalRule("gf2", "Threat feed", "ip", "ip", "listed", 471),
		globalRule("gf3", "Forbidden methods", "method", "method", "TRACE", 471),
		globalRule("gf4", "Partners only", "asn", "asn", "other", 473),
	}
	rateRules = []rule{
		rateRule("rl1", "Login attempts", "login", 20, 429),
		rateRule("rl2", "Requests per address", "all", 600, 429),
		rateRule("rl3", "Searches", "search", 60, 429),
		rateRule("rl4", "API calls per session", "api", 300, 473),
	}
	restrictionRules = []rule{
		restrictionRule("max-length-args", "args", "q", 472),
		restrictionRule("max-count-cookies", "cookies", "session", 472),
		restrictionRule("max-length-headers", "headers", "x-trace", 472),
	}
	dynamicRules = []rule{
		dynamicRule("dr1", "Too many errors", 474),
		dynamicRule("dr2", "Too many paths", 474),
	}
	monitorRules = []rule{
		globalRule("gf11", "Data centres", "asn", "asn", "hosting", 0),
		globalRule("gf12", "New clients", "cookies", "svcid", "absent", 0),
		globalRule("gf13", "Old browsers", "headers", "user-agent", "outdated", 0),
		globalRule("gf14", "Far countries", "country", "country", "far", 0),
		globalRule("gf15", "Beta testers", "cookies", "beta", "1", 0),
		rateRule("rl11", "Slow walkers", "walk", 30, 0),
		rateRule("rl12", "Carts per session", "cart", 10, 0),
		restrictionRule("max-count-args", "args", "filter", 0),
	}
)

func aclRule(id, name, action, tag string, status int) rule {
	return rule{
		id: id, by: byACL, stage: stageACL, status: status,
		reason: "acl " + action + ` ["` + tag + `"] - ` + id + " - [request]",
		tag:    "acl-action:" + id,
		trigger: `{"acl_action":"` + action + `","action":"custom","extra":"","tags":["` + tag + `"],` +
			`"trigger_id":"` + id + `","trigger_name":"` + name + `"}`,
	}
}

func globalRule(id, name, section, member, value string, status int) rule {
	return rule{
		id: id, by: byGlobalFilter, stage: stageGlobalFilter, status: status,
		reason: `global filter ["` + id + `"] - ` + name + " - [" + section + "]",
		tag:    "global-filter:" + id,
		trigger: `{"action":"` + actionOf(status) + `","extra":"","name":"` + member + `",` +
			`"section":"` + section + `","trigger_id":"` + id + `","trigger_name":"` + name + `",` +
			`"value":"` + value + `"}`,
	}
}

func rateRule(id, name, tag string, threshold, status int) rule {
	return rule{
		id: id, by: byRateLimit, stage: stageRateLimit, status: status,
		reason: `rate limit ["` + tag + `"] - ` + name + " - [request]",
		tag:    "rate-limit:" + id,
		trigger: `{"action":"` + actionOf(status) + `","extra":"","threshold":` + strconv.Itoa(threshold) +
			`,"trigger_id":"` + id + `","trigger_name":"` + name + `"}`,
	}
}

func restrictionRule(what, section, member string, status int) rule {
	return rule{
		id: what, by: byRestriction, stage: stageContent, status: status,
		reason: `content filter restrict ["` + what + `"] - cf1 - [` + section + "]",
		tag:    "cf-restrict:" + what,
		trigger: `{"action":"` + actionOf(status) + `","extra":"","name":"` + member + `",` +
			`"section":"` + section + `","trigger_id":"cf1","trigger_name":"` + what + `"}`,
	}
}

func dynamicRule(id, name string, status int) rule {
	return rule{
		id: id, by: byDynamicRule, stage: stageGlobalFilter, status: status,
		reason:  `dynamic rule ["` + id + `"] - ` + name + " - [request]",
		tag:     "dynamic-rule:" + id,
		trigger: `{"action":"custom","extra":"","trigger_id":"` + id + `","trigger_name":"` + name + `"}`,
	}
}

// actionOf returns the action of a rule: a rule with status 0 only monitors.
func actionOf(status int) string {
	if status == 0 {
		return "monitor"
	}
	return "custom"
}

// blocking returns the reason of the requests that the rule blocks.
func (r *rule) blocking() string { return "Block - " + r.reason }

// blockingRules returns the rules that block, except those that find payloads.
func blockingRules() []*rule {
	var list []*rule
	for _, of := range [][]rule{aclRules, globalRules, rateRules, restrictionRules, dynamicRules} {
		for i := range of {
			list = append(list, &of[i])
		}
	}
	return list
}

// decide sets the decision of the gateway.
func (g *Generator) decide(r *request) {
	s := &g.random
	r.stage, r.result = stageOrigin, "Passed"
	if g.accessLog {
		return
	}
	if r.flow != nil && r.flow.tally != nil {
		g.judge(r)
	} else {
		g.decideOrdinary(r)
	}
	if r.stage > stageGlobalFilter && s.oneIn(24) {
		first := s.below(len(monitorRules))
		r.monitors = append(r.monitors, &monitorRules[first])
		if s.oneIn(4) {
			r.monitors = append(r.monitors, &monitorRules[(first+3)%len(monitorRules)])
		}
		if r.rule == nil {
			r.result = "Monitored"
		}
	}
}

// decideOrdinary sets the decision about a request that is not part of an attack of a scene.
func (g *Generator) decideOrdinary(r *request) {
	s := &g.random
	switch blocking := g.blockingRule(r); {
	case blocking != nil:
		r.block(blocking)
	case r.client.kind == badBot && s.oneIn(3), r.client.kind == zombie && s.oneIn(2):
		r.challengeScript()
	case r.client.kind == human && s.oneIn(400):
		r.rule, r.stage, r.result = &challengeRule, stageACL, "Challenged"
		r.ichallenge, r.challengeType = true, "interactive"
	}
}

func (r *request) block(by *rule) {
	r.rule, r.stage, r.blocked, r.result = by, by.stage, true, "Blocked"
}

// changed reports whether a change of the settings blocks the request, and sets which one.
func (g *Generator) changed(r *request) bool {
	for i := range g.changes {
		if g.changes[i].applies(r, &g.random) {
			r.change = &g.changes[i]
			return true
		}
	}
	return false
}

// challengeScript challenges a client that the gateway takes for a program.
func (r *request) challengeScript() {
	r.rule, r.stage, r.result = &challengeRule, stageACL, "Challenged"
	r.challenge, r.challengeType = true, "js"
}

// blockingRule returns the rule that blocks the request, or nil.
func (g *Generator) blockingRule(r *request) *rule {
	s := &g.random
	v := s.below(1000)
	if r.burst == nil {
		switch {
		case r.payload != nil:
			return &r.payload.rule
		case g.changed(r):
			return r.change.by
		case v >= 100 || r.client.kind == goodBot || r.client.kind == human && v >= 13:
			return nil
		case v%8 < 4:
			return &aclRules[s.below(len(aclRules))]
		case v%8 == 4:
			return &restrictionRules[s.below(len(restrictionRules))]
		case v%8 == 5:
			return &globalRules[s.below(len(globalRules))]
		case v%8 == 6:
			return &rateRules[1+s.below(3)]
		default:
			return &dynamicRules[s.below(len(dynamicRules))]
		}
	}
	switch r.burst.kind {
	case stuffing:
		switch {
		case v < 800:
			return &rateRules[0]
		case v < 920:
			return &dynamicRules[0]
		}
	case scraping:
		switch {
		case v < 450:
			return &rateRules[1]
		case v < 700:
			return &aclRules[3]
		case v < 860:
			return &dynamicRules[1]
		}
	case injection:
		switch {
		case v < 880:
			return &r.payload.rule
		case v < 960:
			return &globalRules[0]
		}
	case flood:
		switch {
		case v < 700:
			return &rateRules[2]
		case v < 950:
			return &globalRules[1]
		}
	}
	return nil
}
