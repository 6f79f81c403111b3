package gen

import (
	"strconv"
	"time"
)

// appendRecord writes the request in the shape that the API returns. The order of the members is time, request,
// decision of the gateway, response, details.
func (g *Generator) appendRecord(b []byte, r *request) []byte {
	b = g.stamp.append(append(b, `{"timestamp":"`...), r.ms)
	b = appendInt(b, `","time_period":`, int(r.ms/1000))
	b = g.random.appendHex(append(b, `,"request_id":"`...), 32)
	b = g.appendRequest(append(b, '"'), r)
	b = appendDecision(b, r)
	b = appendResponse(b, r)
	b = g.appendLists(b, r)
	b = appendTriggers(b, r)
	b = g.appendSettings(b, r)
	b = g.appendProxy(b, r)
	b = g.appendRare(b, r)
	return append(b, '}')
}

// appendRequest writes the request of the client.
func (g *Generator) appendRequest(b []byte, r *request) []byte {
	c, h := r.client, &g.world.hosts[r.host]
	b = appendText(b, `,"ip":`, c.ip)
	b = appendText(b, `,"host":`, h.name)
	b = appendText(b, `,"hostname":`, h.name)
	b = appendText(b, `,"authority":`, h.name)
	b = appendText(b, `,"method":`, r.method)
	b = appendText(b, `,"path":`, r.path.text)
	if len(r.query) > 0 {
		b = append(append(append(b, `,"query":"`...), r.query...), '"')
	}
	b = append(append(append(append(b, `,"url":"`...), h.name...), r.path.text...), '"')
	b = appendText(b, `,"protocol":`, c.protocol)
	b = append(b, `,"port":"443","version":"5.3.1"`...)
	b = appendText(b, `,"branch":`, c.branch)
	b = append(append(b, ','), c.place...)
	if r.agent != "" {
		b = appendText(b, `,"user_agent":`, r.agent)
	}
	if r.referer != "" {
		b = appendText(b, `,"referer":`, r.referer)
	}
	if r.stage > stageGlobalFilter {
		b = appendText(b, `,"session":`, c.session)
	}
	return b
}

// appendDecision writes the decision of the gateway.
func appendDecision(b []byte, r *request) []byte {
	b = appendText(b, `,"result":`, r.result)
	if r.blocked {
		b = appendText(b, `,"reason":`, r.rule.blocking())
	}
	b = appendInt(b, `,"status":`, r.status)
	b = appendInt(b, `,"processing_stage":`, r.stage)
	b = appendFlag(b, `,"blocked":`, r.blocked)
	b = appendFlag(b, `,"bot":`, r.client.kind != human)
	if r.stage > stageGlobalFilter {
		b = appendFlag(b, `,"human":`, r.client.kind == human)
		b = appendFlag(b, `,"challenge":`, r.challenge)
		b = appendFlag(b, `,"ichallenge":`, r.ichallenge)
	}
	if r.challengeType != "" {
		b = appendText(b, `,"challenge_type":`, r.challengeType)
	}
	b = appendFlag(b, `,"monitor":`, len(r.monitors) > 0)
	for i, m := range r.monitors {
		b = append(b, separator(i, `,"monitor_reasons":[`)...)
		b = appendText(b, "", "Monitor - "+m.reason)
	}
	if len(r.monitors) > 0 {
		b = append(b, ']')
	}
	return b
}

// appendResponse writes the response and the attempts at origins.
func appendResponse(b []byte, r *request) []byte {
	b = appendInt(b, `,"bytes_sent":`, r.bytesSent)
	b = appendInt(b, `,"request_length":`, r.length)
	b = appendSeconds(b, `,"request_time":`, r.svcUs+r.originUs)
	b = appendInt(b, `,"svc_latency":`, r.svcUs)
	if len(r.attempts) == 0 {
		if r.stage > stageRateLimit { // processing reached the stages that prepare the request to the origin
			b = append(b, `,"upstream_response_time":null`...)
		}
		return b
	}
	b = appendSeconds(b, `,"upstream_response_time":`, r.originUs)
	for i, a := range r.attempts {
		b = appendInt(b, separator(i, `,"upstream_status":[`), a.status)
	}
	for i, a := range r.attempts {
		b = appendOrigin(append(b, separator(i, `],"upstream_addr":[`)...), a.addr)
	}
	for i, a := range r.attempts {
		b = append(b, separator(i, `],"upstream_data":[`)...)
		b = appendOrigin(append(b, `{"addr":`...), a.addr)
		b = appendSeconds(b, `,"response_time":`, a.us)
		b = append(appendInt(b, `,"status":`, a.status), '}')
	}
	return append(b, ']')
}

