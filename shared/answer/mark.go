package answer

// Mark is a change of the settings of a gateway, which its records show.
type Mark struct {
	At     string `json:"at" doc:"The minute of the first request with the later revision, RFC 3339, UTC"`
	Kind   string `json:"kind" enum:"revision" doc:"What has changed: the revision of the settings in security_config"`
	Before string `json:"before" doc:"The earlier revision"`
	After  string `json:"after" doc:"The later revision"`
}
