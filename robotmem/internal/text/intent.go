package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Kind is what a question asks for.
type Kind uint8

// The kinds of questions. A question of no other kind is Plain.
const (
	Plain  Kind = iota
	Works       // which value, setting or way works: "how hard should I grip"
	Wrong       // what failed, why, or what must not be done
	Now         // what is so at present: "where is the charger now"
	Latest      // when something happened the last time
	Counts      // how often something happened
)

// failingVerbs are verbs of failure.
const failingVerbs = `(?:slip|los[et]|break|broke|destroy|crash|drop|fall|fell|jam|spill|collide|fail|damage|ruin|block|obstruct|scratch|tip|topple|crush|crack|burn|leak|clog|stuck|derail|stall|overheat|wreck|deform|drip|bounce|come off|came off)\w*`

// kindRule has an expression for each kind of script: English, German, and scripts without spaces; "" for none.
// Only those of the script and the words of a question are tried, because they take longer than the rest of a
// small recall.
type kindRule struct {
	kind                   Kind
	english, german, asian string
}

// The rules combine a question word with a class of verbs. They are tried in this order; the first that
// matches decides.
var kindRules = []kindRule{
	{Counts,
		`\bhow (?:often|many times|frequently)\b|\bhow many (?:\w+ ){0,3}(?:failed|failures|incidents|crashes|times|happened)\b`,
		`\bwie (?:oft|häufig)\b|\bwieviele? mal\b`,
		`多少次|几次|幾次|何回|何度|回数`},
	{Works,
		`\bhow (?:to|do i|do we|can i|can we|should i|should we) (?:avoid|prevent|stop|keep)\b|\bwhat (?:finally )?(?:helped|fixed|solved|cured)\b`,
		``,
		``},
	{Wrong,
		`\bwhy\b|\bhow come\b`,
		`\b(?:warum|weshalb|wieso)\b`,
		`为什么|为何|怎么会|哪里出了问题|什么问题|なぜ|どうして|何が原因`},
	{Works,
		`\b(?:how|what|which|where)\b.*(?:\b(?:without|prevents?|avoids?|so that|keeps?)\b|n't\b|\b(?:not|never|no longer)\b).*\b` +
			failingVerbs + `\b`,
		`\b(?:wie|was|womit|welche\w*|einstellung\w*|parameter|wert)\b.*\b(?:ohne|damit)\b`,
		`才不|不会|怎么.{0,8}不|怎样.{0,8}不|(?:ず|ない|なく)(?:に|よう|て済)`},
	{Latest,
		`\b(?:when|what time|which day)\b.*\b(?:last|latest|most recent|recently)\b|\b(?:last time|latest|most recent)\b.*\b(?:when|was|did|had)\b|\bwhen did (?:we|it|the|you|they|i)\b.*\blast\b`,
		`\bwann\b.*\b(?:zuletzt|letzte\w*)\b|\bzuletzt\b|\bletzte\w* mal\b`,
		`上次|上一次|最近一次|最后一次|前回|最後に`},
	{Works,
		`\bwhat (?:\w+ )?(?:worked|works|succeeded|went well)\b|\bsucce\w+\b`,
		`\b(?:geklappt|gelungen|erfolgreich)\b`,
		`成功|顺利|うまくい[っきくけ]`},
	{Latest,
		`\b(?:since )?when (?:was|were|did|has|have|had|is)\b|\b(?:on )?(?:which|what) day\b`,
		`\b(?:seit )?wann (?:war|waren|wurde|hat|haben|ist)\b`,
		`什么时候|哪天|哪一天|何时|いつ|何時|何日`},
	{Wrong,
		`\b(?:should|must|may|can) (?:i|we|one|you|it|the \w+) (?:not|never)\b|\b(?:anything|something) (?:\w+ )?(?:forbidden|not to|i must not)\b|\bforbidden\b|\bprohibited\b|\bexceptions?\b|\bproblems? (?:with|at|in|on)\b|\bno good\b|\bwrecked\b|\bwhat (?:went|goes|has gone|was) wrong\b|\bgone? wrong\b|\b(?:what|which|where|who|how)\b.*\b(?:never|must not|mustn't|must n't|may not|should not|shouldn't|can't|cannot|not (?:to|allowed|permitted|enough|work|hold|good|use)|n't work|avoid|forbidden|prohibited|off.?limits|dangerous)\b|\bnot (?:enough|hold|work)\b|\b(?:fail\w*|mistakes?|avoid|incidents?|accidents?|too (?:fast|much|many|high|low|hard|slow|hot|cold|long|short|little|weak|heavy|far|close))\b|\bdid (?:not|n't)\b|\bdidn't\b|\b(?:caused?|broke|crashed|damaged|destroyed|ruined|spilled|slipped|dropped|got stuck|jammed|collided)\b`,
		`\bfalsch\b|\bkeinen fall\b|\bwarum\b|\bweshalb\b|\bwieso\b|\bvermeiden\b|\bschief\b|\bschiefgegangen\b|\bnicht (?:darf|dürfen|soll|sollte|gut|funktionier\w*|geklappt)\b|\b(?:darf|sollte?) (?:ich|man|er|sie|der \w+) (?:\w+ ){0,4}nicht\b|\bfehlgeschlagen\b|\bnicht mehr (?:nehmen|benutzen|verwenden|fahren|machen|tun|einsetzen)\b|\b(?:darf|dürfen|soll|sollte|sollen)\b.*\b(?:nicht|nie|kein\w*)\b|\bzu (?:schwach|stark|schnell|flott|langsam|hoch|niedrig|tief|viel|wenig|heiß|kalt|lang|kurz|nah|weit|schwer|unrecht)\b`,
		`忌讳|为什么|为何|怎么会|失败|避免|(?:^|[^能])不能|不该|不要|不许|不行|禁止|出错|出了什么问题|原因|哪里不对|事故|没成功|弄坏|うまくいか|だめ|ダメ|駄目|いけない|失敗|禁止|避け|問題|故障|事故`},
	{Wrong,
		`\b` + failingVerbs + `\b`,
		`\b(?:gefallen|gerissen|verrutscht|verklemmt|verkratzt|zerkratzt|gebrochen|zerbrochen|ausgefallen|abgestürzt|kollidiert|blockiert|geklemmt|überhitzt|kaputt\w*|defekt\w*|ausschuss|störung\w*|fehler\w*)\b`,
		`打滑|打不开|卡住|卡在|堵|漏|打碎|掉了|翻了|弄坏|落とし|落ち|滑っ|滑り|詰ま|壊|倒れ|ぶつか|外れ`},
	{Now,
		`\b(?:now|currently|current|at present|at the moment|right now|these days|nowadays|as of today|still|already|any ?more|anymore|yet|latest|up to date|present)\b`,
		`\b(?:jetzt|aktuell\w*|derzeit|gerade|momentan|noch|inzwischen|mittlerweile|heute)\b`,
		`现在|目前|当前|眼下|还够|够不够|如今|还是|还在|还有|最新|现任|現在|今は|今の|今も|最新|いま`},
	{Works,
		`\bhow (?:hard|fast|slow|slowly|much|high|low|deep|far|close|long|big|large|strong|hot|warm|tight|wide|many|often)?\s*(?:\w+ ){0,4}(?:to|do i|do we|do you|should|shall|can i|can we|must|may|does one|did we|did you|best)\b|\b(?:what|which|where|when|who)\b.*\b(?:should|shall|can i|can we|do i|do we|must i|need|needs|needed|works?|worked|best|right|good|proper|safe|safely|suitable|recommended|use|helped|helps|lets?|allows?|without)\b|\b(?:settings?|parameters?|speed|force|pressure|value|way|method|trick|setup|config\w*|recipe|procedure|approach|height|temperature|angle|rate|mode|program)\b.*\b(?:for|to|that|when|with|on)\b|\bwhat (?:\w+ ){0,3}(?:for|gives?|makes?|keeps?|gets?|holds?)\b|\bhow (?:to|do|should|can)\b`,
		`\bwie (?:\w+ )?(?:muss|soll|sollte|kann|mache|macht|bekomm\w*|krieg\w*|lange|schnell|fest|hoch|weit|stark)\b|\b(?:welche\w*|womit|wo kann|was hilft|am besten|geeignet|funktioniert|einstellung\w*)\b`,
		`推荐|参数|按什么|什么比|下多少|放多少|怎么|怎样|如何|怎么办|用多少|多少度|多大|多快|多久|什么参数|什么方法|哪种|哪个好|应该|该用|要用|最好|合适|才能|才不|好用|有效|どうやって|どうすれば|どのくらい|どれくらい|いくつ|何秒|設定|方法|おすすめ|最適|ちょうど|どの`},
	{Now,
		`^\s*(?:is|are|does|do|has|have|can|may)\b|\b(?:where|who|whose|which|what)(?:'s| is| are)\b|\bhow (?:long|big|full|high|many|much|old)\b.*\b(?:is|are|has|have)\b`,
		`\b(?:wo|wer|ist|sind|hat|kann)\b`,
		`在哪|哪里|谁|是多少|多少$|吗[？?]?$|还能|能不能|是不是|どこ|誰|いくら`},
}

