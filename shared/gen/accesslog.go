package gen

// appendAccess writes the members that the access log of a web server has. No gateway has seen the request.
func (g *Generator) appendAccess(b []byte, r *request) []byte {
	h := &g.world.hosts[r.host]
	b = g.stamp.append(append(b, `{"timestamp":"`...), r.ms)
	b = appendInt(b, `","time_period":`, int(r.ms/1000))
	b = appendText(b, `,"ip":`, r.client.ip)
	b = appendText(b, `,"host":`, h.name)
	b = appendText(b, `,"hostname":`, h.name)
	b = appendText(b, `,"method":`, r.method)
	b = appendText(b, `,"path":`, r.path.text)
	b = append(append(b, `,"path_parts":`...), r.path.parts...)
	if len(r.query) > 0 {
		b = append(append(append(b, `,"query":"`...), r.query...), '"')
		b = append(append(append(b, `,"arguments":{`...), r.args...), '}')
	}
	b = append(append(append(append(b, `,"url":"`...), h.name...), r.path.text...), '"')
	b = appendText(b, `,"protocol":`, r.client.protocol)
	b = appendInt(b, `,"status":`, r.status)
	b = appendInt(b, `,"bytes_sent":`, r.bytesSent)
	b = appendInt(b, `,"request_length":`, r.length)
	b = appendSeconds(b, `,"request_time":`, r.originUs)
	if r.referer != "" {
		b = appendText(b, `,"referer":`, r.referer)
	}
	if r.agent != "" {
		b = appendText(b, `,"user_agent":`, r.agent)
	}
	return append(b, '}')
}
