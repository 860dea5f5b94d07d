package embedding

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// The priority of the program stays, also that of the threads which run afterwards.
func TestLowPriorityIsOfOneThread(t *testing.T) {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	during := 0
	if err := atLowPriority(func() (err error) {
		during, err = unix.Getpriority(unix.PRIO_PROCESS, 0)
		return errors.Join(err, failed)
	}); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if want := min(before, 20-nice); during != want { // the system call answers 20 - nice
		t.Errorf("priority %d, want %d", during, want)
	}
	for range 100 {
		done := make(chan int)
		go func() {
			now, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
			done <- now
		}()
		if now := <-done; now != before {
			t.Fatalf("another goroutine runs with priority %d, want %d", now, before)
		}
	}
}
