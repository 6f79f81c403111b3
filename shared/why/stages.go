package why

// Stage is a stage of the gateway, and what happened there.
type Stage struct {
	Name  string `json:"name" enum:"global filter,rate limit,acl,content filter,origin"`
	State string `json:"state" enum:"passed,stopped,not reached"`
}

// stageNames lists the stages in order. The number of the first one in the member processing_stage is firstStage.
var stageNames = []string{"global filter", "rate limit", "acl", "content filter", "origin"}

const firstStage = 2

// stages returns the way of a request through the gateway. It is empty if the record does not have it.
func stages(r Record) []Stage {
	list := []Stage{}
	last, ok := r["processing_stage"].(float64)
	if !ok {
		return list
	}
	for i, name := range stageNames {
		state := "passed"
		switch number := float64(firstStage + i); {
		case number > last:
			state = "not reached"
		case number == last && r.stopped():
			state = "stopped"
		}
		list = append(list, Stage{name, state})
	}
	return list
}