// separator returns the text before the i-th element of a list.
func separator(i int, opening string) string {
	if i == 0 {
		return opening
	}
	return ","
}

func appendOrigin(b []byte, addr int) []byte {
	return append(appendInt(append(b, '"'), "10.0.", addr/10), "."+strconv.Itoa(10+addr%10)+`:8080"`...)
}

// appendLists writes headers, cookies, arguments, path_parts, and the tags, which count some of them.
func (g *Generator) appendLists(b []byte, r *request) []byte {
	b, headers := g.appendHeaders(b, r)
	b, cookies := g.appendCookies(b, r)
	if r.argCount > 0 {
		b = append(append(append(b, `,"arguments":{`...), r.args...), '}')
	}
	b = append(append(b, `,"path_parts":`...), r.path.parts...)
	return g.appendTags(b, r, headers, cookies)
}

// appendHeaders writes the headers and returns their number.
func (g *Generator) appendHeaders(b []byte, r *request) ([]byte, int) {
	s, c, h := &g.random, r.client, &g.world.hosts[r.host]
	n := 3
	b = appendText(b, `,"headers":{"host":`, h.name)
	b = append(b, `,"accept":`...)
	switch {
	case c.kind != human:
		b = append(b, `"*/*"`...)
	case r.path.asset:
		b = append(b, `"image/avif,image/webp,*/*;q=0.8"`...)
	case r.path.entry == "api":
		b = append(b, `"application/json, text/plain, */*"`...)
	default:
		b = append(b, `"text/html,application/xhtml+xml,*/*;q=0.8"`...)
	}
	b = append(b, `,"accept-encoding":"gzip, deflate, br"`...)
	if r.agent != "" {
		b, n = appendText(b, `,"user-agent":`, r.agent), n+1
	}
	if c.kind == human {
		b, n = appendText(b, `,"accept-language":`, c.language), n+2
		b = append(b, `,"sec-fetch-mode":"navigate"`...)
	}
	if r.referer != "" {
		b, n = appendText(b, `,"referer":`, r.referer), n+1
	}
	if p := r.payload; p != nil && p.name == "x-forwarded-for" {
		b, n = appendText(b, `,"x-forwarded-for":`, p.value), n+1
	} else if s.oneIn(5) {
		b, n = appendText(b, `,"x-forwarded-for":`, g.world.client(g.world.byClient.draw(s)).ip), n+1
	}
	if r.path.entry == "api" {
		b, n = append(b, `,"x-api-version":"v`...), n+1
		b = append(b, byte('1'+s.below(4)), '"')
	}
	if r.method == "POST" || r.method == "PUT" {
		b = append(b, `,"content-type":"application/x-www-form-urlencoded"`...)
		b = append(appendInt(b, `,"content-length":"`, s.between(20, 400)), '"')
		n += 2
	}
	return append(b, '}'), n
}

// appendCookies writes the cookies and returns their number.
func (g *Generator) appendCookies(b []byte, r *request) ([]byte, int) {
	s, c := &g.random, r.client
	p := r.payload
	if p != nil && p.section == "cookies" {
		b = appendMember(append(b, `,"cookies":{`...), p.name, p.value)
		return append(b, '}'), 1
	}
	if c.noCookies || s.oneIn(4) {
		return b, 0
	}
	n := 2
	b = appendText(b, `,"cookies":{"svcid":`, c.svcid)
	b = appendText(b, `,"svcsessionid":`, c.session)
	if c.kind == human && c.analytics {
		b, n = appendText(b, `,"_ga":`, c.gaID), n+1
	}
	if c.kind == human {
		b, n = append(b, `,"consent":"v2.necessary.statistics"`...), n+1
	}
	return append(b, '}'), n
}

