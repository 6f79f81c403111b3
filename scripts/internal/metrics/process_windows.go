package metrics

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	getProcessMemoryInfo  = windows.NewLazySystemDLL("psapi.dll").NewProc("GetProcessMemoryInfo")
	getProcessHandleCount = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessHandleCount")
)

// memoryCounters is PROCESS_MEMORY_COUNTERS_EX of the Windows API.
type memoryCounters struct {
	size, pageFaults                uint32
	peakWorkingSet, workingSet      uintptr
	quotaPeakPaged, quotaPaged      uintptr
	quotaPeakNonPaged, quotaNonPage uintptr
	pagefile, peakPagefile, private uintptr
}

// mostHandles is how many handles Windows gives a process.
const mostHandles = 16 << 20

// ownProcess asks Windows.
func ownProcess() process {
	p, own := unknown(), windows.CurrentProcess()
	var started, ended, system, user windows.Filetime
	if windows.GetProcessTimes(own, &started, &ended, &system, &user) == nil {
		p.start = float64(started.Nanoseconds()) / 1e9
		p.cpuSeconds = seconds(system) + seconds(user)
	}
	m := memoryCounters{}
	m.size = uint32(unsafe.Sizeof(m))
	if ok, _, _ := getProcessMemoryInfo.Call(uintptr(own), uintptr(unsafe.Pointer(&m)), uintptr(m.size)); ok != 0 {
		p.resident, p.virtual = float64(m.workingSet), float64(m.private)
	}
	var handles uint32
	if ok, _, _ := getProcessHandleCount.Call(uintptr(own), uintptr(unsafe.Pointer(&handles))); ok != 0 {
		p.openFiles, p.openFilesMost = float64(handles), mostHandles
	}
	return p
}

// seconds returns a duration, which Windows counts in units of 100 ns.
func seconds(d windows.Filetime) float64 {
	return float64(uint64(d.HighDateTime)<<32|uint64(d.LowDateTime)) / 1e7
}
