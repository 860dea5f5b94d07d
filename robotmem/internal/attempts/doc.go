// Package attempts collects the attempts that a question is about and answers it with the statistics of package
// advise.
//
// An attempt is a memory that states parameters and an outcome of its own, or a whole episode with one setting of
// parameters ([Episode]). [Advise] reads them from the indexes in memory, within one snapshot.
package attempts
