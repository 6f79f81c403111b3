package athenatest

import (
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// table answers Glue's GetTable.
func (s *Server) table(in request) (any, error) {
	for _, t := range s.Tables {
		if t.Schema != in.DatabaseName || t.Name != in.Name {
			continue
		}
		var columns []any
		for _, c := range lake.HiveColumns() {
			columns = append(columns, map[string]any{"Name": c.Name, "Type": c.Type})
		}
		return map[string]any{"Table": map[string]any{
			"DatabaseName": t.Schema, "Name": t.Name, "TableType": "EXTERNAL_TABLE",
			"PartitionKeys":     []any{map[string]any{"Name": lake.PartitionKey, "Type": "string"}},
			"Parameters":        lake.TableProperties(t.Location, t.FromYear),
			"StorageDescriptor": map[string]any{"Columns": columns, "Location": strings.TrimSuffix(t.Location, "/") + "/"},
		}}, nil
	}
	return nil, &refusal{"EntityNotFoundException", "Entity Not Found", nil}
}
