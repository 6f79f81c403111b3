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
			"Name": t.Name, "TableType": "EXTERNAL_TABLE", "Columns": columns(),
			"PartitionKeys": []any{map[string]any{"Name": lake.PartitionKey, "Type": "string"}},
			"Parameters":    lake.TableProperties(t.Location, t.FromYear),
		}}, nil
	}
	return nil, &apiError{"MetadataException", "Entity Not Found", nil}
}

func columns() []any {
	var all []any
	for _, c := range lake.HiveColumns() {
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
			"PartitionKeys": []any{map[string]any{"Name": lake.PartitionKey, "Type": "string"}},
			"Parameters":    lake.TableProperties(t.Location, t.FromYear),
			"StorageDescriptor": map[string]any{
				"Columns":  columns(),
				"Location": strings.TrimSuffix(t.Location, "/") + "/",
			},
		}}, nil
	}
	return nil, &apiError{"EntityNotFoundException", "Entity Not Found", nil}
}
