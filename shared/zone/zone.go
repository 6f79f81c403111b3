// Package zone has the time zones of the IANA database.
//
// The database is a part of the program and comes from a Go release. Package time would prefer the machine's database,
// so the same question could have different answers on two machines.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gzipped"
)

// compressed is the file lib/time/zoneinfo.zip of Go 1.26. That archive is not compressed, so gzip -9n has compressed it
// to a quarter.
//
//go:embed zoneinfo.zip.gz
var compressed []byte

// files returns the files of the database by the names of their zones.
var files = sync.OnceValue(func() map[string]*zip.File {
	archive, err := read(compressed)
	if err != nil {
		panic("zone: read the database: " + err.Error()) // it is a part of the program
	}
	byName := map[string]*zip.File{}
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			byName[file.Name] = file
		}
	}
	return byName
})

// read reads a compressed archive.
func read(compressed []byte) (*zip.Reader, error) {
	database, err := gzipped.Text(compressed)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(database), int64(len(database)))
}

// Names returns the names of all zones, in alphabetical order.
var Names = sync.OnceValue(func() []string {
	names := make([]string, 0, len(files()))
	for name := range files() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
})

// UnknownError is the error of a name that no zone has.
type UnknownError struct {
	Name    string
	Nearest string // the zone that was most likely meant, or ""
}

func (e *UnknownError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("there is no time zone %q; a zone has a name such as Europe/Berlin or UTC", e.Name)
	}
	return fmt.Sprintf("there is no time zone %q; did you mean %q?", e.Name, e.Nearest)
}

// Load returns the zone with a name. The error is an *UnknownError.
func Load(name string) (*time.Location, error) {
	file, known := files()[name]
	if !known {
		return nil, &UnknownError{name, nearest(name)}
	}
	reader, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("open time zone %s: %w", name, err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("read time zone %s: %w", name, err)
	}
	return time.LoadLocationFromTZData(name, data)
}

// nearest returns the zone that a name was most likely meant to be, or "". A city alone is enough.
func nearest(name string) string {
	zones := Names()
	if !strings.Contains(name, "/") {
		cities := make([]string, len(zones))
		for i, zone := range zones {
			cities[i] = zone[strings.LastIndex(zone, "/")+1:]
		}
		if near := filter.Nearest(name, cities); near != "" {
			return zones[slices.Index(cities, near)]
		}
		return ""
	}
	return filter.Nearest(name, zones)
}
