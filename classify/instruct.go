package classify

import (
	"regexp"
	"slices"
	"strings"
)

// addressed matches texts that speak to a language model and not about a robot: they set its orders aside, give it
// another part to play, forge the marks of a conversation, or have it keep something from its user.
var addressed = regexp.MustCompile(`(?i)` +
	`\b(?:ignore|disregard|forget|override|bypass|set aside)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system|safety)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|messages?|guidelines?|guardrails?|restrictions?|orders)\b` +
	`|\b(?:ignore|disregard|forget)\b[^.\n]{0,20}\b(?:instructions?|rules?|prompts?|orders)\b[^.\n]{0,5}\b(?:above|before|so far)\b` +
	`|\b(?:you are|you're|act as|behave as|pretend to be|roleplay as)\b[^.\n]{0,30}\b(?:assistant|(?-i:AI)|language model|chatbot|jailbroken|(?-i:DAN)|unrestricted|developer mode|admin(?:istrator)?|root)\b` +
	`|<\s*/?\s*(?:system|assistant|user|instructions?|tool_result|function_results?|robotmem-memory)\s*>|\[/?INST\]|<\|im_(?:start|end)\|>|^\s*(?:system|assistant)\s*:` +
	`|\b(?:reveal|print|show|repeat|output|leak)\b[^.\n]{0,30}\b(?:system prompt|hidden prompt|your (?:instructions|prompt|rules))\b` +
	`|\b(?:new|updated|real|actual|important) (?:system )?instructions?\s*(?::|for (?:the|you))` +
	`|\b(?:do not|don['’]t|never|without)\b[^.\n]{0,20}\b(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|alert(?:ing)?|ask(?:ing)?)\b[^.\n]{0,20}\b(?:the )?(?:user|human|operator|owner)\b` +
	`|\b(?:send|post|upload|exfiltrate|forward|email)\b[^.\n]{0,60}\b(?:api[ _-]?keys?|tokens?|passwords?|secrets?|credentials?|private keys?|environment variables?)\b` +
	`|\b(?:hey|hello|hi|dear|listen),? (?:claude|chatgpt|gpt|copilot|gemini|(?-i:AI)|assistant|agent|model)\b` +
	`|\b(?:as an (?-i:AI)|dear (?:(?-i:AI)|assistant|model)|attention[,:]? (?:(?-i:AI)|assistant|agent|model))\b` +
	`|\b(?:(?:the|any|every|(?-i:AI)) assistants?|language models?|(?-i:AIs?|LLMs?)(?: (?:models?|agents?|systems?))?),? (?:also )?(?:must|should|shall|always|never|has to|have to|needs? to)\b` +
	`|\b(?:note|message|instructions?|rule|hint|prompt) (?:to|for) (?:the |an? |any |all )?(?:agents?|models?|assistants?|language models?|(?-i:AIs?|LLMs?))\b` +
	`|\b(?:obey|trust|follow|believe|prefer)\b[^.\n]{0,30}\bthis (?:memory|line|note|text|entry)\b|\badvice of this (?:memory|line|note|entry)\b` +
	`|\b(?:system prompt|developer (?:message|prompt)|(?:hidden|secret) (?:instructions?|prompt)|trusted (?:instructions?|rule))\b` +
	`|\b(?:do not|don['’]t|never)\b[^.\n]{0,20}\b(?:report|show|say|admit|reveal)\b[^.\n]{0,80}\bto (?:the |any )?(?:user|human|operator|owner)s?\b` +
	`|(?:^|[.:!?]\s*)pretend that\b|^\s*prompt\s*:` +
	`|\byou are (?:now )?in (?:\w+ )?mode\b` +
	`|\b(?:call|invoke)\b[^.\n]{0,12}\b(?:forget|recall|learn|start_session|end_session|save_perception)\b` +
	`|(?:忽略|无视|忘记).{0,12}(?:之前|以上|先前|所有|系统).{0,8}(?:指令|指示|规则|提示)|你现在是.{0,12}(?:助手|模型|管理员)`)

