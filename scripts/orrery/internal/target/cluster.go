package target

import (
	"os"
	"time"

	"github.com/orrery/orrery/shared/engine/trino"
)

// Cluster is the Trino cluster that the flags name. Its password is only read from the environment, because every user
// of the machine can read command lines.
type Cluster struct {
	Trino        string `env:"ORRERY_TRINO" help:"Query this Trino cluster, not the folder." placeholder:"URL"`
	TrinoCatalog string `env:"ORRERY_TRINO_CATALOG" default:"hive" help:"Hive catalogue of the cluster." placeholder:"NAME"`
	TrinoSchema  string `env:"ORRERY_TRINO_SCHEMA" default:"traffic" help:"Schema of the tables." placeholder:"NAME"`
	TrinoUser    string `env:"ORRERY_TRINO_USER" default:"orrery" help:"User of the cluster; ORRERY_TRINO_PASSWORD has the password."`
}

func (c Cluster) Connect() (*trino.Client, error) {
	return trino.Connect(trino.Config{
		URL: c.Trino, Catalog: c.TrinoCatalog, Schema: c.TrinoSchema, User: c.TrinoUser,
		Password: os.Getenv("ORRERY_TRINO_PASSWORD"), Now: time.Now,
	})
}
