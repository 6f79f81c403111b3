package logformat

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// guess is a field for which suggestMappings looks for a member.
type guess struct {
	field string
	// names are usual names of the member, the preferred ones first. A name stands for all names with the same letters
	// and digits, and for paths that end in them: clientip is client_ip, clientIP, and the member ip of client.
	names string
	fits  func(text []byte) bool // whether a value can be the field
	// instead are fields that have a mapping already and make this one unnecessary.
	instead []string
	// weight is how much the field shows that the log is about requests; see leastWeight.
	weight int
}

// leastWeight is the weight of the fields that suggested mappings have at least. An address or a status alone is also
// in logs of connections, of alerts and of the state of a server.
const leastWeight = 2

const clientNames = "clientip remoteip sourceip srcip clientaddress remoteaddress sourceaddress clientaddr remoteaddr " +
	"clienthost remotehost realip cip ip client xforwardedfor downstreamremoteaddress"

var guesses = []guess{
	{field: "timestamp", fits: isLogTime, names: "timestamp time ts date datetime eventtime requesttime starttime " +
		"starttimestamp edgestarttimestamp timelocal timeiso8601 logtime createdat created at"},
	{field: "ip", fits: isClient, weight: 1, names: clientNames},
	{field: "peer", fits: isPeer, weight: 1, instead: []string{"ip"}, names: clientNames},
	{field: "request", fits: isRequestLine, weight: 2, names: "request requestline httprequest"},
	{field: "method", fits: isMethod, weight: 1, instead: []string{"request"},
		names: "method requestmethod httpmethod clientrequestmethod verb httpverb httpverbs csmethod"},
	{field: "target", fits: isTarget, weight: 1, instead: []string{"request"},
		names: "target requesturi originaluri uri requesturl httpurl url originalurl urloriginal requesttarget " +
			"clientrequesturi clientrequesturl clientrequestpath requestpath path urlpath uripath csuristem resource endpoint"},
	{field: "host", fits: isHostText,
		names: "host httphost requesthost clientrequesthost authority vhost virtualhost hostname servername " +
			"urldomain domain"},
	{field: "status", fits: isStatus, weight: 1,
		names: "status statuscode httpstatus httpstatuscode responsestatus responsestatuscode responsecode " +
			"edgeresponsestatus downstreamstatus scstatus respcode code response"},
	{field: "bytes_sent", fits: isByteCount,
		names: "bytessent bodybytessent responsebytes edgeresponsebytes responsesize scbytes responsebodybytes bytes size"},
	{field: "user_agent", fits: isWords, names: "useragent httpuseragent agent ua useragentoriginal"},
	{field: "referer", fits: isWords, names: "referer referrer httpreferer httpreferrer"},
}

func isLogTime(text []byte) bool {
	if isNumber(text) {
		whole, _, _ := bytes.Cut(text, []byte("."))
		return len(whole) >= 9 // from 1973 on, in any unit
	}
	_, ok := localTime{}.parseTime(text, timeLayouts)
	return ok
}

func isPeer(text []byte) bool {
	host, port := splitHostPort(text)
	return port != nil && isAddress(bytes.Trim(host, "[]"))
}

func isRequestLine(text []byte) bool {
	_, ok := parseRequest(text)
	return ok
}

func isTarget(text []byte) bool { return text[0] == '/' || bytes.Contains(text, []byte("://")) }

func isHostText(text []byte) bool { return !bytes.ContainsAny(text, ` /"`) && !isDigits(text) }

func isStatus(text []byte) bool { return len(text) == 3 && isDigits(text) }

func isByteCount(text []byte) bool { return isDigits(text) && len(text) <= 18 }

func isWords(text []byte) bool { return !isNumber(text) }

// jsonLeaf is a member of JSON objects, perhaps of inner ones, with the values that some lines have for it.
type jsonLeaf struct {
	path   []string
	values [][]byte
}

// Limits of what is read of unknown objects.
const (
	leafDepth = 6
	leafCount = 300
)

