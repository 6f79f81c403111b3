package lake

// NewWriterGroups is NewWriter with small row groups, so that tests have several.
var NewWriterGroups = newWriter
