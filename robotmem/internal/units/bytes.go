package units

import "github.com/dustin/go-humanize"

// BytesText is a number of bytes as people read it.
func BytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
