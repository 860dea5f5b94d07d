// Package torture changes the same memories on robots and at their site at random, while everything is killed, copied,
// restored and cut, and then looks for what was lost, hidden or kept against a purge. It is a test:
//
//	go test ./robotmem/site/torture -for 30m -seed 7
package torture
