package logformat

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// awsWAF is the log of AWS WAF v2, one JSON object per line. Members with a field in the specification become that
// field; all others keep their names, so that nothing of the line is lost.
type awsWAF struct{}

func (awsWAF) Name() string { return "aws-waf" }

func (awsWAF) Matches(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) &&
		bytes.Contains(line, []byte(`"httpRequest"`)) &&
		bytes.Contains(line, []byte(`"webaclId"`))
}

func (awsWAF) Complete(row *lake.Row) { complete(row) }

// wafLine holds the members of a line that several fields of the record need.
type wafLine struct {
	o           object
	action      string
	rule, kind  string   // the terminating rule and its type
	inner       string   // the rule inside it, when it is a group
	counted     []string // rules that matched with the action COUNT
	tags        [][]byte
	fingerprint []pair
	request     wafRequest
}

// wafRequest is the member httpRequest.
type wafRequest struct {
	request
	headers []pair
	rest    object // members without a field in the specification
}

func (awsWAF) Convert(dst, line []byte) ([]byte, error) {
	w := wafLine{o: newObject(dst), request: wafRequest{rest: newObject(nil)}}
	d := jx.DecodeBytes(line)
	if err := d.ObjBytes(func(d *jx.Decoder, key []byte) error { return w.member(d, string(key)) }); err != nil {
		return nil, &record.Reject{Code: record.BadJSON, Message: fmt.Sprintf("not a record of AWS WAF: %v", err)}
	}
	w.appendRequest()
	w.appendDecision()
	w.o.texts("tags", w.tags)
	w.o.pairs("proxy", w.fingerprint)
	if w.request.rest.comma {
		w.o.raw("httpRequest", w.request.rest.close())
	}
	return w.o.close(), nil
}

// member reads one member of the line.
func (w *wafLine) member(d *jx.Decoder, name string) (err error) {
	switch name {
	case "httpRequest":
		return d.ObjBytes(func(d *jx.Decoder, key []byte) error { return w.request.member(d, &w.o, string(key)) })
	case "labels":
		return d.Arr(func(d *jx.Decoder) error { return w.label(d) })
	case "ja3Fingerprint", "ja4Fingerprint":
		value, err := d.StrAppend(nil)
		w.fingerprint = append(w.fingerprint, pair{[]byte(strings.TrimSuffix(name, "Fingerprint")), value})
		return err
	}
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	part := jx.DecodeBytes(raw)
	switch name {
	case "action":
		w.action, err = part.Str()
	case "terminatingRuleId":
		w.rule, err = part.Str()
	case "terminatingRuleType":
		w.kind, err = part.Str()
	case "nonTerminatingMatchingRules":
		err = w.matchedRules(part)
	case "ruleGroupList":
		err = part.Arr(func(d *jx.Decoder) error { return w.ruleGroup(d) })
	case "responseCodeSent":
		if part.Next() == jx.Number {
			name = "status"
		}
	}
	w.o.raw(name, raw)
	return err
}

// label reads one element of labels: its name becomes a tag.
func (w *wafLine) label(d *jx.Decoder) error {
	return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		if string(key) != "name" {
			return d.Skip()
		}
		name, err := d.StrAppend(nil)
		w.tags = append(w.tags, name)
		return err
	})
}

// ruleGroup reads the terminating rule of a group, and the rules that matched with the action COUNT.
func (w *wafLine) ruleGroup(d *jx.Decoder) error {
	return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		switch {
		case string(key) == "terminatingRule" && d.Next() == jx.Object:
			id, _, err := ruleOf(d)
			w.inner = id
			return err
		case string(key) == "nonTerminatingMatchingRules":
			return w.matchedRules(d)
		}
		return d.Skip()
	})
}

// matchedRules reads a list of rules and keeps those with the action COUNT.
func (w *wafLine) matchedRules(d *jx.Decoder) error {
	if d.Next() != jx.Array {
		return d.Skip()
	}
	return d.Arr(func(d *jx.Decoder) error {
		id, action, err := ruleOf(d)
		if action == "COUNT" {
			w.counted = append(w.counted, id)
		}
		return err
	})
}

// ruleOf reads the id and the action of a rule.
func ruleOf(d *jx.Decoder) (id, action string, err error) {
	err = d.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		switch string(key) {
		case "ruleId":
			id, err = d.Str()
		case "action":
			action, err = d.Str()
		default:
			err = d.Skip()
		}
		return err
	})
	return id, action, err
}

// member reads one member of httpRequest.
func (r *wafRequest) member(d *jx.Decoder, o *object, name string) (err error) {
	switch name {
	case "headers":
		return d.Arr(func(d *jx.Decoder) error { return r.header(d) })
	case "uri":
		r.path, err = d.StrAppend(nil)
		return err
	case "args":
		args, err := d.StrAppend([]byte("?"))
		if len(args) > 1 {
			r.query = args
		}
		return err
	case "httpVersion":
		r.protocol, err = d.StrAppend(nil)
		return err
	case "httpMethod":
		r.method, err = d.StrAppend(nil)
		return err
	}
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	if string(raw) == `"-"` {
		return nil
	}
	switch name {
	case "clientIp":
		o.raw("ip", raw)
	case "country":
		o.raw("country", raw)
	case "requestId":
		o.raw("request_id", raw)
	default:
		r.rest.raw(name, raw)
	}
	return nil
}

func (r *wafRequest) header(d *jx.Decoder) error {
	var p pair
	err := d.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		switch string(key) {
		case "name":
			p.name, err = d.StrAppend(nil)
		case "value":
			p.value, err = d.StrAppend(nil)
		default:
			err = d.Skip()
		}
		return err
	})
	r.headers = append(r.headers, p)
	return err
}

// appendRequest writes the request with its headers.
func (w *wafLine) appendRequest() {
	w.request.authority = appendHeaders(&w.o, w.request.headers, "")
	w.request.append(&w.o)
}

// appendDecision writes the decision of the firewall. Reasons have the grammar of the product:
//
//	Block - aws-waf MANAGED_RULE_GROUP ["SQLi_QUERYARGUMENTS"] - AWS-AWSManagedRulesSQLiRuleSet - [request]
//
// The first brackets contain the rule inside the group, or the action if the rule is not a group.
func (w *wafLine) appendDecision() {
	blocked, challenged := w.action == "BLOCK", w.action == "CAPTCHA" || w.action == "CHALLENGE"
	w.o.flag("blocked", blocked)
	switch {
	case blocked:
		w.o.text("result", []byte("Blocked"))
		w.o.text("reason", w.reason("Block"))
	case challenged:
		w.o.text("result", []byte("Challenged"))
		w.o.text("reason", w.reason("Challenge"))
		w.o.flag("challenge", true)
		w.o.text("challenge_type", []byte(strings.ToLower(w.action)))
	case w.action == "ALLOW":
		w.o.text("result", []byte("Passed"))
	}
	var reasons [][]byte
	for _, rule := range w.counted {
		reasons = append(reasons, fmt.Appendf(nil, `Monitor - aws-waf COUNT [%q] - %s - [request]`, rule, rule))
	}
	w.o.flag("monitor", len(reasons) > 0)
	w.o.texts("monitor_reasons", reasons)
}

func (w *wafLine) reason(verb string) []byte {
	inner := w.inner
	if inner == "" {
		inner = w.action
	}
	return fmt.Appendf(nil, `%s - aws-waf %s [%q] - %s - [request]`, verb, w.kind, inner, w.rule)
}
