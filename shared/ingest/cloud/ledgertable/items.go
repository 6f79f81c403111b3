package ledgertable

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// Origin is what an import item records besides the entry, so that its rows can be made again.
type Origin struct {
	Version     string       // of the raw log
	Base        ingest.Entry // where the import begins
	From, Until time.Time    // the times that its records may have
	Report      ingest.Report
	Quarantined int64 // bytes of the rejected lines that were kept
}

// guardItem is the guard of a name.
type guardItem struct {
	Imports int64 `json:"imports"` // number of commits
	// Newest are the families of the newest sources with a first line, at most maxNewest. A copy of such a log that
	// ends before that line is complete is looked for in them.
	Newest []string `json:"newest,omitempty"`
}

const maxNewest = 32

// add adds a family to the newest ones, and reports whether it was missing.
func (g *guardItem) add(family string) bool {
	if slices.Contains(g.Newest, family) {
		return false
	}
	g.Newest = append(g.Newest, family)
	g.Newest = g.Newest[max(0, len(g.Newest)-maxNewest):]
	return true
}

type sourceItem struct {
	ID         string `json:"id"`
	Log        string `json:"log,omitempty"` // "" if an earlier version has written the item
	Format     string `json:"format"`
	HeadLength int    `json:"head_length"` // of the first import
	HeadSum    string `json:"head_sha256"`
}

type headItem struct {
	Text []byte `json:"gzip"`
}

type importItem struct {
	Source     string    `json:"source"`
	Generation int       `json:"generation"`
	Log        string    `json:"log,omitempty"`  // "" if an earlier version has written the item
	Head       int       `json:"head,omitempty"` // length of the head, if this import has written it
	Name       string    `json:"name"`           // of the raw log
	At         time.Time `json:"at"`
	Rules      int       `json:"rules"`
	Length     int64     `json:"length"`
	Sum        string    `json:"sha256"`
	Lines      int64     `json:"lines"`
	Terminated bool      `json:"terminated"`
	Records    int64     `json:"records"`
	Rejected   int64     `json:"rejected"`
	Parts      int       `json:"parts"`
	Objects    int       `json:"objects"`
	Attempt    string    `json:"attempt"`

	// What follows is missing if an earlier version has written the item.
	Version        string `json:"version,omitempty"`     // of the raw log, if the bucket keeps versions
	BaseLength     int64  `json:"base_length,omitempty"` // of the part of the source before the import
	BaseLines      int64  `json:"base_lines,omitempty"`
	BaseTerminated bool   `json:"base_terminated,omitempty"`
	From           int64  `json:"from,omitempty"` // the times that records may have, in Unix milliseconds
	Until          int64  `json:"until,omitempty"`
	Quarantined    int64  `json:"quarantined,omitempty"` // bytes of the rejected lines that were kept
	Judged         int    `json:"judged,omitempty"`      // of a new source: fingerprints of its first records
	Seen           int    `json:"seen,omitempty"`        // fingerprints among them that other sources have
	SeenIn         string `json:"seen_in,omitempty"`

	Absent  []string         `json:"absent,omitempty"`  // what no record of the import has, see ingest.Report
	Misfits map[string]int64 `json:"misfits,omitempty"` // values of a wrong type by field
}

// sourceFamilyItem leads from a source to its family.
type sourceFamilyItem struct {
	Family string `json:"family"`
}

func sourceFamilyKey(source string) lakestate.Key {
	return lakestate.Key{Partition: "ingest#source#" + source, Sort: "family"}
}

// guardKey returns the key of the guard of a name.
func guardKey(log string) lakestate.Key { return familyKey(ledger.LogFamily(log, nil)) }

func familyKey(family string) lakestate.Key { return itemKey(family, "family") }

func itemKey(family, sort string) lakestate.Key {
	return lakestate.Key{Partition: "ingest#" + family, Sort: sort}
}

// sum returns the hash of the source up to the end of the import.
func (i importItem) sum() (sum [sha256.Size]byte, _ error) {
	digits, err := hex.DecodeString(i.Sum)
	if err != nil || len(digits) != len(sum) {
		return sum, fmt.Errorf("ledger: import %d of source %s has the hash %q", i.Generation, i.Source, i.Sum)
	}
	return [sha256.Size]byte(digits), nil
}

func (i importItem) id() string { return ImportID(i.Source, i.Generation) }

func importSort(source string, generation int) string {
	return fmt.Sprintf("import#%s#%06d", source, generation)
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func headOf(item lakestate.Item) ([]byte, error) {
	var head headItem
	if err := item.Read(&head); err != nil {
		return nil, err
	}
	text, err := gzipped.Text(head.Text)
	if err != nil {
		return nil, fmt.Errorf("read item %s %s: %w", item.Key.Partition, item.Key.Sort, err)
	}
	return text, nil
}

// ImportID returns the key of an open import.
func ImportID(source string, generation int) string { return fmt.Sprintf("%s#%d", source, generation) }
