// Package views writes programs that read the objects of a data folder with other tools.
package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Pandas returns a program in Python that reads objects with pyarrow into the DataFrame traffic of pandas.
func Pandas(objects []lake.Object, period *query.Period) (string, error) {
	var b strings.Builder
	b.WriteString("import pyarrow as pa\nimport pyarrow.compute as pc\nimport pyarrow.dataset as ds\n\n")
	objects = widestFirst(objects) // the first one determines the schema
	if err := writeFiles(&b, objects); err != nil {
		return "", err
	}
	b.WriteString("field = pc.field\ncolumns = {\n")
	for _, c := range columns(objects) {
		value := fmt.Sprintf("field(%q)", c.Column)
		switch c.Type {
		case catalog.Time:
			value = `(field("ts_ms") * 1000000 + field("ts_nanos")).cast(pa.timestamp("ns", "UTC"))`
		case catalog.Float:
			value += ".cast(pa.float64()) / 1e6"
		}
		fmt.Fprintf(&b, "    %q: %s,\n", c.Name, value)
	}
	b.WriteString("}\ntable = ds.dataset(files, format=\"parquet\").to_table(columns=columns" +
		condition("field", period) + ")\ntraffic = table.to_pandas()\n")
	return b.String(), nil
}

// Polars returns a program in Python that makes the LazyFrame traffic of polars, which reads objects.
func Polars(objects []lake.Object, period *query.Period) (string, error) {
	var b strings.Builder
	b.WriteString("import polars as pl\n\n")
	objects = widestFirst(objects)
	if err := writeFiles(&b, objects); err != nil {
		return "", err
	}
	b.WriteString("col = pl.col\ntraffic = pl.scan_parquet(files, missing_columns=\"insert\")")
	if bounds := bounds("col", period); bounds != "" {
		b.WriteString(".filter(" + bounds + ")")
	}
	b.WriteString(".select(\n")
	for _, c := range columns(objects) {
		value := fmt.Sprintf("col(%q)", c.Column)
		switch c.Type {
		case catalog.Time:
			value = `(col("ts_ms") * 1000000 + col("ts_nanos")).cast(pl.Datetime("ns", "UTC"))`
		case catalog.Float:
			value = "(" + value + " / 1e6).round(6)" // polars multiplies by an inexact 1e-6
		}
		fmt.Fprintf(&b, "    %s=%s,\n", c.Name, value)
	}
	b.WriteString(")\n")
	return b.String(), nil
}

// Spark returns a program in Python that creates the view traffic of Spark SQL.
func Spark(objects []lake.Object, period *query.Period) (string, error) {
	var b strings.Builder
	b.WriteString("from pyspark.sql import SparkSession\nfrom pyspark.sql.functions import col\n\n")
	if err := writeFiles(&b, objects); err != nil {
		return "", err
	}
	b.WriteString("spark = SparkSession.builder.getOrCreate()\n" +
		"records = spark.read.option(\"mergeSchema\", True).parquet(*files)\n")
	if bounds := bounds("col", period); bounds != "" {
		b.WriteString("records = records.where(" + bounds + ")\n")
	}
	b.WriteString("records.selectExpr(\n")
	for _, c := range columns(widestFirst(objects)) {
		value := c.Column
		switch c.Type {
		case catalog.Time:
			value = "timestamp_micros(ts_ms * 1000 + ts_nanos div 1000)"
		case catalog.Float:
			value += " / 1e6"
		}
		fmt.Fprintf(&b, "    %q,\n", value+" AS "+c.Name)
	}
	b.WriteString(").createOrReplaceTempView(\"traffic\")\n")
	return b.String(), nil
}

// condition returns the parameter of a filter for a period, or "".
func condition(field string, period *query.Period) string {
	if period == nil {
		return ""
	}
	return ", filter=" + bounds(field, period)
}

// bounds returns the condition on the time of the records, or "".
func bounds(field string, period *query.Period) string {
	if period == nil {
		return ""
	}
	return fmt.Sprintf("(%[1]s(\"ts_ms\") >= %[2]d) & (%[1]s(\"ts_ms\") <= %[3]d)", field, period.FromMs, period.ToMs)
}

// widestFirst returns the objects with those first that have all columns. Objects of an earlier schema lack some.
func widestFirst(objects []lake.Object) []lake.Object {
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b lake.Object) int { return len(columnsOf(b)) - len(columnsOf(a)) })
	return objects
}

// columns returns the columns of the first object.
func columns(objects []lake.Object) []catalog.ViewColumn {
	if len(objects) == 0 {
		return catalog.ViewColumns()
	}
	return columnsOf(objects[0])
}

func columnsOf(o lake.Object) []catalog.ViewColumn {
	return slices.DeleteFunc(catalog.ViewColumns(), func(c catalog.ViewColumn) bool { return !o.Has(c.Column) })
}

// writeFiles writes the list of the files. A string of JSON without surrogates is one of Python, too.
func writeFiles(b *strings.Builder, objects []lake.Object) error {
	b.WriteString("files = [\n")
	for _, o := range objects {
		if !utf8.ValidString(o.Path) {
			return fmt.Errorf("the path %q is not valid UTF-8: move the data folder", o.Path)
		}
		text, err := json.Marshal(o.Path)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "    %s,\n", text)
	}
	b.WriteString("]\n")
	return nil
}
