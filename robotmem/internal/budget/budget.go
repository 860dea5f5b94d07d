// Package budget divides the memory that a node may take among its heap, its caches and its connections.
package budget

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// Memory bounds the bytes of memory that a node keeps: its indexes, the caches, the page caches of SQLite and the
// bodies of requests. 0 bounds nothing.
type Memory int64

const (
	// fullMemory is the budget from which on every cache has its full size.
	fullMemory = 512 << 20
	// Least is the smallest budget.
	Least = 16 << 20
	// smallestPart of its full size is left of each cache.
	smallestPart = 16

	// WriterCacheKiB and ReaderCacheKiB are the page caches of a connection of SQLite, and MaxReaders
	// is the number of those that read, in a large budget.
	WriterCacheKiB = 8 << 10
	ReaderCacheKiB = 4 << 10
	MaxReaders     = 4

	// A connection reserves its memory as address space and uses little of it.
	connMemory, leastConnMemory = 256 << 20, 12 << 20
	// heapSpace is address space for the heap of Go, which grows by 64 MiB.
	heapSpace = 128 << 20
	// goReserves is what Go reserves on 64-bit systems for the tables of its heap, with the
	// program. It goes on without the last of them where they do not fit, which is not
	// safe. A program of .ci/small has tables for a smaller heap.
	goReserves, smallProgram = 1280 << 20, 512 << 20
	// reservedConns are open at once under a limit of the address space: the writer,
	// two readers, and those of a check and of a backup.
	reservedConns = 5
)

// Default is a quarter of what the machine, the control group and the limit of the
// address space allow, or GOMEMLIMIT if that is less.
func Default() Memory {
	least := int64(math.MaxInt64)

	for _, n := range []int64{systemNumber("/proc/meminfo", "MemTotal:") << 10, cgroupLimit(), addressLimit()} {
		if n > 0 {
			least = min(least, n)
		}
	}

	return Memory(max(Least, min(least/4, debug.SetMemoryLimit(-1))))
}

// Part returns the size, in any unit, of a cache that has the size full in a large budget.
func (m Memory) Part(full int64) int64 {
	if m <= 0 || m >= fullMemory {
		return full
	}
	return max(full/smallestPart, int64(float64(full)*float64(m)/fullMemory))
}

// Readers returns the number of connections that read.
func (m Memory) Readers() int { return max(2, min(int(m.Part(MaxReaders)), runtime.NumCPU())) }

// PageCaches returns how many bytes the page caches of a file take.
func (m Memory) PageCaches() int64 {
	return m.Part(WriterCacheKiB<<10) + int64(m.Readers())*m.Part(ReaderCacheKiB<<10)
}

// cgroupLimit returns the limit of this process's control group, 0 without one.
func cgroupLimit() int64 {
	data, _ := os.ReadFile("/proc/self/cgroup")
	_, group, _ := strings.Cut(string(data), "0::")
	group, _, _ = strings.Cut(group, "\n")
	return systemNumber(filepath.Join("/sys/fs/cgroup", group, "memory.max"), "")
}

func addressLimit() int64 { return systemNumber("/proc/self/limits", "Max address space") }

// AddressSpace returns how much address space the process may have and how much it needs: what it
// has now, and the least for the heap and the connections. limit is 0 if there is no limit.
func AddressSpace() (limit, need int64) {
	has := systemNumber("/proc/self/statm", "") * int64(os.Getpagesize())
	if has > smallProgram {
		has = max(has, goReserves)
	}
	return addressLimit(), has + heapSpace + reservedConns*leastConnMemory
}

// ConnSpace returns the address space that a connection reserves.
var ConnSpace = sync.OnceValue(func() int64 {
	limit, need := AddressSpace()
	if limit == 0 {
		return connMemory
	}
	return min(connMemory, leastConnMemory+max(0, limit-need)/reservedConns)
})

// systemNumber returns the first word after a text in a file, as a number, 0 if it is none.
func systemNumber(path, after string) int64 {
	// Absent on other systems than Linux.
	data, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(data), after)
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(word, 10, 64)
	return n
}
