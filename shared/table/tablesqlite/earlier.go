package tablesqlite

import "strings"

// The layouts of the files of a data folder.
var (
	// Planets is the layout of planets.db.
	Planets = Layout{
		noun: "planets", log: true, earlier: []string{"planet_versions"},
		tables: versions("planet_versions", "config", "settings", "substr(partition, 8)", "'planet/' || NEW.config || '/'"),
	}
	// Documents is the layout of documents.db, which has the documents of all other kinds.
	Documents = Layout{
		noun: "documents", log: true, earlier: []string{"document_versions"},
		tables: versions("document_versions", "id", "text",
			"replace(partition, '#', '/') || '/' || substr(sort, 10, max(0, length(sort) - 20))", "NEW.id"),
	}
	// Keys is the layout of keys.db. It has no write-ahead log, because that is another file and so prevents reading on a
	// read-only file system. Keys are rarely written.
	Keys = Layout{
		noun: "keys", earlier: []string{"keys"}, tables: keys,
		moved: "UPDATE keys SET seal = randomblob(32) WHERE seal IS NULL",
	}
)

// versions returns the view of the versions of documents. shared/document/table.go describes their items. key and text are the
// names of the columns of the key and of the text. The expression of returns the key of an item, and the expression id returns
// KIND/CONFIGURATION/NAME for a new row.
func versions(table, key, text, of, id string) string {
	return strings.NewReplacer("$table", table, "$key", key, "$text", text, "$of", of, "$id", id).Replace(`
CREATE VIEW $table ($key, number, at_ms, by, etag, bytes, $text) AS
SELECT $of, CAST(substr(sort, -10) AS INTEGER), attributes ->> 'at_ms', attributes ->> 'by', attributes ->> 'etag',
  attributes ->> 'bytes', attributes ->> 'settings'
FROM items WHERE sort >= 'settings#' AND sort < 'settings$';

CREATE TRIGGER insert_$table INSTEAD OF INSERT ON $table BEGIN
  INSERT OR REPLACE INTO items
  SELECT replace(owner, '/', '#'),
    CASE item
      WHEN 'head' THEN rtrim('head#' || name, '#')
      ELSE item || '#' || ltrim(name || '#', '#') || printf('%010d', NEW.number)
    END,
    CASE
      WHEN item = 'info' THEN json_insert(info, '$.mark', hex(randomblob(16)))
      WHEN item = 'head' AND name = '' THEN json_object('number', NEW.number)
      ELSE json_insert(info, '$.settings', NEW.$text)
    END
  FROM (
    SELECT
      rtrim(rtrim($id, 'abcdefghijklmnopqrstuvwxyz0123456789-'), '/') AS owner,
      substr($id, 1 + length(rtrim($id, 'abcdefghijklmnopqrstuvwxyz0123456789-'))) AS name,
      json_object('number', NEW.number, 'at_ms', NEW.at_ms, 'by', NEW.by, 'etag', NEW.etag, 'bytes', NEW.bytes) AS info
  ), (SELECT 'head' AS item UNION ALL SELECT 'info' UNION ALL SELECT 'settings');

  INSERT OR IGNORE INTO items
  SELECT 'configurations#' || substr(owner, 1, instr(owner, '/') - 1), 'config#' || substr(owner, instr(owner, '/') + 1), '{}'
  FROM (SELECT rtrim(rtrim($id, 'abcdefghijklmnopqrstuvwxyz0123456789-'), '/') AS owner)
  WHERE $id NOT LIKE '%/';
END;`)
}

// keys is the table of keys, with triggers that keep it in step with the items, which shared/keys/table.go describes. It is no
// view, because the release before uses ON CONFLICT and counts the rows that it changes. Lists are JSON in both.
var keys = `
CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  branches TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  seal BLOB
) STRICT, WITHOUT ROWID;

CREATE TRIGGER key_of_item AFTER INSERT ON items WHEN NEW.partition = 'keys' BEGIN
  INSERT OR REPLACE INTO keys VALUES (NEW.sort, unhex(NEW.attributes ->> 'hash'), NEW.attributes ->> 'name',
    NEW.attributes -> 'scopes', coalesce(NEW.attributes -> 'branches', 'null'), NEW.attributes ->> 'created_ms',
    NEW.attributes ->> 'expires_ms', NEW.attributes ->> 'revoked_ms', unhex(NEW.attributes ->> 'seal'));
END;` + itemOfKey("INSERT") + itemOfKey("UPDATE")

// itemOfKey returns the trigger that writes the item of a key. json_patch keeps the attributes that a later release has added,
// and removes those that are null.
func itemOfKey(event string) string {
	return strings.ReplaceAll(`
CREATE TRIGGER item_of_key_$event AFTER $event ON keys BEGIN
  INSERT OR REPLACE INTO items VALUES ('keys', NEW.id, json_patch(
    coalesce((SELECT attributes FROM items WHERE partition = 'keys' AND sort = NEW.id), '{}'),
    json_object('hash', lower(hex(NEW.hash)), 'name', NEW.name, 'scopes', json(NEW.scopes), 'branches', json(NEW.branches),
      'created_ms', NEW.created_ms, 'expires_ms', NEW.expires_ms, 'revoked_ms', NEW.revoked_ms,
      'seal', nullif(lower(hex(NEW.seal)), ''))));
END;`, "$event", event)
}
