// Package robotmemtest is the contract of a robotmem.Service as a test suite.
// Every Service passes it, wherever the memory lives:
//
//	func TestNode(t *testing.T) {
//		robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
//			n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{})
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { n.Close() })
//			return n
//		})
//	}
//
// # Caveats
//
// A Service that does not offer an operation fails it with ErrNotOffered; the
// checks that need it are then left out, and so are not proven. The same holds
// for the streams of a Service that does not implement robotmem.Streams.
//
// The suite asks from outside: it has no clock, so what takes days (decay) is
// tested where a clock can be handed in.
package robotmemtest
