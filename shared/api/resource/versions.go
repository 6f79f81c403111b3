package resource

import (
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
)

// Versions is the history of a planet or of a saved filter, newest first.
type Versions struct {
	Versions []VersionInfo `json:"versions"`
}

// VersionInfo is one version of a planet or of a saved filter, without its contents.
type VersionInfo struct {
	Version int       `json:"version" doc:"Number of the version: 1, 2, 3, … without gaps"`
	At      time.Time `json:"at" doc:"When the version was written, UTC"`
	By      string    `json:"by" doc:"Name of the API key that wrote the version"`
	ETag    string    `json:"etag" doc:"ETag of the version, for If-Match"`
	Bytes   int       `json:"bytes" doc:"Size of the version in bytes"`
	Deleted bool      `json:"deleted,omitempty" doc:"The version is a deletion; planets cannot be deleted"`
}

// sendVersions sends the history of a document.
func sendVersions(c *route.Call, infos []document.Info) {
	v := Versions{Versions: make([]VersionInfo, len(infos))}
	for i, info := range infos {
		v.Versions[i] = VersionInfo{
			Version: info.Number, At: info.At, By: info.By, ETag: info.ETag, Bytes: info.Bytes, Deleted: info.Deleted(),
		}
	}
	c.SendJSON(http.StatusOK, v)
}
