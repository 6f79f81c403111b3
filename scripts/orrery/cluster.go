package main

import (
	"os"
	"time"

	"github.com/orrery/orrery/shared/engine/trino"
)

// cluster is a Trino cluster as flags name it. Its password comes from the environment alone: command lines can be read
// by everybody on the machine.
type cluster struct {
	Trino        string `env:"ORRERY_TRINO" help:"Answer from the Trino cluster at this URL, not from the folder. Its password is read from ORRERY_TRINO_PASSWORD." placeholder:"URL"`
	TrinoCatalog string `default:"hive" env:"ORRERY_TRINO_CATALOG" help:"Catalogue of its Hive connector." placeholder:"NAME"`
	TrinoSchema  string `default:"traffic" env:"ORRERY_TRINO_SCHEMA" help:"Schema that holds the tables, see 'orrery ddl'." placeholder:"NAME"`
	TrinoUser    string `default:"orrery" env:"ORRERY_TRINO_USER" help:"User to ask it as." placeholder:"NAME"`
}

func (c cluster) connect() (*trino.Client, error) {
	return trino.Connect(trino.Config{
		URL: c.Trino, Catalog: c.TrinoCatalog, Schema: c.TrinoSchema, User: c.TrinoUser,
		Password: os.Getenv("ORRERY_TRINO_PASSWORD"), Now: time.Now,
	})
}
