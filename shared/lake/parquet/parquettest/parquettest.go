// Package parquettest reads objects of the lake for tests as any reader of Parquet would: with parquet-go only, without
// the code of package parquet.
package parquettest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/orrery/orrery/shared/lake"
)

// Rows returns all rows of an object in order.
func Rows(object []byte) (rows []lake.Row, err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go v0.32.0 panics on some damaged objects
			err = fmt.Errorf("damaged parquet object: %v", p)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		return nil, err
	}
	r := parquet.NewGenericReader[lake.Row](file)
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		batch := make([]lake.Row, 100)
		n, err := r.Read(batch)
		for i := range batch[:n] {
			forgetLacking(&batch[i], file.Root())
		}
		rows = append(rows, batch[:n]...)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// forgetLacking sets the columns that the object does not have to absent. parquet-go reads an empty list for a missing
// one.
func forgetLacking(row *lake.Row, object *parquet.Column) {
	v := reflect.ValueOf(row).Elem()
	for i, name := range lake.ColumnNames {
		if object.Column(name) == nil {
			v.Field(i).SetZero()
		}
	}
}

// Sort puts rows into the order of objects.
func Sort(rows []lake.Row) {
	slices.SortFunc(rows, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
}
