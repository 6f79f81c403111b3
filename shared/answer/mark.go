package answer

// Mark is a change of settings: the records show a new revision of the gateway's settings, or a planet has a new
// version.
type Mark struct {
	At     string `json:"at" doc:"When the settings changed, RFC 3339, UTC: the minute of the first request with the new revision, or the time when the version of the planet was written"`
	Kind   string `json:"kind" enum:"revision,planet" doc:"What changed: the revision of the gateway's settings, as in security_config, or a planet"`
	Before string `json:"before,omitempty" doc:"The earlier revision; absent for a planet"`
	After  string `json:"after,omitempty" doc:"The later revision; absent for a planet"`

	Config  string `json:"config,omitempty" doc:"Configuration of the planet; absent for a revision"`
	Version int    `json:"version,omitempty" doc:"Number of the planet's new version; absent for a revision"`
	By      string `json:"by,omitempty" doc:"Name of the key that wrote the version; absent for a revision"`
}
