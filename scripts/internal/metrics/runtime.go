package metrics

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// addRuntime adds the figures of the Go runtime by the names that the client library of Prometheus gives them, so that
// dashboards for programs in Go show them.
func addRuntime(text exposition) {
	addMemory(text)
	addCollections(text)
	addSettings(text)
	text.one(gauge, "go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	threads, _ := runtime.ThreadCreateProfile(nil)
	text.one(gauge, "go_threads", "Number of OS threads created.", float64(threads))
	text.metric(gauge, "go_info", "Information about the Go environment.").add("", 1, "version", runtime.Version())
}

// addMemory adds the figures of the memory.
func addMemory(text exposition) {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	for _, m := range []struct {
		kind       kind
		name, help string
		value      uint64
	}{
		{gauge, "alloc_bytes", "Bytes of heap objects in use.", s.Alloc},
		{counter, "alloc_bytes_total", "Bytes of heap objects allocated until now, even if freed.", s.TotalAlloc},
		{gauge, "buck_hash_sys_bytes", "Bytes of the hash table of profiles.", s.BuckHashSys},
		{counter, "frees_total", "Heap objects freed.", s.Frees},
		{gauge, "gc_sys_bytes", "Bytes of the metadata of the garbage collection.", s.GCSys},
		{gauge, "heap_alloc_bytes", "Bytes of heap objects in use, as go_memstats_alloc_bytes.", s.HeapAlloc},
		{gauge, "heap_idle_bytes", "Bytes of the heap that wait to be used.", s.HeapIdle},
		{gauge, "heap_inuse_bytes", "Bytes of the heap that are in use.", s.HeapInuse},
		{gauge, "heap_objects", "Heap objects in use.", s.HeapObjects},
		{gauge, "heap_released_bytes", "Bytes of the heap returned to the system.", s.HeapReleased},
		{gauge, "heap_sys_bytes", "Bytes of the heap obtained from the system.", s.HeapSys},
		{counter, "mallocs_total", "Heap objects allocated until now, even if freed.", s.Mallocs},
		{gauge, "mcache_inuse_bytes", "Bytes of mcache structures in use.", s.MCacheInuse},
		{gauge, "mcache_sys_bytes", "Bytes for mcache structures obtained from the system.", s.MCacheSys},
		{gauge, "mspan_inuse_bytes", "Bytes of mspan structures in use.", s.MSpanInuse},
		{gauge, "mspan_sys_bytes", "Bytes for mspan structures obtained from the system.", s.MSpanSys},
		{gauge, "next_gc_bytes", "Bytes of the heap at which the next garbage collection starts.", s.NextGC},
		{gauge, "other_sys_bytes", "Bytes obtained from the system for other purposes.", s.OtherSys},
		{gauge, "stack_inuse_bytes", "Bytes of stacks in use.", s.StackInuse},
		{gauge, "stack_sys_bytes", "Bytes for stacks obtained from the system.", s.StackSys},
		{gauge, "sys_bytes", "Bytes obtained from the system.", s.Sys},
	} {
		text.one(m.kind, "go_memstats_"+m.name, m.help, float64(m.value))
	}
}

// addCollections adds the figures of the garbage collections.
func addCollections(text exposition) {
	s := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&s)
	pauses := text.metric(summary, "go_gc_duration_seconds", "Pauses of the program in garbage collections.")
	for i, pause := range s.PauseQuantiles {
		pauses.add("", pause.Seconds(), "quantile", number(float64(i)/float64(len(s.PauseQuantiles)-1)))
	}
	pauses.add("_sum", s.PauseTotal.Seconds())
	pauses.add("_count", float64(s.NumGC))
	last := 0.0
	if !s.LastGC.IsZero() {
		last = float64(s.LastGC.UnixNano()) / 1e9
	}
	text.one(gauge, "go_memstats_last_gc_time_seconds", "Time of the last garbage collection since 1970.", last)
}

// addSettings adds the settings of the runtime.
func addSettings(text exposition) {
	samples := []runtimemetrics.Sample{
		{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}, {Name: "/sched/gomaxprocs:threads"},
	}
	runtimemetrics.Read(samples)
	for i, m := range []struct{ name, help string }{
		{"go_gc_gogc_percent", "Growth of the heap up to the next garbage collection, as GOGC sets it."},
		{"go_gc_gomemlimit_bytes", "Limit of the memory, as GOMEMLIMIT sets it."},
		{"go_sched_gomaxprocs_threads", "Threads that run Go code at the same time, as GOMAXPROCS sets them."},
	} {
		if samples[i].Value.Kind() == runtimemetrics.KindUint64 {
			text.one(gauge, m.name, m.help, float64(samples[i].Value.Uint64()))
		}
	}
}
