// Package encoder computes vectors of texts with a small transformer, so that texts of about the same
// meaning have near vectors, in a hundred languages and without a network.
//
// The model is intfloat/multilingual-e5-small (Wang et al. 2024, "Multilingual E5 Text Embeddings"): 12
// layers of width 384, weights of four bits. A text is divided into pieces by a unigram model (Kudo
// 2018), encoded, and the mean of the outputs, of length 1, is its vector.
//
// Weights are multiplied in integers: each 32 activations are rounded to eight bits with a scale of their
// own. The kernels are in assembly for amd64 with AVX2 and for arm64, and in Go for all other processors;
// they give the same vectors up to rounding.
package encoder
