package ledger

import (
	"regexp"
	"slices"
	"strings"
)

// LogName returns the name of the log that a file or an object belongs to. It is the path of the file, or the key of
// the object, without what a rotation changes: dates and times, the rotation number and the suffix of a compression.
//
//	/var/log/web1/access.log.2.gz                    /var/log/web1/access.log
//	/var/log/web1/access-2026-11-21.log              /var/log/web1/access.log
//	raw/2026/11/21/web1/access.log-20261121.zst      raw/web1/access.log
//
// Only dates in folders are removed, no numbers. Everything else is part of the name, such as the unique strings of
// exporters. Folders are separated by slashes. The name is never empty: if nothing is left, it is ".".
func LogName(path string) string {
	parts := strings.Split(path, "/")
	last := len(parts) - 1
	name := strings.Join(append(withoutDateFolders(parts[:last]), baseName(parts[last])), "/")
	if name == "" {
		return "."
	}
	return name
}

// withoutDateFolders removes the folders that are dates.
func withoutDateFolders(folders []string) []string {
	var kept []string
	for len(folders) > 0 {
		n := dateFolders(folders)
		if n == 0 {
			n = 1
			kept = append(kept, folders[0])
		}
		folders = folders[n:]
	}
	return kept
}

// Parts of dates, as regular expressions.
const (
	year   = `(?:19[7-9][0-9]|20[0-9][0-9])`
	month  = `(?:0[1-9]|1[0-2])`
	day    = `(?:0[1-9]|[12][0-9]|3[01])`
	hour   = `(?:[01][0-9]|2[0-3])`
	minute = `[0-5][0-9]`
	second = `[0-5][0-9](?:[.,][0-9]{1,9})?`
)

// dateFolderParts are the folders of a date in their order. The names before "=" are those of Hive partitions.
var dateFolderParts = []*regexp.Regexp{
	regexp.MustCompile(`^(?:y=|year=)?` + year + `$`),
	regexp.MustCompile(`^(?:m=|month=)?` + month + `$`),
	regexp.MustCompile(`^(?:d=|day=)?` + day + `$`),
	regexp.MustCompile(`^(?:h=|hour=)?` + hour + `$`),
	regexp.MustCompile(`^(?:minute=)?` + minute + `$`),
}

// wholeDateFolder matches a folder that is a date by itself.
var wholeDateFolder = regexp.MustCompile(`^(?:dt=|date=|day=)?` + year + `[-_.]?` + month + `[-_.]?` + day + `$`)

// dateFolders returns how many of the first folders are a date: yyyy/mm, and then possibly dd, hh and the minute, or a
// date in one folder and then possibly hh and the minute. A year alone is not a date.
func dateFolders(folders []string) int {
	n, at := 0, 0
	if wholeDateFolder.MatchString(folders[0]) {
		n, at = 1, 3
	}
	for n < len(folders) && at < len(dateFolderParts) && dateFolderParts[at].MatchString(folders[n]) {
		n, at = n+1, at+1
	}
	if at == 1 {
		return 0
	}
	return n
}

// baseName returns the name of a log without its folder.
func baseName(name string) string {
	for numbered := false; ; {
		before := name
		name = withoutEpoch(withoutDates(withoutCompression(name)))
		if !numbered {
			name, numbered = withoutNumber(name)
		}
		if name == before {
			return name
		}
	}
}

// compressions are the suffixes of compressed files.
var compressions = []string{".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz", ".lz4", ".lzma", ".Z"}

func withoutCompression(name string) string {
	for _, suffix := range compressions {
		if before, found := strings.CutSuffix(name, suffix); found && before != "" {
			return before
		}
	}
	return name
}

var (
	number = regexp.MustCompile(`^(.+)\.[0-9]{1,4}$`)
	ipv4   = regexp.MustCompile(`(?:^|[^0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}$`)
)