// compiledKinds compiles the expressions of kindRules, nil for none.
var compiledKinds = sync.OnceValue(func() (out [][3]*regexp.Regexp) {
	for _, r := range kindRules {
		var of [3]*regexp.Regexp

		for i, pattern := range []string{r.english, r.german, r.asian} {
			if pattern != "" {
				of[i] = regexp.MustCompile(pattern)
			}
		}
		out = append(out, of)
	}

	return out
})

// asking lists the words without which an English question is Plain. askingGerman lists those of a German question
// that are not English too. They are looked for first, because the rules take longer than the rest of a small
// recall. The words of german also show that a question is German.
var (
	asking = wordSet(`how what whats which where when who whom whose why is are was were does do did has have had can could may must should
		shall will would need now currently current present moment days nowadays today still already any anymore yet latest
		last recent recently avoid never not best good right safe setting settings parameter parameters speed force pressure
		value way method trick setup config recipe procedure approach height temperature angle rate mode program forbidden
		prohibited exception exceptions problem problems wrong accident incident mistake mistakes too since anything
		something worked works helped success successful`)
	askingGerman = wordSet(`wie wann warum weshalb wieso wo wer womit welche welcher welches welchem welchen jetzt aktuell derzeit gerade
		momentan noch zuletzt falsch schief vermeiden nicht darf soll sollte zu geklappt gelungen erfolgreich geeignet
		funktioniert keinen einstellung einstellungen gefallen gerissen verrutscht verklemmt verkratzt gebrochen ausgefallen
		blockiert kaputt defekt ausschuss fehler`)
	german = wordSet(`wieviel wieviele ist sind kann heute damit ohne kein keine der das ein eine und mit`)
)

