package runs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/table"
)

// The items of the run i of the report r of configuration c. All but the one of its report have the same attributes:
//
//	run#i      run                due_ms scheduled revision run files
//	run#i      report             report, as long as it is kept
//	runs#c#r   0001767337200000#i
//	unfinished 0001767337200000#i until the run has ended
//
// The number in the sort keys is due_ms, when the run was due. A scheduled run (scheduled is 1) keeps the time of its
// schedule if it is requested again later. The attribute run is the run in JSON, files is the list of its files, and
// report is the content of the file of Keep.
const (
	runPrefix           = "run#"
	runKey              = "run"
	reportKey           = "report"
	listPrefix          = "runs#"
	unfinishedPartition = "unfinished"

	dueAttribute       = "due_ms"
	scheduledAttribute = "scheduled"
	revisionAttribute  = "revision"
	runAttribute       = "run"
	filesAttribute     = "files"
	reportAttribute    = "report"
)

// keep is how long runs that have ended are kept. Then the table removes their items. It is longer than the longest
// period of a report, so that the latest run of a report is there.
const keep = 400 * 24 * time.Hour

// entry is a run with what is stored besides.
type entry struct {
	Run
	dueMs     int64
	scheduled bool
	files     []storedFile
}

// storedFile is a file of a run without its content.
type storedFile struct {
	Delivery int    `json:"delivery"`
	Name     string `json:"name"`
	Sum      string `json:"sum"`      // SHA-256 in hexadecimal digits
	Revision int    `json:"revision"` // of the run that has had it first
}

// object returns the name of the object with the content. It has the revision, so that the files of a run that is made
// again are others.
func (f storedFile) object(run string) string {
	return fmt.Sprintf("%s%s/%d-%s", Folder, run, f.Revision, f.Sum)
}

// objects returns the names of the objects of the files.
func (e entry) objects() []string {
	list := make([]string, len(e.files))
	for i, f := range e.files {
		list[i] = f.object(e.ID)
	}
	return list
}

func keyOf(id string) table.Key { return table.Key{Partition: runPrefix + id, Sort: runKey} }

// reportOf returns the key of the item with the report of a run.
func reportOf(id string) table.Key { return table.Key{Partition: runPrefix + id, Sort: reportKey} }

// listOf returns the partition key of the runs of a report. Neither name contains #.
func listOf(config, report string) string { return listPrefix + config + "#" + report }

// listed returns the key of the item in the list of the runs of the report.
func (e entry) listed() table.Key {
	return table.Key{Partition: listOf(e.Config, e.Report), Sort: e.place()}
}

// unfinished returns the key of the item in the list of unfinished runs.
func (e entry) unfinished() table.Key {
	return table.Key{Partition: unfinishedPartition, Sort: e.place()}
}

func (e entry) place() string { return fmt.Sprintf("%016d#%s", e.dueMs, e.ID) }

func (e entry) attributes() (table.Attributes, error) {
	run, err := json.Marshal(e.Run)
	if err != nil {
		return nil, err
	}
	files, err := json.Marshal(e.files)
	if err != nil {
		return nil, err
	}
	scheduled := int64(0)
	if e.scheduled {
		scheduled = 1
	}
	attributes := table.Attributes{
		dueAttribute: e.dueMs, scheduledAttribute: scheduled, revisionAttribute: int64(e.Revision),
		runAttribute: string(run), filesAttribute: string(files),
	}
	if e.State.Ended() && !e.Ended.IsZero() {
		attributes[table.Expires] = e.Ended.Add(keep).Unix()
	}
	return attributes, nil
}

// writes returns the changes that write the items of a run, the run itself under a condition.
func (e entry) writes(when table.Condition) ([]table.Change, error) {
	attributes, err := e.attributes()
	if err != nil {
		return nil, err
	}
	changes := []table.Change{
		{Key: keyOf(e.ID), Attributes: attributes, When: when}, {Key: e.listed(), Attributes: attributes},
	}
	if !e.State.Ended() {
		changes = append(changes, table.Change{Key: e.unfinished(), Attributes: attributes})
	}
	return changes, nil
}

func entryOf(item table.Item) (entry, error) {
	r := table.Read(item)
	e := entry{dueMs: r.Int64(dueAttribute), scheduled: r.Int64(scheduledAttribute) == 1}
	run, files := r.String(runAttribute), r.String(filesAttribute)
	if r.Err() != nil {
		return e, r.Err()
	}
	if err := json.Unmarshal([]byte(run), &e.Run); err != nil {
		return e, fmt.Errorf("read a run: %w", err)
	}
	if err := json.Unmarshal([]byte(files), &e.files); err != nil {
		return e, fmt.Errorf("read the files of run %s: %w", e.ID, err)
	}
	return e, nil
}
