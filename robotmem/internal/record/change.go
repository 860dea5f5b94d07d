package record

import "regexp"

// change is a word that says that something is no longer as it was.
var change = regexp.MustCompile(`(?i)\b(?:now|no longer|any ?more|moved|relocated|reassigned|replaced|swapped|exchanged|changed|updated|upgraded|renamed|switched|rebuilt|repaired|fixed|cleaned|released|used up|collected|emptied|refilled|as of|from today|since today|new|jetzt|nun|neu\w{0,2}|ab sofort|nicht mehr|verlegt|versetzt|verkürzt|verlängert|erhöht|gesenkt|umgezogen|umgestellt|umgebaut|geändert|ersetzt|ausgetauscht|getauscht|gereinigt|repariert|aktualisiert|hochgezogen|freigegeben)\b|现在|改为|改成|改到|换成|换了|搬到|移到|更新|升级|不再|已经|修好|変更|移動|交換|修理|更新|今は|今日から|から.{1,12}に変|新しい`)

// NamesChange reports whether a text says that something has changed.
func NamesChange(text string) bool { return change.MatchString(text) }
