package languages

import "testing"

func TestEachLanguageHasFivePairs(t *testing.T) {
	if n := len(All()); n != 8 {
		t.Errorf("%d languages", n)
	}
	for _, language := range All() {
		if n := len(Sentences(language)); n != 10 {
			t.Errorf("%s: %d sentences, want 10", language, n)
		}
	}
}

func TestFound(t *testing.T) {
	a, b, far := []float32{1, 0, 0}, []float32{0.9, 0.1, 0}, []float32{0, 0, 1}
	for want, vectors := range map[int][][]float32{0: nil, 2: {a, b, far, far}, 1: {a, far, {0, 1, 0}, {0, 0.9, 0.1}}} {
		if got := Found(vectors); got != want {
			t.Errorf("%v: found %d, want %d", vectors, got, want)
		}
	}
}

func TestOfScript(t *testing.T) {
	for text, want := range map[string]string{"哪里没有无线网络": "Chinese", "充電ドックはどこ": "Japanese", "충전기 위치": "Korean", "где зарядка": "Russian", "wo ist der Lader": "", "robot 充电": "Chinese", "": ""} {
		if got := OfScript(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