// scriptsOf reports for which of the expressions of a kindRule a question in lower case has words.
func scriptsOf(question string) (of [3]bool) {
	if isASCII(question) {
		// German without umlauts is ASCII too, so its words decide.
		asked := strings.ContainsRune(question, '?')
		for word := range strings.FieldsFuncSeq(question, func(r rune) bool { return r < 'a' || r > 'z' }) {
			of[0] = of[0] || asked || asking[word] || askingGerman[word] || failingStart.MatchString(word)
			of[1] = of[1] || askingGerman[word] || german[word]
		}

		return of
	}

	for _, r := range question {
		switch {
		case r < utf8.RuneSelf:
			of[0] = of[0] || r >= 'a' && r <= 'z'
		case r < 0x2E80: // letters of Europe
			of[1] = true
		default:
			of[2] = true
		}
	}

	for word := range strings.FieldsFuncSeq(question, func(r rune) bool { return !unicode.IsLetter(r) }) {
		of[1] = of[1] || askingGerman[word] || german[word]
	}

	return of
}

// failingStart matches a word that begins with a verb of failure.
var failingStart = regexp.MustCompile(`^` + failingVerbs)

// KindOf returns what a question asks for.
func KindOf(question string) Kind {
	question = strings.ToLower(question)
	scripts := scriptsOf(question)
	if scripts == [3]bool{} {
		return Plain
	}

	for i, expressions := range compiledKinds() {
		for script, expression := range expressions {
			if scripts[script] && expression != nil && expression.MatchString(question) {
				return kindRules[i].kind
			}
		}
	}

	return Plain
}

// onlyHow matches a Chinese question that asks how something ended and names no thing.
var onlyHow = regexp.MustCompile(`^(?:什么|哪些|哪里|有|出|了|过|的|问题|失败|成功|发生|情况|事情|事|怎么样|怎么|做|干|吗|呢|都|故障|顺利|异常|[\s?？。，,!.;:])*$`)

// AsksOnlyHow reports whether a question has no words but those that ask how something ended: "what went
// wrong", "which failures were there", "what worked", 出了什么问题.
func AsksOnlyHow(question string) bool {
	if onlyHow.MatchString(question) {
		return true
	}

	content, _ := Query(question)
	for _, t := range content {
		if stem := Stem(t); !Common(stem) && !outcomeStems()[stem] {
			return false
		}
	}

	return true
}

// outcomeStems holds the stems of nouns and verbs of outcomes.
var outcomeStems = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`fail failed failure failures fault faults error errors incident incidents accident accidents
		mistake mistakes went wrong success successes succeeded successful mishap mishaps trouble issue issues crash crashes report summary summarize
		learn learned learnt remember observations fehler fehlschlag probleme problem störung störungen vorfall vorfälle
		schiefgegangen geklappt gelungen schief erfolg erfolge los`) {
		out[Stem(fold(w))] = true
	}

	return out
})
