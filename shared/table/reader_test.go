package table_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/table"
)

func TestReader(t *testing.T) {
	item := table.Item{Key: table.Key{Partition: "planet#prod", Sort: "head"}, Attributes: table.Attributes{
		"name": "x", "size": int64(-9007199254740993), "list": []string{"a", ""}, "body": []byte{1},
	}}
	r := table.Read(item)
	if r.String("name") != "x" || r.Int64("size") != -9007199254740993 || len(r.Bytes("body")) != 1 {
		t.Error("required values differ")
	}
	if r.OptionalString("none") != "" || r.OptionalInt64("none") != 0 || r.Strings("none") != nil {
		t.Error("missing optional values are not zero")
	}
	if diff := cmp.Diff([]string{"a", ""}, r.Strings("list")); diff != "" || r.Err() != nil {
		t.Errorf("%s%v", diff, r.Err())
	}
	for want, read := range map[string]func(*table.Reader){
		"attribute size is not a string":        func(r *table.Reader) { r.String("size") },
		"attribute none is not an integer":      func(r *table.Reader) { r.Int64("none"); r.String("none too") },
		"attribute name is not an integer":      func(r *table.Reader) { r.OptionalInt64("name") },
		"attribute name is not bytes":           func(r *table.Reader) { r.Bytes("name") },
		"attribute name is not a list":          func(r *table.Reader) { r.Strings("name") },
		"item planet#prod head: attribute none": func(r *table.Reader) { r.String("none") },
	} {
		r := table.Read(item)
		read(r)
		if r.Err() == nil || !strings.Contains(r.Err().Error(), want) {
			t.Errorf("%v, want %q", r.Err(), want)
		}
	}
}
