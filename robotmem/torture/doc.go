// Torture breaks a node in every way that a bad day knows, and counts what
// was lost:
//
//	go run ./robotmem/torture            # all parts at full length
//	go run ./robotmem/torture -short     # all parts, two minutes
//	go run ./robotmem/torture -only kill,power -seed 7
//
// A part makes its faults happen and counts those that really did: a run whose
// fault did not happen proves nothing and fails. After each fault the memory is
// opened as its user would open it, and compared with what was acknowledged.
package main
