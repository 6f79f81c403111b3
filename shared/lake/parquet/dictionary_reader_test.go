package parquet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// TestDictionaryPages: the entries of a dictionary are exactly the values of the column in the row group, or Dictionary
// reports that it does not know them. It reads no data page.
func TestDictionaryPages(t *testing.T) {
	rows := randomRows(3, 400)
	for name, object := range map[string][]byte{
		"of the importer":                     written(t, rows),
		"of a writer with small dictionaries": writtenPlainly(t, rows),
	} {
		t.Run(name, func(t *testing.T) {
			in := &watchedReader{in: bytes.NewReader(object)}
			file, err := OpenColumns(in, int64(len(object)))
			if err != nil {
				t.Fatal(err)
			}
			complete, incomplete := 0, 0
			footer := footerOf(t, object)
			for group := range file.groups {
				for i := range leaves {
					in.from, in.to = footer.dataPages(group, &leaves[i])
					if checkDictionary(t, file, group, &leaves[i]) {
						complete++
					} else {
						incomplete++
					}
				}
			}
			t.Logf("%d dictionaries are complete, %d are not", complete, incomplete)
			if incomplete == 0 || complete == 0 && name == "of the importer" {
				t.Error("the object tests too little")
			}
			if in.wrong != "" {
				t.Error(in.wrong)
			}
		})
	}
}

// footerOf reads the footer of an object.
func footerOf(t *testing.T, content []byte) *object {
	t.Helper()
	o, err := openObject(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// dataPages returns the part of the object that the data pages of a column take.
func (o *object) dataPages(group int, l *leaf) (from, to int64) {
	meta := &o.chunk(group, l).MetaData
	return meta.DataPageOffset, chunkStart(meta) + meta.TotalCompressedSize
}

// watchedReader notes a read of the bytes from…to.
type watchedReader struct {
	in       io.ReaderAt
	from, to int64
	wrong    string
}

func (w *watchedReader) ReadAt(p []byte, at int64) (int, error) {
	if at < w.to && at+int64(len(p)) > w.from {
		w.wrong = fmt.Sprintf("%d bytes at %d are read, the data pages are from %d to %d", len(p), at, w.from, w.to)
	}
	return w.in.ReadAt(p, at)
}

// checkDictionary compares a dictionary with the values of the column, if it is complete.
func checkDictionary(t *testing.T, file *ColumnReader, group int, l *leaf) (complete bool) {
	t.Helper()
	entries, size, complete, err := file.Dictionary(group, Column{l})
	if err != nil {
		t.Fatal(err)
	}
	if !complete {
		if entries.Len() > 0 || size > 0 {
			t.Errorf("%s: %d entries of %d bytes, which are not all", l.path, entries.Len(), size)
		}
		return false
	}
	var got []string
	for i := range int32(entries.Len()) {
		got = append(got, string(entries.At(i)))
	}
	plain, err := OpenColumns(file.in.(*watchedReader).in, file.size)
	if err != nil {
		t.Fatal(err)
	}
	var values ColumnValues
	if err := plain.Read(group, Column{l}, &values); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, code := range values.Codes {
		switch {
		case code == Absent:
		case l.kind == lake.Int:
			want = append(want, strconv.FormatInt(values.Ints[code], 10))
		default:
			want = append(want, string(values.Texts.At(code)))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("%s: the dictionary has %q, the column %q", l.path, got, want)
	}
	return true
}

// TestDictionaryOfSomePages: a dictionary is not complete if a data page of the column does not use it, or if the
// footer does not list the encodings.
func TestDictionaryOfSomePages(t *testing.T) {
	object := written(t, randomRows(3, 50))
	column, _ := ColumnOf("country", "")
	for name, stats := range map[string][]format.PageEncodingStats{
		"a plain page": {
			{PageType: format.DataPage, Encoding: format.RLEDictionary, Count: 1},
			{PageType: format.DataPage, Encoding: format.Plain, Count: 1},
		},
		"no encodings": nil,
	} {
		t.Run(name, func(t *testing.T) {
			changed := parquettest.WithFooter(t, object, func(footer *format.FileMetaData) {
				for i := range footer.RowGroups {
					footer.RowGroups[i].Columns[column.leaf.number].MetaData.EncodingStats = stats
				}
			})
			if _, _, complete, err := mustOpen(t, object).Dictionary(0, column); err != nil || !complete {
				t.Errorf("before: complete is %t, %v", complete, err)
			}
			if _, _, complete, err := mustOpen(t, changed).Dictionary(0, column); err != nil || complete {
				t.Errorf("after: complete is %t, %v", complete, err)
			}
		})
	}
}

func TestDamagedDictionaryPage(t *testing.T) {
	object := written(t, randomRows(3, 50))
	column, _ := ColumnOf("country", "")
	at := footerOf(t, object).chunk(0, column.leaf).MetaData.DictionaryPageOffset
	for i := range int64(60) {
		damaged := bytes.Clone(object)
		damaged[at+i] ^= 0x55
		file, err := OpenColumns(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			t.Fatal(err)
		}
		before, _, _, _ := mustOpen(t, object).Dictionary(0, column)
		after, _, _, err := file.Dictionary(0, column)
		if err == nil && !equalEntries(before, after) {
			t.Errorf("byte %d: a damaged dictionary is read without an error", i)
		}
	}
}

func mustOpen(t *testing.T, object []byte) *ColumnReader {
	t.Helper()
	file, err := OpenColumns(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func equalEntries(a, b Entries) bool {
	for i := range int32(a.Len()) {
		if i >= int32(b.Len()) || !bytes.Equal(a.At(i), b.At(i)) {
			return false
		}
	}
	return a.Len() == b.Len()
}
