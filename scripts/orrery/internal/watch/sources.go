package watch

import (
	"errors"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/source"
)

// Sources returns the files of the sources of a data folder for a watching server, and a function that closes
// their databases. A source without databases or a maximum age uses the settings of the server. It calls
// overlap for files that several sources have.
func Sources(
	overlap func(source.Overlap), data target.Folder, databases []string, horizon time.Duration,
) (watched []datadir.Watched, closeAll func() error, err error) {
	sources, err := source.Read(string(data))
	if err != nil {
		return nil, nil, err
	}
	for _, o := range source.Overlaps(sources) {
		overlap(o)
	}
	var open []*geoip.Databases
	closeAll = func() error {
		var failed error
		for _, d := range open {
			failed = errors.Join(failed, d.Close())
		}
		return failed
	}
	for _, s := range sources {
		if len(s.GeoIP) == 0 {
			s.GeoIP = databases
		}
		if s.MaxAge == nil {
			s.MaxAge = &horizon
		}
		options, places, err := logs.OptionsOf(s)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		open = append(open, places)
		watched = append(watched, datadir.Watched{List: s.List, Options: options})
	}
	return watched, closeAll, nil
}
