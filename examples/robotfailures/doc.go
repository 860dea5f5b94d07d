// Package robotfailures holds 463 recordings of a robot arm whose motion failed:
// forces and torques at the wrist, 15 samples in the 315 ms after the failure was
// noticed, with the class that an expert gave each. They serve as the data of
// examples and tests: real, small, and free to copy (see ATTRIBUTION).
//
//	failures, err := robotfailures.Load()
//	if err != nil {
//		return err
//	}
//	f := failures[0]
//	// f.Set LP1, f.Task "approach to grasp position", f.Label() "normal"
//	payload := f.CSV() // text/csv
//
// # Caveats
//
// The five sets are five problems of learning, not five robots: LP2 and LP3 are
// the same 47 traces under two questions, and LP5 holds the traces of LP2 and
// LP4 again. Compare within one set. The source names no units, so none are given here.
package robotfailures
