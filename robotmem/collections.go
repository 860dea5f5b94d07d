package robotmem

import "strings"

// AllCollections is the set of all collections. A set is a text: the names of collections with
// commas between them, or * for all.
const AllCollections = "*"

// maxCollectionSet bounds the names of a set.
const maxCollectionSet = 256

// InCollections reports whether a collection is in a set.
func InCollections(set, name string) bool {
	if set == AllCollections || set == name {
		return true
	}

	for one := range strings.SplitSeq(set, ",") {
		if one == name {
			return true
		}
	}

	return false
}

// ValidCollections reports whether a text is a set of collections.
func ValidCollections(set string) bool {
	names := strings.Split(set, ",")
	if set == AllCollections {
		return true
	}

	for _, name := range names {
		if !collectionName.MatchString(name) {
			return false
		}
	}

	return len(names) <= maxCollectionSet
}
