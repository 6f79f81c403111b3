package rawbucket

import (
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// Folders of the bucket.
const (
	rawFolder     = "raw/"
	historyFolder = "history/" // in rawFolder
)

// Stdin is the name of standard input as a file.
const Stdin = "-"

// Names returns the names of files in the bucket, which are their names without their folders, or the given name if it
// is not empty. The import identifies a log by its name and its content. Names therefore refuses files that would have
// one name although they are in different folders, because they may be logs of different hosts.
func Names(files []string, name string) ([]string, error) {
	if name != "" {
		if len(files) > 1 {
			return nil, nameOfSeveral()
		}
		return []string{name}, checkName(name)
	}
	names := make([]string, len(files))
	folders := map[string]string{} // by name of the log
	for i, file := range files {
		if file == Stdin {
			return nil, namelessStdin()
		}
		names[i] = filepath.Base(file)
		if err := checkName(names[i]); err != nil {
			return nil, err
		}
		folder, err := folderOf(file)
		if err != nil {
			return nil, err
		}
		log := ledger.LogName(names[i])
		if other, found := folders[log]; found && other != folder {
			return nil, sameName(file, names[i], other, folder)
		}
		folders[log] = folder
	}
	return names, nil
}

// folderOf returns the folder of a file without symbolic links, if it exists.
func folderOf(file string) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		return real, nil
	}
	return folder, nil // opening the file reports the error
}

// maxName leaves space in a key, which has at most 1024 bytes.
const maxName = 900

// checkName refuses names that would make keys that are hard to use or that mean something else.
func checkName(name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." {
			return badName(name, "its parts must not be empty, . or ..")
		}
	}
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `\`):
		return badName(name, "it must be UTF-8 without control characters and backslashes")
	case len(name) > maxName:
		return badName(name, "it is too long")
	case strings.HasPrefix(name, rawFolder):
		return badName(name, "leave out "+rawFolder+", which is added")
	case strings.HasPrefix(name, historyFolder):
		return badName(name, "leave out "+historyFolder+" and use --history")
	case ledger.LogName(rawFolder+name) != ledger.LogName(rawFolder+withDay(name, epoch)),
		ledger.LogName(rawFolder+name) != ledger.LogName(rawFolder+withTime(name, epoch)):
		return badName(name, "a part of it looks like a part of a date")
	}
	return nil
}

// keys returns the key of a log, and another one if an object with other content has that key:
//
//	raw/web1/2026/11/21/access.log.gz
//	raw/web1/2026/11/21/access.log.gz-20261121T100503.000000000Z
//
// The day and the time are those of the last change of the file, so that the same file always has the same keys. Both
// keys are of the same log, because dates are no part of its name (ledger.LogName). The date follows the folders of the
// name. Otherwise a folder that begins the name could be taken for the hour of the date.
func keys(name string, modified time.Time, history bool) [2]string {
	modified = modified.UTC()
	if year := modified.Year(); year < 1970 || year > 2099 { // LogName knows no other years
		modified = epoch
	}
	prefix := rawFolder
	if history {
		prefix = rawlog.HistoryPrefix
	}
	return [2]string{prefix + withDay(name, modified), prefix + withTime(name, modified)}
}

// epoch is the time of a file with an impossible time.
var epoch = time.Unix(0, 0).UTC()

func withDay(name string, at time.Time) string {
	folder, base := path.Split(name)
	return folder + at.Format("2006/01/02/") + base
}

func withTime(name string, at time.Time) string {
	return withDay(name, at) + at.Format("-20060102T150405.000000000Z")
}
