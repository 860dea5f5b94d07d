package text

import "strings"

// Stop reports whether a term is a stop word: too common to tell memories
// apart. Words that negate are never stop words, because "do not grip" and "do
// grip" must stay different, nor are those that say where, when or how much: up,
// off, under, before, only, more.
func Stop(term string) bool {
	_, ok := stopWords[term]
	return ok
}

var stopWords = wordSet(`
a an the this that these those
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
myself yourself himself herself itself ourselves themselves
am is are was were be been being do does did done doing have has had having
will would shall should can could may might must
and or but if so as than then because while of at by for with about to from in on into onto during
what when where which who whom whose why how there here
any both each some such own too very just also ever
s t d ll re ve m
的 了 在 是 和 与 及 或 而 且 但 也 都 就 还 又 很 被 把 将 对 从 向 由 于 以 之 其 这 那 哪 谁 吗 呢 吧 啊 着 过 得 地 个
我 你 他 她 它 我们 你们 他们 她们 它们 这个 那个 这些 那些 哪些 哪个 什么 怎么 怎样 如何 为什么 多少 几个
因为 所以 如果 虽然 但是 以及 或者 并且 而且 关于 对于 一个 一种 是否 可以
這 這個 這些 哪裡 誰 嗎 們 我們 他們 什麼 怎麼 如何 為什麼 因為 個 還 與 於 從 對 會 過
`)

func wordSet(list string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, w := range strings.Fields(list) {
		set[w] = struct{}{}
	}
	return set
}
