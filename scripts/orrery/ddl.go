package main

import (
	"fmt"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/lake"
)

type ddlCommand struct {
	Dialect  string `enum:"trino,athena" default:"trino" help:"trino or athena."`
	Location string `required:"" help:"Folder that holds fresh/ and compact/, such as s3://bucket/lake/." placeholder:"URL"`
	Schema   string `default:"traffic" help:"Schema of the tables; for Trino, also CATALOGUE.SCHEMA." placeholder:"NAME"`
	FromYear int    `required:"" help:"First year of the records; each year makes planning slower." placeholder:"YEAR"`
}

// Run prints the statements for the engine's own client. A year has 8,760 hourly partitions, which the engine considers
// when it plans a query.
func (d *ddlCommand) Run(c terminal.Console) error {
	print, create := lake.Table.TrinoDDL, "CREATE SCHEMA IF NOT EXISTS "
	if d.Dialect == "athena" {
		print, create = lake.Table.AthenaDDL, "CREATE DATABASE IF NOT EXISTS "
	}
	statements := []string{create + d.Schema}
	for _, t := range lake.Tables(d.Location, d.Schema, d.FromYear) {
		if t.Name == lake.ListTable {
			continue // lists of values are in the folder of the server
		}
		text, err := print(t)
		if err != nil {
			return exit.With(exit.Usage, err.Error())
		}
		statements = append(statements, text)
	}
	for _, text := range statements {
		if _, err := fmt.Fprintf(c.Out, "%s;\n\n", text); err != nil {
			return err
		}
	}
	return nil
}
