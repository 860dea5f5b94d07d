// Package robotfailures holds 463 recordings of a robot arm whose motion failed:
// forces and torques at the wrist, 15 samples in the 315 ms after the failure was
// detected, with a class assigned by an expert. Examples and tests use them as real
// data. They may be copied (see ATTRIBUTION).
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
// The five sets are five learning problems, not five robots: LP2 and LP3 have the
// same 47 traces with different classes, and LP5 contains the traces of LP2 and LP4.
// Compare recordings within one set only. The source names no units.
package robotfailures
