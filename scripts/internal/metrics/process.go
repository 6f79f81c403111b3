package metrics

// process is figures of the process. One that the system does not report is negative.
type process struct {
	cpuSeconds, start              float64
	resident, virtual, virtualMost float64
	openFiles, openFilesMost       float64
	networkReceived, networkSent   float64
}

// unknown is a process without figures.
func unknown() process { return process{-1, -1, -1, -1, -1, -1, -1, -1, -1} }

// addProcess adds the figures of the process by the names that the client library of Prometheus gives them.
func addProcess(text exposition) {
	p := ownProcess()
	for _, m := range []struct {
		kind       kind
		name, help string
		value      float64
	}{
		{counter, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", p.cpuSeconds},
		{gauge, "process_start_time_seconds", "Start time of the process since 1970 in seconds.", p.start},
		{gauge, "process_resident_memory_bytes", "Resident memory size in bytes.", p.resident},
		{gauge, "process_virtual_memory_bytes", "Virtual memory size in bytes.", p.virtual},
		{gauge, "process_virtual_memory_max_bytes", "Maximum amount of virtual memory in bytes.", p.virtualMost},
		{gauge, "process_open_fds", "Number of open file descriptors.", p.openFiles},
		{gauge, "process_max_fds", "Maximum number of open file descriptors.", p.openFilesMost},
		{counter, "process_network_receive_bytes_total",
			"Number of bytes received over the network, by all processes of its network namespace.", p.networkReceived},
		{counter, "process_network_transmit_bytes_total",
			"Number of bytes sent over the network, by all processes of its network namespace.", p.networkSent},
	} {
		if m.value >= 0 {
			text.one(m.kind, m.name, m.help, m.value)
		}
	}
}