// leavesOf returns the members of the objects in lines that are texts, numbers or booleans, in the order in which they
// are found.
func leavesOf(lines [][]byte) (leaves []jsonLeaf) {
	at := map[string]int{}
	var read func(d *jx.Decoder, path []string) error
	read = func(d *jx.Decoder, path []string) error {
		return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
			raw, err := d.Raw()
			if err != nil {
				return err
			}
			inner := append(slices.Clone(path), string(key))
			if raw[0] == '{' && len(inner) < leafDepth {
				return read(jx.DecodeBytes(raw), inner)
			}
			value := valueOf(raw)
			if !value.plain || raw[0] == '[' || len(key) == 0 || bytes.IndexByte(key, '"') >= 0 {
				return nil
			}
			name := strings.Join(inner, "\x00")
			i, known := at[name]
			if !known {
				if len(leaves) == leafCount {
					return nil
				}
				i = len(leaves)
				at[name] = i
				leaves = append(leaves, jsonLeaf{path: inner})
			}
			if !value.isAbsent() {
				leaves[i].values = append(leaves[i].values, value.text)
			}
			return nil
		})
	}
	for _, line := range lines {
		if line[0] == '{' && jx.Valid(line) && read(jx.DecodeBytes(line), nil) != nil {
			return nil // impossible: the line is valid
		}
	}
	return leaves
}

// isCalled reports whether the names of the path, or its last ones, have the letters and digits of a name. Dots divide
// a name, too.
func (l jsonLeaf) isCalled(name string) bool {
	text := ""
	for _, part := range slices.Backward(strings.Split(pathText(l.path), ".")) {
		text = lettersOf(part) + text
		if text == name {
			return true
		}
	}
	return false
}

// lettersOf returns the letters and digits of a text, in lower case.
func lettersOf(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(text))
}

// isDefault reports whether the member is a field without a mapping.
func (l jsonLeaf) isDefault() bool {
	return len(l.path) == 1 &&
		slices.ContainsFunc(mappingDefaults, func(v namedVariable) bool { return v.name == l.path[0] })
}

// suggestMappings returns mappings with which most of the lines become records of requests. It returns nil if it finds
// none.
func suggestMappings(lines [][]byte, leaves []jsonLeaf) (mappings []string) {
	byDepth := slices.Clone(leaves)
	slices.SortStableFunc(byDepth, func(a, b jsonLeaf) int { return len(a.path) - len(b.path) })
	found := map[string]bool{}
	weight := 0
	for _, g := range guesses {
		if slices.ContainsFunc(g.instead, func(field string) bool { return found[field] }) {
			continue
		}
		leaf, ok := g.find(byDepth)
		if !ok {
			continue
		}
		found[g.field] = true
		weight += g.weight
		if !leaf.isDefault() {
			mappings = append(mappings, g.field+"="+jsonVariable{path: leaf.path}.source())
		}
	}
	if !found["timestamp"] || weight < leastWeight {
		return nil
	}
	if len(mappings) == 0 {
		mappings = []string{"timestamp=timestamp"}
	}
	if !convertsMost(mappings, lines) {
		return nil
	}
	return mappings
}

// find returns the member with the best name whose values all fit.
func (g guess) find(leaves []jsonLeaf) (jsonLeaf, bool) {
	for name := range strings.FieldsSeq(g.names) {
		for _, leaf := range leaves {
			unfit := func(text []byte) bool { return !g.fits(text) }
			if len(leaf.values) > 0 && leaf.isCalled(name) && !slices.ContainsFunc(leaf.values, unfit) {
				return leaf, true
			}
		}
	}
	return jsonLeaf{}, false
}

// convertsMost reports whether more than half of the lines are records by these mappings.
func convertsMost(mappings []string, lines [][]byte) bool {
	f, err := ByMapping(mappings)
	if err != nil {
		return false
	}
	decoder := record.NewDecoder()
	records := 0
	for _, line := range lines {
		text, err := f.Convert(nil, line)
		if err == nil {
			_, err = decoder.Decode(text, &lake.Row{})
		}
		if err == nil {
			records++
		}
	}
	return 2*records > len(lines)
}

// MapFlags returns the flags --map for mappings, as a shell reads them.
func MapFlags(mappings []string) string {
	flags := make([]string, len(mappings))
	for i, mapping := range mappings {
		flags[i] = "--map " + ShellWord(mapping)
	}
	return strings.Join(flags, " ")
}

// ShellWord returns a word as a shell reads it, in quotes if it needs them.
func ShellWord(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("_./@=:,-+", c)
	}
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
