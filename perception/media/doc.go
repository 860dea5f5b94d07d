// Package media holds what all formats of perceptions share: the payload with its
// metadata, the words and figures of a summary, and the forms in which numbers and
// pictures are returned. It is the lowest package of the tree; the packages of the
// formats import it, and package perception imports these.
package media
