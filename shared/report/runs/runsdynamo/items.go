package runsdynamo

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/runs"
)

// The items of the run i of the report r of configuration c, all with the same attributes:
//
//	run#i      run                due_ms scheduled revision run files
//	runs#c#r   0001767337200000#i
//	unfinished 0001767337200000#i until the run has ended
//
// The number in the sort keys is due_ms, when the run was due. It is that of the schedule (scheduled is 1) if the run is
// requested again later. The attribute run is the run in JSON, and files is the list of its files.
const (
	runPrefix           = "run#"
	runKey              = "run"
	listPrefix          = "runs#"
	unfinishedPartition = "unfinished"

	dueAttribute       = "due_ms"
	scheduledAttribute = "scheduled"
	revisionAttribute  = "revision"
	runAttribute       = "run"
	filesAttribute     = "files"
)

// keep is how long runs that have ended are kept. Then DynamoDB removes their items. It is longer than the longest period of
// a report, so that the latest run of a report is there.
const keep = 400 * 24 * time.Hour

// entry is a run with what is stored besides.
type entry struct {
	runs.Run
	dueMs     int64
	scheduled bool
	files     []file
}

// file is a file of a run without its content.
type file struct {
	Delivery int    `json:"delivery"`
	Name     string `json:"name"`
	Sum      string `json:"sum"`      // SHA-256 in hexadecimal digits
	Revision int    `json:"revision"` // of the run that has had it first
}

// object returns the name of the object with the content. It has the revision, so that the files of a run that is made
// again are others.
func (f file) object(run string) string {
	return fmt.Sprintf("%s%s/%d-%s", Folder, run, f.Revision, f.Sum)
}

// names returns the names of the objects of files.
func names(run string, files []file) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.object(run)
	}
	return list
}

// written is an item that is written, with its condition.
type written struct {
	item      dynamotable.Item
	condition string // "": none
	values    dynamotable.Item
}

// items are the items of a run.
type items struct{ run, listed, unfinished written }

func (e entry) items() (items, error) {
	run, err := json.Marshal(e.Run)
	if err != nil {
		return items{}, err
	}
	files, err := json.Marshal(e.files)
	if err != nil {
		return items{}, err
	}
	scheduled := int64(0)
	if e.scheduled {
		scheduled = 1
	}
	attributes := dynamotable.Item{
		dueAttribute:       dynamotable.Number(e.dueMs),
		scheduledAttribute: dynamotable.Number(scheduled),
		revisionAttribute:  dynamotable.Number(int64(e.Revision)),
		runAttribute:       dynamotable.String(string(run)),
		filesAttribute:     dynamotable.String(string(files)),
	}
	if e.State.Ended() && !e.Ended.IsZero() {
		attributes[dynamotable.Expires] = dynamotable.Number(e.Ended.Add(keep).Unix())
	}
	at := func(pk, sk string) written { return written{item: dynamotable.NewItem(pk, sk, attributes)} }
	place := fmt.Sprintf("%016d#%s", e.dueMs, e.ID)
	return items{at(runPrefix+e.ID, runKey), at(listOf(e.Config, e.Report), place), at(unfinishedPartition, place)}, nil
}

func entryOf(item dynamotable.Item) (entry, error) {
	r := dynamotable.Read(item)
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

// listOf returns the partition key of the runs of a report. Neither name contains #.
func listOf(config, report string) string { return listPrefix + config + "#" + report }

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }
