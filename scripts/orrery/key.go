package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/keys"
)

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Create a key and print it. It is shown only once."`
	List   keyListCommand   `cmd:"" help:"List the keys, including revoked and expired ones."`
	Revoke keyRevokeCommand `cmd:"" help:"Revoke a key; running servers refuse it within a minute."`
}

// keyStore is the place of the keys: a data folder, or the table of a deployment.
type keyStore struct {
	Data  target.Folder `help:"Folder that holds the data." default:".orrery" env:"ORRERY_DATA" placeholder:"DIR"`
	Table string        `help:"DynamoDB table of a deployment to use instead of --data. The variables of the AWS SDK apply." placeholder:"NAME"`
}

// mustExist returns an error for a folder without data, for commands that create no key.
func (k keyStore) mustExist() error {
	if k.Table != "" {
		return nil
	}
	return k.Data.MustExist()
}

// use opens the keys, calls f and closes them.
func (k keyStore) use(ctx context.Context, f func(keys.Store) error) error {
	open := func() (local.Keys, error) { return local.OpenKeys(ctx, string(k.Data)) }
	if k.Table != "" {
		open = func() (local.Keys, error) { return local.OpenTableKeys(ctx, k.Table) }
	}
	store, err := open()
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

type keyCreateCommand struct {
	Name string `arg:"" help:"Name of the user, for logs and the history of planets."`
	keyStore
	Scope   []keys.Scope `required:"" help:"data:read, data:write, conf:read, conf:write, report:read or report:write; may be repeated." placeholder:"SCOPE"`
	Branch  []string     `sep:"none" help:"Branch that the key can see; may be repeated; default: all." placeholder:"BRANCH"`
	Expires string       `help:"When the key expires, such as 2027-01-31; default: never." placeholder:"TIME"`
}

// Run prints only the key to standard output. Nothing else can show it later. A branch is also the name of a
// configuration.
func (k *keyCreateCommand) Run(ctx context.Context, c terminal.Console) error {
	grant := keys.Grant{Name: k.Name, Scopes: k.Scope, Branches: k.Branch}
	if k.Expires != "" {
		var err error
		if grant.Expires, err = parseTime("--expires", k.Expires); err != nil {
			return err
		}
	}
	return k.use(ctx, func(store keys.Store) error {
		secret, key, err := keys.Issue(ctx, store, grant, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "key %s for %s: %s on %s. It is shown only once:\n",
			key.ID, key.Name, scopesText(key.Scopes), branchesText(key.Branches))
		_, err = fmt.Fprintln(c.Out, secret)
		return err
	})
}

type keyListCommand struct{ keyStore }

// Run prints a table of all keys, oldest first.
func (k *keyListCommand) Run(ctx context.Context, c terminal.Console) error {
	if err := k.mustExist(); err != nil {
		return err
	}
	return k.use(ctx, func(store keys.Store) error {
		list, err := store.List(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "id\tname\tstate\tscopes\tbranches\tcreated\texpires\trevoked")
		for _, key := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				key.ID, key.Name, key.State(now), scopesText(key.Scopes), branchesText(key.Branches),
				terminal.Time(key.Created), terminal.Time(key.Expires), terminal.Time(key.Revoked))
		}
		return w.Flush()
	})
}

type keyRevokeCommand struct {
	Key string `arg:"" help:"ID of the key, or its name if only one key has it." placeholder:"NAME|ID"`
	keyStore
}

// Run revokes one key.
func (k *keyRevokeCommand) Run(ctx context.Context, c terminal.Console) error {
	if err := k.mustExist(); err != nil {
		return err
	}
	return k.use(ctx, func(store keys.Store) error {
		key, err := keys.Revoke(ctx, store, k.Key, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "key %s of %s was revoked at %s; running servers refuse it within a minute\n",
			key.ID, key.Name, terminal.Time(key.Revoked))
		return nil
	})
}

func scopesText(scopes []keys.Scope) string {
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ",")
}

func branchesText(branches []string) string {
	if branches == nil {
		return "all branches"
	}
	return strings.Join(branches, ",")
}
