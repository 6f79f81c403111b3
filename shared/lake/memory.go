package lake

// The size of values in bytes, without their texts.
const (
	rowBytes  = 1 << 10 // the row itself and the small values that its pointers lead to
	textBytes = 16
	pairBytes = 32
	originMax = 64 // an attempt at an origin
)

// Memory estimates the size of the row in memory in bytes. A text that several rows share counts in each of them.
func (r *Row) Memory() int64 {
	n := rowBytes
	for _, text := range [...]*string{
		r.RequestID, r.IP, r.Host, r.Hostname, r.Authority, r.Method, r.Path, r.Query, r.URL, r.Protocol,
		r.Port, r.Version, r.Branch, r.Country, r.GeoRegion, r.ASN, r.Organization, r.UserAgent, r.Referer, r.Session,
		r.SvcID, r.SvcSessionID, r.Result, r.Reason, r.ChallengeType, r.ProcessingStage, r.Details, r.Extra, r.RawLine,
	} {
		if text != nil {
			n += len(*text)
		}
	}
	for _, list := range [...][]string{r.Tags, r.MonitorReasons, r.UpstreamAddr, r.SvcIDMore, r.SvcSessionIDMore} {
		for _, text := range list {
			n += textBytes + len(text)
		}
	}
	for _, list := range [...][]Pair{
		r.Headers, r.Cookies, r.Arguments, r.PathParts, r.SessionIDs, r.Proxy, r.Profiling, r.ACLTriggers,
		r.CFTriggers, r.CFRestrictTriggers, r.DRTriggers, r.GFTriggers, r.RLTriggers, r.Biometric, r.Logs,
		r.LogRest,
	} {
		for i := range list {
			n += pairBytes + len(list[i].Name) + len(list[i].Value)
		}
	}
	n += 8*len(r.UpstreamStatus) + originMax*len(r.UpstreamData)
	for i := range r.UpstreamData {
		if addr := r.UpstreamData[i].Addr; addr != nil {
			n += len(*addr)
		}
	}
	return int64(n)
}
