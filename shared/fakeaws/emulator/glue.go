package emulator

import (
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// metadata answers Athena's GetTableMetadata.
func (s *Server) metadata(in request) (any, error) {
	for _, t := range s.Tables {
		if t.Schema != in.DatabaseName || t.Name != in.TableName {
			continue
		}
		return map[string]any{"TableMetadata": map[string]any{
			"Name": t.Name, "TableType": "EXTERNAL_TABLE", "Columns": columns(t),
			"PartitionKeys": []any{map[string]any{"Name": t.Key(), "Type": "string"}},
			"Parameters":    t.Properties(),
		}}, nil
	}
	return nil, &apiError{"MetadataException", "Entity Not Found", nil}
}

func columns(t lake.Table) []any {
	var all []any
	for _, c := range t.Columns() {
		all = append(all, map[string]any{"Name": c.Name, "Type": c.Type})
	}
	return all
}

// table answers Glue's GetTable.
func (s *Server) table(in request) (any, error) {
	for _, t := range s.Tables {
		if t.Schema != in.DatabaseName || t.Name != in.Name {
			continue
		}
		return map[string]any{"Table": map[string]any{
			"DatabaseName": t.Schema, "Name": t.Name, "TableType": "EXTERNAL_TABLE",
			"PartitionKeys": []any{map[string]any{"Name": t.Key(), "Type": "string"}},
			"Parameters":    t.Properties(),
			"StorageDescriptor": map[string]any{
				"Columns":  columns(t),
				"Location": strings.TrimSuffix(t.Location, "/") + "/",
			},
		}}, nil
	}
	return nil, &apiError{"EntityNotFoundException", "Entity Not Found", nil}
}
