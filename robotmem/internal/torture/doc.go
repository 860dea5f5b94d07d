// Torture injects faults into a memory and counts the losses:
//
//	go run ./robotmem/internal/torture            # all scenarios at full length
//	go run ./robotmem/internal/torture -short     # all scenarios, two minutes
//	go run ./robotmem/internal/torture -only kill,power -seed 7
//
// Each scenario counts the faults that really happened and fails if there were none. A [ledger]
// records every write that was asked for and acknowledged. After the faults the memory is opened
// as its user would open it, and its memories and payloads are compared with the ledger.
package main
