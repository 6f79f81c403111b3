package tablesqlite

import "strings"

// The layouts of the files of a data folder.
var (
	// Planets is the layout of planets.db.
	Planets = Layout{
		noun: "planets", log: true, earlier: []string{"planet_versions"},
		views: versions("planet_versions", "config", "settings", "substr(partition, 8)", "'planet/' || NEW.config || '/'"),
	}
	// Documents is the layout of documents.db, which has the documents of all other kinds.
	Documents = Layout{
		noun: "documents", log: true, earlier: []string{"document_versions"},
		views: versions("document_versions", "id", "text",
			"replace(partition, '#', '/') || '/' || substr(sort, 10, max(0, length(sort) - 20))", "NEW.id"),
	}
	// Keys is the layout of keys.db. It has no write-ahead log, because that is another file and so prevents reading on a
	// read-only file system. Keys are rarely written.
	Keys = Layout{
		noun: "keys", earlier: []string{"keys"}, views: keys,
		moved: "UPDATE keys SET seal = randomblob(32) WHERE seal IS NULL",
	}
)

// versions returns the view of the versions of documents, of which shared/document/table.go describes the items. In the
// table, key is the column of the key, which the expression of returns for the item of a text, and text is the column of the
// text. The expression id returns KIND/CONFIGURATION/NAME for a new row.
func versions(table, key, text, of, id string) string {
	return strings.NewReplacer("$table", table, "$key", key, "$text", text, "$of", of, "$id", id).Replace(`
CREATE VIEW $table ($key, number, at_ms, by, etag, bytes, $text) AS
SELECT $of, attributes ->> 'number', attributes ->> 'at_ms', attributes ->> 'by', attributes ->> 'etag',
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

// keys is the view of keys, of which shared/keys/table.go describes the items. A list is JSON in both. json_patch removes the
// attributes that are null.
const keys = `
CREATE VIEW keys (id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms, seal) AS
SELECT sort, unhex(attributes ->> 'hash'), attributes ->> 'name', attributes -> 'scopes',
  coalesce(attributes -> 'branches', 'null'), attributes ->> 'created_ms', attributes ->> 'expires_ms',
  attributes ->> 'revoked_ms', unhex(attributes ->> 'seal')
FROM items WHERE partition = 'keys';

CREATE TRIGGER insert_keys INSTEAD OF INSERT ON keys BEGIN
  INSERT INTO items VALUES ('keys', NEW.id, json_patch('{}', json_object(
    'hash', lower(hex(NEW.hash)), 'name', NEW.name, 'scopes', json(NEW.scopes), 'branches', json(NEW.branches),
    'created_ms', NEW.created_ms, 'expires_ms', NEW.expires_ms, 'revoked_ms', NEW.revoked_ms,
    'seal', nullif(lower(hex(NEW.seal)), ''))));
END;

CREATE TRIGGER update_keys INSTEAD OF UPDATE ON keys BEGIN
  DELETE FROM items WHERE partition = 'keys' AND sort = OLD.id;
  INSERT INTO keys VALUES (NEW.id, NEW.hash, NEW.name, NEW.scopes, NEW.branches, NEW.created_ms, NEW.expires_ms,
    NEW.revoked_ms, NEW.seal);
END;`