func (g *Generator) appendTags(b []byte, r *request, headers, cookies int) []byte {
	h := &g.world.hosts[r.host]
	b = append(append(b, `,"tags":[`...), r.client.tags...)
	b = append(append(b, `,"host:`...), h.name...)
	b = append(append(b, `","method:`...), r.method...)
	b = append(append(b, `","securitypolicy:`...), h.brand...)
	b = append(append(b, `","securitypolicy-entry:`...), r.path.entry...)
	b = append(append(b, `","branch:`...), r.client.branch...)
	b = append(b, `","aclid:acl1","contentfilterid:cf1`...)
	b = appendInt(b, `","headers:`, headers)
	b = appendInt(b, `","cookies:`, cookies)
	b = appendInt(b, `","args:`, r.argCount)
	b = appendInt(b, `","status:`, r.status)
	b = append(b, `","status-class:`...)
	b = append(b, byte('0'+r.status/100), 'x', 'x')
	if r.rule != nil {
		b = append(append(b, `","`...), r.rule.tag...)
		b = append(append(b, `","action:`...), r.result...)
	}
	for _, m := range r.monitors {
		b = append(append(b, `","`...), m.tag...)
	}
	return append(b, `"]`...)
}

// appendTriggers writes the trigger counters and the entries that they count.
func appendTriggers(b []byte, r *request) []byte {
	var counts [counters]int
	if r.rule != nil {
		counts[r.rule.by]++
	}
	for _, m := range r.monitors {
		counts[m.by]++
	}
	for i, f := range triggerFields {
		b = append(append(b, separator(i, `,"trigger_counters":{`)...), '"')
		b = appendInt(append(b, f.member...), `":`, counts[i])
	}
	b = append(b, '}')
	for by, f := range triggerFields {
		if counts[by] == 0 {
			continue
		}
		b = append(append(append(b, `,"`...), f.field...), `":`...)
		if !f.list {
			b = append(b, r.rule.trigger...)
			continue
		}
		n := 0
		if r.rule != nil && r.rule.by == counter(by) {
			b, n = append(append(b, '['), r.rule.trigger...), 1
		}
		for _, m := range r.monitors {
			if m.by == counter(by) {
				b, n = append(append(b, separator(n, "[")...), m.trigger...), n+1
			}
		}
		b = append(b, ']')
	}
	return b
}

// appendSettings writes the active configuration.
func (g *Generator) appendSettings(b []byte, r *request) []byte {
	entry := r.path.entry
	b = append(b, `,"security_config":{"acl_active":true,"cf_active":`...)
	b = strconv.AppendBool(b, entry != "static")
	b = append(b, `,"cf_rules":1820,"gf_rules":64,"revision":"`...)
	b = append(b, revisionText(g.times.revision(r.ms, r.host))...)
	b = append(append(b, `","rl_rules":12,"secpolentryid":"spe-`...), entry...)
	b = append(append(b, `","secpolid":"sp-`...), r.client.branch...)
	b = append(b, `"},"profiling":[{"name":"secpol","value":"sp-`...)
	b = append(append(b, r.client.branch...), `"},{"name":"mapping","value":"spe-`...)
	b = append(append(b, entry...), `"}`...)
	if r.stage > stageGlobalFilter {
		if entry == "api" || entry == "login" {
			b = append(append(append(b, `,{"name":"flow","value":"fc-`...), entry...), `"}`...)
		}
		b = append(b, `,{"name":"limit","value":"rl-default"}`...)
	}
	if r.stage > stageRateLimit {
		b = append(b, `,{"name":"acl","value":"acl1"}`...)
	}
	if r.stage > stageACL {
		b = append(b, `,{"name":"content_filter","value":"cf1"}`...)
	}
	return append(b, ']')
}

// revisionText returns a revision of the settings as records have it.
func revisionText(number int64) string {
	return strconv.FormatUint(uint64(number)*0x9e3779b97f4a7c15>>20, 16)
}

