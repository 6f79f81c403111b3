package scan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// RollupHead is the length of the start of a rollup that is read at first. Its figures are seldom longer.
const RollupHead = 64 << 10

// expectRollups announces the figures of rollups that are not in memory to the source. A path may be "".
func (r *run) expectRollups(paths []string) {
	if r.source == nil {
		return
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		_ = openFile(r.source, path, func(in io.ReaderAt) error { // if it fails, reading them does
			version, err := versionOfOpen(path, in)
			if _, known := r.rollups.known.find(version); err != nil || known {
				return err
			}
			return in.(Input).Expect([]parquet.Part{{Length: min(RollupHead, version.size)}})
		})
	}
}

// expectSections announces the sections that the query needs of the lists of days to the source.
func (r *run) expectSections(days []rolledUpDay) error {
	if r.source == nil {
		return nil
	}
	for path, parts := range r.sectionsOf(days) {
		err := openFile(r.source, path, func(in io.ReaderAt) error { return in.(Input).Expect(parts) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sectionsOf returns where the sections are that the query needs of the lists of days, by the paths of their rollups.
func (r *run) sectionsOf(days []rolledUpDay) map[string][]parquet.Part {
	parts := map[string][]parquet.Part{}
	add := func(day rolledUpDay, name string) bool {
		s, found := day.Section(name)
		part := parquet.Part{Offset: int64(day.Bytes) + s.Offset, Length: s.Length}
		if found && s.Length > 0 && !slices.Contains(parts[day.path], part) { // it may be of the day of several subsets
			parts[day.path] = append(parts[day.path], part)
		}
		return found
	}
	for _, day := range days {
		if day.together != nil {
			add(*day.whole, rollup.UnionsName)
		}
		r.eachSection(func(name string) { add(day, name) }, func(d query.Dimension) {
			add(day, rollup.ValuesName(d))
			if day.whole != nil {
				add(*day.whole, rollup.ValuesName(d))
			}
			for part := range 1 << partBits {
				of := day
				if add(day, rollup.PlacesName(d, part)) {
					of = *day.whole
				}
				add(of, rollup.ValuesPartName(d, part))
			}
		})
	}
	return parts
}

// eachSection calls add with the names of the sections that the query needs, and values with the dimensions whose
// values it needs.
func (r *run) eachSection(add func(name string), values func(d query.Dimension)) {
	switch shape := r.query.Shape.(type) {
	case query.Counts:
		add(rollup.CountsName(shape))
	case query.Stats:
		if shape.Percentiles {
			add(durationsName)
		}
	case query.Histogram:
		add(cellsName)
		add(cellsNameOf(shape.Measure))
	case query.TopX:
		for _, part := range partsOf(shape) {
			for _, name := range rollup.KeysNames(part.Column) {
				add(name)
			}
		}
	case query.Facets:
		for _, d := range shape.By {
			values(d)
		}
	case query.Diff:
		for _, d := range shape.By {
			values(d)
		}
	}
}

// section reads a section of the lists of a day, if possible into a buffer. If it is damaged or missing, or was
// replaced, the error is an ErrUnsupported.
func (r *run) section(day rolledUpDay, name string, buffer []byte) (content []byte, _ error) {
	s, found := day.Section(name)
	if !found {
		return nil, fmt.Errorf("%w: a rollup has no section %q", ErrUnsupported, name)
	}
	err := openFile(r.source, day.path, func(in io.ReaderAt) (err error) {
		content, err = day.ReadSection(in, s, buffer)
		return err
	})
	if err != nil && r.source != nil { // the records have everything, and may be easier to reach
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return content, unusable(err)
}

// ownSection reads a section into a buffer of its own.
func (r *run) ownSection(day rolledUpDay, name string) ([]byte, error) {
	return r.section(day, name, nil)
}

// unusable returns an ErrUnsupported for an error of a rollup that is missing or damaged.
func unusable(err error) error {
	if errors.Is(err, rollup.ErrInvalid) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}
