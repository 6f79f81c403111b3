package ledgersqlite

import (
	"strings"

	"github.com/orrery/orrery/shared/ingest/ledger"
)

// An earlier version imported rejected lines as a log of their own, in the folder of the quarantine. Its name was made
// of 32 letters of a hash, and that of the input was retryPrefix with the name of the log, or with the id of its source
// if that was not in the ledger.
const retryPrefix = "quarantine of "

// isRetry is the condition of such an import i of a source s.
var isRetry = `(i.name GLOB '` + retryPrefix + `*' AND s.log GLOB 'quarantine/` + strings.Repeat("[a-p]", 32) + `')`

// withRetries sets RetryOf of the sources that are such retries, as far as one other source only has the name. The
// names are those of all imports, by source.
func withRetries(sources []ledger.Source, retries map[string]bool, names map[string]map[string]bool) {
	for i := range sources {
		if !retries[sources[i].ID] {
			continue
		}
		of := strings.TrimPrefix(sources[i].Name, retryPrefix)
		var found []string
		for _, s := range sources {
			if !retries[s.ID] && (s.ID == of || names[s.ID][of]) {
				found = append(found, s.ID)
			}
		}
		if len(found) == 1 {
			sources[i].RetryOf = found[0]
		}
	}
}