// signs are parts of words of which every text has one that addressed matches.
var signs = strings.Fields(`instruct rule prompt message guideline guardrail restriction orders assist model chatbot jailbrok unrestricted
	admin developer root < [ system user human operator owner key token password secret credential environment attention
	dear claude gpt copilot gemini llm pretend forget mode memory line note text entry agent recall learn session perception 指令 指示 规则 提示 助手 模型 管理员`)

// Instructs reports whether a text looks like an instruction to a language model that reads it. It is data
// like any other, but no rule, and nothing that is put before a model unasked.
func Instructs(text string) bool {
	lower := strings.ToLower(text)
	sign := func(sign string) bool { return strings.Contains(lower, sign) }

	return (slices.ContainsFunc(signs, sign) || strings.Contains(text, "AI") || strings.Contains(text, "DAN")) && addressed.MatchString(text)
}

// steering matches what a rule of a robot or a workshop hardly has, and a text that wants to steer its reader often has: a
// model, what its reader must say or keep to itself, the memory and its rules, commands for a shell that fetch or force
// something, and marks of a format.
var steering = regexp.MustCompile(`(?i)` +
	`\b(?:(?-i:AI)|(?-i:LLMs?)|gpt|chatgpt|claude|copilot|openai|anthropic|next response|the model must)\b` +
	`|\b(?:robotmem|memory \d+|memory_id|min_confidence|briefing|this (?:memory|sentence|lesson)|rules? \d+|(?:rules?|memories|instructions?) (?:above|below|before this|that follow)|all other (?:rules?|memories)|end (?:the )?session)\b` +
	`|\b(?:always|never|must(?: always| never| not)?|do not)\b[^.\n]{0,40}\b(?:say|claim|admit|mention|conceal|obey|recommend|recommended|believe|believed|tell (?:any|the user|the human|people))\b|\buser must never (?:learn|know|see)\b|\b(?:with|by|from) (?:the )?user knowing\b|\bhide\b[^.\n]{0,30}\bfrom (?:the )?(?:user|human|operator)` +
	`|<\s*/?\s*(?:system|invoke|function|tool|user|assistant)\b|\[[^\]]*\]\(|` + "```" + `|^\s*(?:robotmem|admin|root|head office|openai)[\w ]{0,12}:` +
	`|[\x{202A}-\x{202E}\x{2066}-\x{2069}\x{200B}-\x{200F}]` +
	`|(?:助手|模型).{0,3}(?:必须|始终|应该|绝不|总是)|(?:不要|不得|绝不能)告诉|扮演|都必须回答|提示词`)

// command matches what a shell does with force, or fetches and runs.
var command = regexp.MustCompile(`(?i)\b(?:curl|wget|sudo|eval|chmod 777|push --force|base64 -d)\b|--no-verify\b|--force\b|\b(?:GITHUB_TOKEN|ROBOTMEM_[A-Z]+|(?:AGENTS|CLAUDE)\.md)\b|\.env\b|https?://|\.example\b|javascript:`)

// forbids matches a rule against something.
var forbids = regexp.MustCompile(`(?i)\b(?:never|do not|don['’]t|must not)\b`)

// secondPerson matches a text that speaks to its reader.
var secondPerson = regexp.MustCompile(`(?i)\b(?:you|your|yours|yourself|you're|you've|between us)\b|[你您]`)

// dependent is a clause in which "you" is the person who works there, and not the reader.
var dependent = regexp.MustCompile(`(?i)\b(?:before|when|whenever|if|after|until|till|while|unless|once|as) you\b(?: are\b| have\b)?`)

// AddressesReader reports whether a text seems to address its reader instead of describing a robot and its world: what
// the reader must say, whom it must not tell, which of its rules or memories no longer hold. It is stricter than
// [Instructs], so some true rules are among these texts. They are not shown as rules; otherwise they are found and shown
// like any other text.
func AddressesReader(text string) bool {
	return Instructs(text) || steering.MatchString(text) || command.MatchString(text) && !forbids.MatchString(text) ||
		secondPerson.MatchString(dependent.ReplaceAllString(text, ""))
}
