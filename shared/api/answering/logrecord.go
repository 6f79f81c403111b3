package answering

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/catalog"
)

// logRecord is the Go type of records in the document. Its schema is made from the catalogue.
type logRecord struct{}

// Schema implements huma.SchemaProvider.
func (logRecord) Schema(r huma.Registry) *huma.Schema {
	r.Map()["LogRecord"] = recordSchema()
	return &huma.Schema{Ref: "#/components/schemas/LogRecord"}
}

// recordSchema returns the schema of a record, with the fields of the catalogue. Types are left out and other members
// are allowed, because records keep what was ingested.
func recordSchema() *huma.Schema {
	s := &huma.Schema{
		Type: "object", Properties: map[string]*huma.Schema{},
		Description: "One recorded request: every member as it was recorded, " +
			"including members that are not in the catalogue.",
	}
	for i := range catalog.Fields {
		f := &catalog.Fields[i]
		s.Properties[f.Name] = &huma.Schema{Description: f.Doc}
	}
	return s
}
