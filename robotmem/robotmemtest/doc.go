// Package robotmemtest is a test suite for implementations of robotmem.Service.
// Every implementation must pass it:
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
// A Service returns ErrNotOffered from an operation that it does not implement.
// The suite then skips the checks that need the operation. It also skips the checks
// of streams if the Service does not implement robotmem.Streams.
//
// The suite cannot set the clock of a Service, so it does not test decay. The tests
// of package local do.
package robotmemtest