// appendProxy writes the entries of proxy. One record in 64 has all of them.
func (g *Generator) appendProxy(b []byte, r *request) []byte {
	b = append(append(b, `,"proxy":[`...), r.client.proxy...)
	b = append(appendInt(b, `,{"name":"status","value":"`, r.status), `"}`...)
	if g.random.oneIn(64) {
		b = append(b, `,{"name":"container","value":"proxy-`...)
		b = append(b, byte('a'+r.host%4))
		b = append(g.random.appendHex(append(b, `"},{"name":"request_id","value":"`...), 32), `"}`...)
		b = append(appendInt(b, `,{"name":"bytes_sent","value":"`, r.bytesSent), `"}`...)
		b = append(appendInt(b, `,{"name":"request_length","value":"`, r.length), `"}`...)
		b = append(appendSeconds(b, `,{"name":"request_time","value":"`, r.svcUs+r.originUs), `"}`...)
		b = append(b, `,{"name":"geo_as_name","value":`...)
		b = append(appendText(b, "", r.client.network.name), `},{"name":"geo_as_domain","value":"`...)
		b = append(append(b, r.client.network.tag...), `.example"},{"name":"geo_company_domain","value":"`...)
		b = append(append(b, r.client.network.tag...), `.example"},{"name":"geo_company_type","value":"isp"},`...)
		b = append(b, `{"name":"additional_tags","value":"sampled"}`...)
	}
	return append(b, ']')
}

// appendRare writes the members that few records have.
func (g *Generator) appendRare(b []byte, r *request) []byte {
	s, c := &g.random, r.client
	if r.stage > stageGlobalFilter && c.identified {
		b = appendText(b, `,"session_ids":{"asn":`, c.network.asn)
		b = append(appendText(b, `,"ja4":`, c.fingerprint), '}')
	}
	if c.mobile && c.kind == human && s.oneIn(20) {
		b = append(b, `,"biometric":[{"name":"score","value":0.`...)
		b = append(b, byte('5'+s.below(5)), byte('1'+s.below(9)))
		b = append(append(b, `},{"name":"touch","value":"`...), pick(s, []string{"steady", "swipe", "none"})...)
		b = append(b, `"}]`...)
	}
	if len(r.attempts) > 1 {
		b = append(appendInt(b, `,"logs":["origin retried after `, r.attempts[0].status), `"]`...)
	}
	return b
}

// stamp formats times. It formats the seconds once for all records of a second.
type stamp struct {
	second int64
	text   []byte
}

func (t *stamp) append(b []byte, ms int64) []byte {
	second, rest := ms/1000, ms%1000
	if rest < 0 {
		second, rest = second-1, rest+1000
	}
	if t.text == nil || t.second != second {
		t.second = second
		t.text = time.Unix(second, 0).UTC().AppendFormat(t.text[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, t.text...)
	return append(b, byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10), 'Z')
}

// appendMember appends "name":"value". The name must not need escaping.
func appendMember(b []byte, name, value string) []byte {
	return appendText(append(append(b, '"'), name...), `":`, value)
}

// appendPair appends an element of a name/value list.
func appendPair(b []byte, name, value string) []byte {
	return append(appendText(appendText(b, `{"name":`, name), `,"value":`, value), '}')
}

// appendText appends before, then text as a JSON string.
func appendText(b []byte, before, text string) []byte {
	b = append(append(b, before...), '"')
	start := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(append(b, text[start:i]...), '\\', c)
			start = i + 1
		case c < 0x20:
			const digits = "0123456789abcdef"
			b = append(append(b, text[start:i]...), '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			start = i + 1
		}
	}
	return append(append(b, text[start:]...), '"')
}

func appendInt(b []byte, before string, v int) []byte {
	return strconv.AppendInt(append(b, before...), int64(v), 10)
}

func appendFlag(b []byte, before string, v bool) []byte {
	return strconv.AppendBool(append(b, before...), v)
}

// appendSeconds appends before, then microseconds as a number of seconds without trailing zeros.
func appendSeconds(b []byte, before string, us int) []byte {
	b = appendInt(b, before, us/1_000_000)
	rest := us % 1_000_000
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := 100_000; rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}
