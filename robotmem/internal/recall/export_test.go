package recall

// VectorWeight is vectorWeight.
var VectorWeight = vectorWeight
