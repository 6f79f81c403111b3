package bucket

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// Plan lists which fresh objects of an hour are merged together. All compactions of the hour follow the first plan that
// is put, so that they never create different objects.
type Plan struct {
	Groups [][]string `json:"groups"` // names of objects in the bucket
	// Bytes are the sizes of the groups. Plans of earlier versions do not have them.
	Bytes []int64 `json:"bytes,omitempty"`
}

// PlanName returns the name of the plan of an hour.
func PlanName(p lake.Partition) string { return PlanRoot + p.String() + ".json" }

// MergedName returns the name of the plan of an hour after its fresh objects were removed.
func MergedName(p lake.Partition) string { return mergedRoot + p.String() + ".json" }

// GroupName returns the name of the compacted object of a group.
func GroupName(hour lake.Partition, group []string) string {
	return LakeRoot + lake.CompactName(hour, GroupDigest(group))
}

// GroupDigest returns the name of a merged object. It depends only on the names of the objects merged.
func GroupDigest(names []string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return hex.EncodeToString(sum[:8])
}
