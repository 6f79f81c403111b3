package local

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tablesqlite"
)

// Keys is a store of keys that must be closed.
type Keys interface {
	keys.Store
	io.Closer
}

// keysFile is the database of keys in a data folder.
const keysFile = "keys.db"

// OpenKeys opens the keys of a data folder, and creates the folder if it does not exist. If the keys exist but cannot
// be read, it returns an error, because a server without keys would allow every caller.
//
// In a folder in which the file of keys cannot be created, there are no keys until it exists. A program with more
// permissions, or with more space, may create it at any time, and from then on callers need a key.
func OpenKeys(ctx context.Context, data string) (Keys, error) {
	if err := makeFolder(data); err != nil {
		return nil, err
	}
	file := &tableFile{folder: data, name: keysFile, layout: tablesqlite.Keys, optional: true}
	if _, err := file.open(ctx); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return closingKeys{keys.Over(file), file}, nil
}

// closingKeys are keys in a file.
type closingKeys struct {
	*keys.Items
	io.Closer
}

// OpenTableKeys opens the keys of a deployment in AWS by the name of its table. The configuration of the SDK
// (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL …) sets the region, the endpoint and the credentials.
func OpenTableKeys(ctx context.Context, table string) (Keys, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New(
			"the region of the table is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one",
		)
	}
	return tableKeys{keys.Over(tabledynamo.New(tabledynamo.NewClient(cfg), table))}, nil
}

type tableKeys struct{ *keys.Items }

func (tableKeys) Close() error { return nil }
