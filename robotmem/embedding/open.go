package embedding

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Options configure Open and OpenReranker. The zero value works.
type Options struct {
	// OllamaURL is the address of Ollama, http://127.0.0.1:11434 if empty. It may
	// have the short forms of OLLAMA_HOST: host, host:port, 0.0.0.0.
	OllamaURL string
	// OpenAIURL is the address without "/embeddings", https://api.openai.com/v1 if empty.
	OpenAIURL string
	// OpenAIKey is sent as a bearer token if it is not empty.
	OpenAIKey string
	// RerankerModel is the name of the model for OpenReranker, sent to services with
	// several. RerankerKey is sent to its service as a bearer token if it is not empty.
	RerankerModel, RerankerKey string

	// Timeout is the time limit of a request for memories, 30 s if zero.
	Timeout time.Duration
	// QuestionTimeout is the time limit of a request for a query, 3 s if zero. An
	// earlier deadline of the caller's context applies before both.
	QuestionTimeout time.Duration
	// Batch is the number of texts in one request, 64 if zero.
	Batch int
	// CPU is how many cores the model in the program may use for memories, from MinCPU to MaxCPU; 1 if
	// zero. A share of a core is kept by resting between texts. Questions do not count.
	CPU float64

	// HTTPClient does the requests, a client of the embedder's own if nil. Its
	// CheckRedirect is not used.
	HTTPClient *http.Client
	// Runtimes run models in this process whose formats Open does not know itself, by the word
	// before the colon of a spec. Package onnx, a module of its own, has one for "onnx".
	Runtimes map[string]Runtime
	Models   string           // folder of pulled models for auto, none if empty
	Clock    func() time.Time // time.Now if nil
	Logger   *slog.Logger     // silent if nil
}

// Limits of Options.CPU, in cores.
const (
	MinCPU = 0.01
	MaxCPU = 64
)

const (
	memoryTimeout   = 30 * time.Second // enough for a full batch on the CPU of a small board
	questionTimeout = 3 * time.Second  // a caller waits, and the search by words is done by then
	batchSize       = 64
)

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, memoryTimeout)
	o.QuestionTimeout = cmp.Or(o.QuestionTimeout, questionTimeout)
	o.Batch = cmp.Or(max(o.Batch, 0), batchSize)
	o.CPU = cmp.Or(o.CPU, 1)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))

	return o
}

// Open returns the embedder that spec names, nil for "none" and auto for "". It never waits for the
// network: a service is called in the background or when it is first used, and its failures show in
// State and Embed. The embedder is an io.Closer; Close ends the background work and waits for it.
//
// Open fails with Invalid for a spec or an address of another form, for a CPU out of range and for
// files that cannot be used, and with NotFound for a folder without the files of a model.
func Open(spec string, o Options) (robotmem.Embedder, error) {
	o = o.withDefaults()
	if !(o.CPU >= MinCPU && o.CPU <= MaxCPU) {
		err := fmt.Errorf("must be a number of cores from %v to %v, not %v", MinCPU, MaxCPU, o.CPU)
		return nil, &robotmem.Error{Kind: robotmem.Invalid, Field: "embed_cpu", Err: err}
	}

	kind, name, hasName := strings.Cut(strings.TrimSpace(spec), ":")
	switch named := hasName && name != ""; {
	case kind == "none" && !hasName:
		return nil, nil
	case (kind == "auto" || kind == "") && !hasName:
		return openAuto(o)
	case kind == "builtin" && !hasName:
		if e := openBuiltin(o); e != nil {
			return e, nil
		}
		return nil, invalid("this program was built without a model (tag nomodel); take one with it, " +
			"or name another: ollama:<model>, model2vec:<dir>")
	case kind == "ollama" && named && !strings.ContainsAny(name, " \t\r\n"):
		return openOllama(name, o)
	case kind == "openai" && named:
		return openOpenAI(name, o)
	case named:
		if r, ok := (Models{Runtimes: o.Runtimes}).runtime(kind); ok {
			return openLocal(kind, name, r, o)
		}
		if kind == "onnx" {
			// The name is known, but only a program with the runtime can use it.
			return nil, invalid("%s needs a robotmem that runs ONNX models: build one with `make onnx` in the "+
				"source code; this one offers model2vec:<dir> and ollama:<model>", spec)
		}
	}

	return nil, invalid("%q is not auto, builtin, none, ollama:<model>, openai:<model>, "+
		"model2vec:<dir> or onnx:<dir>", spec)
}

// invalid returns the error of a setting or a file that cannot be used.
func invalid(format string, args ...any) *robotmem.Error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: "embedder", Err: fmt.Errorf(format, args...)}
}