// withoutNumber removes a rotation number, and reports whether there was one. The end of an IPv4 address is none.
func withoutNumber(name string) (string, bool) {
	found := number.FindStringSubmatch(name)
	if found == nil || ipv4.MatchString(name) {
		return name, false
	}
	return found[1], true
}

// epoch matches a name with a time in seconds or milliseconds since 1970 at the end or before the extensions.
var epoch = regexp.MustCompile(`^(.+)[-_.]1[0-9]{9}(?:[0-9]{3})?((?:\.[A-Za-z][A-Za-z0-9]*)*)$`)

func withoutEpoch(name string) string { return epoch.ReplaceAllString(name, "$1$2") }

// dateForm is a form of a date in a name.
type dateForm struct {
	text    *regexp.Regexp // at the beginning of the rest of a name
	letters bool           // a letter may precede the date
}

// dateForms are the forms of dates, the longer ones first.
var dateForms = func() []dateForm {
	spaced := year + `[-_.]` + month + `[-_.]` + day
	compact := year + month + day
	var forms []dateForm
	for _, time := range []string{
		`[-_T]?` + hour + `[-_:]?` + minute + `[-_:]?` + second + `Z?`,
		`[-_T]?` + hour + `[-_:]?` + minute + `Z?`,
		`[-_T]?` + hour + `Z?`,
		``,
	} {
		forms = append(forms,
			dateForm{regexp.MustCompile(`^` + spaced + time), true},
			dateForm{regexp.MustCompile(`^` + compact + time), false})
	}
	return append(forms,
		dateForm{regexp.MustCompile(`^(?:` + month + `-` + day + `|` + day + `-` + month + `)-` + year), false},
		dateForm{regexp.MustCompile(`^` + year + `-` + month), false})
}()

var (
	// counter matches what may follow a date: the number of the file within the day.
	counter = regexp.MustCompile(`^[-_.][0-9]{1,4}(?:\.[A-Za-z]|$)`)
	// addressRest matches the rest of an IPv4 address after its first number, which looks like an hour.
	addressRest = regexp.MustCompile(`^(?:\.[0-9]{1,3}){3}(?:[^0-9]|$)`)
)

// withoutDates removes every date from a name, each with the separator before it, or after it if it is at the
// beginning.
func withoutDates(name string) string {
	for i := 0; i < len(name); i++ {
		n := dateLength(name, i)
		if n == 0 {
			continue
		}
		before, after := name[:i], name[i+n:]
		switch {
		case before != "" && isSeparator(before[len(before)-1]):
			before = before[:len(before)-1]
		case before == "" && after != "" && isSeparator(after[0]):
			after = after[1:]
		}
		name, i = before+after, len(before)-1
	}
	return name
}

// dateLength returns the length of the date at an offset of a name, including a counter after it, or 0.
func dateLength(name string, at int) int {
	previous := byte('-')
	if at > 0 {
		previous = name[at-1]
	}
	if isDigit(previous) {
		return 0
	}
	i := slices.IndexFunc(dateForms, func(f dateForm) bool {
		n := len(f.text.FindString(name[at:]))
		return n > 0 && (f.letters || !isLetter(previous)) && endsDate(name[at+n:])
	})
	if i < 0 {
		return 0
	}
	n := len(dateForms[i].text.FindString(name[at:]))
	if c := counter.FindString(name[at+n:]); c != "" {
		if isLetter(c[len(c)-1]) {
			c = c[:len(c)-2] // the extension
		}
		n += len(c)
	}
	return n
}

// endsDate reports whether a date or a time may end before the rest of a name.
func endsDate(rest string) bool {
	if rest == "" {
		return true
	}
	return !isDigit(rest[0]) && !isLetter(rest[0]) && !addressRest.MatchString(rest)
}

func isDigit(c byte) bool     { return '0' <= c && c <= '9' }
func isLetter(c byte) bool    { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isSeparator(c byte) bool { return strings.IndexByte("-_.@+ ", c) >= 0 }
