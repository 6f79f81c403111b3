package why

import (
	"fmt"
	"strings"
)

// sectionWords has the names of the parts of requests, by the sections of triggers.
var sectionWords = map[string]string{
	"args": "argument", "headers": "header", "cookies": "cookie", "uri": "path", "path": "path", "body": "body",
	"request": "request", "ip": "address", "asn": "network", "country": "country", "method": "method",
}

func sectionWord(section string) string {
	if word, ok := sectionWords[section]; ok {
		return word
	}
	return section
}

func sectionPlural(section string) string {
	if section == "request" {
		return "parts"
	}
	return sectionWord(section) + "s"
}

// words is the table from the codes of the gateway to words of people. A code is a tag without its rule, as in
// cf-rule-category:sqli, or a limit. Codes of the content filter name what was found, limits what was too much, and the
// other tags who is refused.
var words = map[string]string{
	"cf-rule-category:sqli":                 "SQL injection",
	"cf-rule-category:xss":                  "cross-site scripting",
	"cf-rule-category:lfi":                  "file inclusion",
	"cf-rule-category:rfi":                  "remote file inclusion",
	"cf-rule-category:rce":                  "command injection",
	"cf-rule-category:php":                  "PHP injection",
	"cf-rule-category:nosqli":               "NoSQL injection",
	"cf-rule-category:ssti":                 "template injection",
	"cf-rule-category:ssrf":                 "server-side request forgery",
	"cf-rule-category:xxe":                  "an XML external entity",
	"cf-rule-category:scanner":              "a vulnerability scanner",
	"cf-rule-category:probe":                "a probe for hidden files",
	"cf-rule-category:malware":              "malware",
	"cf-rule-subcategory:libinjection-sqli": "SQL injection",
	"cf-rule-subcategory:libinjection-xss":  "cross-site scripting",
	"cf-rule-id:libinjection-sqli":          "SQL injection",
	"cf-rule-id:libinjection-xss":           "cross-site scripting",
	"max-length-args":                       "an argument that is too long",
	"max-length-headers":                    "a header that is too long",
	"max-length-cookies":                    "a cookie that is too long",
	"max-length-path":                       "a path that is too long",
	"max-length-uri":                        "a path that is too long",
	"max-count-args":                        "too many arguments",
	"max-count-headers":                     "too many headers",
	"max-count-cookies":                     "too many cookies",
	"all":                                   "everyone",
	"human":                                 "people",
	"bot":                                   "programs",
	"verified-bot":                          "known programs, such as search engines",
	"bot-kind:crawler":                      "crawlers",
	"bot-kind:script":                       "scripts",
	"bot-kind:automation":                   "automated browsers",
	"device:mobile":                         "mobile devices",
	"device:desktop":                        "desktop computers",
	"geo-anon":                              "anonymizing services",
	"geo-proxy":                             "proxies",
	"geo-vpn":                               "VPN services",
	"geo-tor":                               "the Tor network",
	"geo-datacenter":                        "data centres",
	"geo-cloud":                             "clouds",
	"geo-sat":                               "satellite networks",
	"geo-mobile":                            "mobile networks",
	"AWSManagedRulesSQLiRuleSet":            "SQL injection",
	"AWSManagedRulesCommonRuleSet":          "a common attack",
	"AWSManagedRulesKnownBadInputsRuleSet":  "a known attack",
	"AWSManagedRulesAmazonIpReputationList": "an address of bad reputation",
	"AWSManagedRulesAnonymousIpList":        "an anonymizing service",
	"AWSManagedRulesBotControlRuleSet":      "a program",
	"AWSManagedRulesAdminProtectionRuleSet": "a path for administrators",
	"AWSManagedRulesLinuxRuleSet":           "an attack on Linux",
	"AWSManagedRulesUnixRuleSet":            "an attack on Unix",
	"AWSManagedRulesWindowsRuleSet":         "an attack on Windows",
	"AWSManagedRulesPHPRuleSet":             "an attack on PHP",
	"AWSManagedRulesWordPressRuleSet":       "an attack on WordPress",
	"AWSManagedRulesATPRuleSet":             "a takeover of accounts",
	"AWSManagedRulesACFPRuleSet":            "a fake account",
	"AWSManagedRulesAntiDDoSRuleSet":        "a flood of requests",
}

// prefixWords has the words for codes that end with a name.
var prefixWords = []struct{ prefix, word string }{
	{"geo-asn:", "the network AS"},
	{"geo-org:", "the organization "},
	{"geo-region:", "the region "},
	{"ip:", "the address "},
	{"cf-rule-name:", "the signature "},
	{"cf-rule-id:", "the signature "},
	{"cf-rule-category:", "the category "},
}

// wordOf returns a code in words of people. ok is whether the table has it.
func wordOf(code string) (word string, ok bool) {
	if word, ok := words[code]; ok {
		return word, true
	}
	if name, ok := strings.CutPrefix(code, "geo-country:"); ok {
		return "the country " + countryWord(name), true
	}
	for _, row := range prefixWords {
		if name, ok := strings.CutPrefix(code, row.prefix); ok && name != "" {
			return row.word + name, true
		}
	}
	return code, false
}

// countryWord returns the name of a country from its tag: United States from united-states.
func countryWord(tag string) string {
	parts := strings.Split(tag, "-")
	for i, part := range parts {
		if part != "" {
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, " ")
}

// cause returns what caused a rule to act, in words of people: SQL injection in the argument item. It is "" if no rule
// acted, or the log does not say which.
func cause(r Record) string {
	if r.Result() == Challenged {
		one := r.trigger("acl_triggers")
		if one == nil {
			return ""
		}
		return "access control challenges " + wordsOf(one.texts("tags"))
	}
	by := reasonOf(r)
	if by == nil {
		return ""
	}
	switch by.initiator {
	case byACL:
		return "access control refuses " + wordsOf(by.causes)
	case byContentFilter:
		return wordsOf(by.causes) + " in the " + partOf(r.trigger("cf_triggers"), by.place)
	case byRestriction:
		found := wordsOf(by.causes)
		if name := r.trigger("cf_restrict_triggers").text("name"); name != "" && !strings.HasPrefix(by.first(), "max-count-") {
			found += ": " + name
		}
		return found
	case byGlobalFilter:
		return fmt.Sprintf("the %s is on the list “%s”", partOf(r.trigger("gf_triggers"), by.place), by.rule)
	case byRateLimit:
		return "more requests than the limit" + limitText(r, "") + " allows"
	case byDynamicRule:
		return fmt.Sprintf("what the client did before: “%s”", by.rule)
	case byAWSWAF:
		return wordsOf(by.causes)
	}
	panic(fmt.Sprintf("why: no cause for %q", by.initiator))
}

// CauseOf returns what caused a rule to block a request, in words of people, as far as the text of its reason says it. It is
// "" for a text of another grammar.
func CauseOf(reason string) string { return cause(Record{"blocked": true, "reason": reason}) }

// wordsOf returns codes in words of people, each once. The risk of a signature is left out beside what it found.
func wordsOf(codes []string) string {
	var list []string
	seen := map[string]bool{}
	for _, code := range codes {
		word, known := wordOf(code)
		if strings.HasPrefix(code, "cf-rule-risk:") || seen[word] {
			continue
		}
		if seen[word] = true; !known {
			word = "“" + code + "”"
		}
		list = append(list, word)
	}
	if len(list) == 0 {
		return "a signature"
	}
	return listed(list)
}
