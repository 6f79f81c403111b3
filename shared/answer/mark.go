package answer

// Mark is a change of settings: of a gateway, which its records show, or of a planet, which has a new version.
type Mark struct {
	At     string `json:"at" doc:"Of a revision, the minute of the first request with it; of a planet, when the version was written. RFC 3339, UTC"`
	Kind   string `json:"kind" enum:"revision,planet" doc:"What has changed: the revision of the settings in security_config, or a planet"`
	Before string `json:"before,omitempty" doc:"Of a revision: the earlier one"`
	After  string `json:"after,omitempty" doc:"Of a revision: the later one"`

	Config  string `json:"config,omitempty" doc:"Of a planet: its configuration"`
	Version int    `json:"version,omitempty" doc:"Of a planet: the number of the new version"`
	By      string `json:"by,omitempty" doc:"Of a planet: the name of the key that wrote the version"`
}
