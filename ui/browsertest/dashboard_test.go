package browsertest

import "testing"

// TestDashboard starts the program and a browser once for all that is tried.
func TestDashboard(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes in a browser")
	}
	w := newWorld(t)
	t.Run("views", w.views)
}
