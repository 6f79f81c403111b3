package rows

import "github.com/orrery/orrery/shared/query"

// AddRecords adds the records of the next window of a query for logs, see query.Query.Windows, to an answer of at most
// limit records. Like the result of a single statement, the answer is truncated when its records take MaxLogsMemory.
func AddRecords(answer *query.Answer, next query.Answer, limit int) {
	var memory int64
	for _, r := range answer.Logs {
		memory += r.Memory()
	}
	for _, r := range next.Logs {
		memory += r.Memory()
		if answer.Truncated || len(answer.Logs) == limit {
			return
		}
		if memory > MaxLogsMemory {
			answer.Truncated = true
			return
		}
		answer.Logs = append(answer.Logs, r)
	}
	answer.Truncated = answer.Truncated || next.Truncated
}
