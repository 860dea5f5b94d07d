// Package when reads the time words of a question: "what slipped yesterday?",
// "forces last week", "before the crash at 14:05", "this shift", "上周三下午".
//
// Its nouns: a phrase is one time expression with its bounds; a reading is what
// the phrases of a question come to together, and the words that are left; a
// shift is one turn of work in a day.
//
//	r := when.Parse("slips before the crash at 14:05 yesterday", now, when.Options{})
//	r.Before          // yesterday 14:05, in now's Location
//	r.Phrases[0].Text // "before the crash at 14:05 yesterday"
//	r.Rest            // "slips the crash"
//
// How words are read:
//
//   - A phrase without a preposition is the whole unit that it names, half-open:
//     "3 days ago" that day, "last week" Monday to Sunday, "at 14:05" a minute,
//     "at 2 pm" and noon an hour. A day on which clocks change has 23 or 25 hours.
//   - "2 hours ago" is a point with half a unit, or a tenth of the distance if
//     that is more, to both sides; "around 14:05" reaches half an hour, "around
//     Nov 3" a day; "now" and 现在 are the last 15 minutes.
//   - "last 3 days", "past week" and 最近三天 roll back from now and have no end;
//     "last week" and 上周 are the calendar's, and so is "2 weeks ago".
//   - before A ends where A begins, after A begins where A ends, since A begins
//     with A, until and by A end with A. Of a time of day both are that moment.
//   - A weekday, a month and a day of a month without a year are the latest that
//     have begun; "last Tuesday" is never today. A time of day is of the one day
//     that another phrase names, else the latest that has come.
//   - Morning is 00:00 to 12:00, afternoon to 18:00, evening to 24:00, night and
//     晚上 18:00 to 06:00, 中午 11:00 to 14:00, 凌晨 00:00 to 06:00. They overlap
//     as people do: a bound that is too wide costs a rank, one that is too narrow
//     hides the memory.
//   - "yesterday before noon" is both, so two phrases intersect. When no moment
//     is left there are no bounds, and Note says so.
//
// # Caveats
//
// What can be something else is read only beside a word that makes it a time: a
// bare 14:05, 3 pm, noon or 3点 needs a preposition or a date, "may" and "march"
// a capital or a date around them, "sat" and "sun" a capital and a preposition,
// "now" the end of its clause. Numeric dates with a two-digit field first
// (11/03, 3.11.2026) can be two dates and are not read.
//
// Only the past is looked for: tomorrow, "next week" and "in 5 minutes" are not
// read. Nor are a first day of a month, a habit ("every Monday", "in the
// morning"), a distance from an event ("10 minutes before the crash"), nor times
// with other zones than those of RFC 3339.
//
// A time of day that clocks skip is moved by the hour that they skip; of one
// that comes twice, the first is meant.
//
// The rules are written here because no library of Go does this. Measured with
// 31 questions: go-dateparser 1.4.7 adds 7 MB to a program, 200 ms and 100 MB to
// its start, takes 0.1 to 0.9 ms, gives points in place of ranges and reads "12.5
// N" and "joint 3 at 45" as dates; olebedev/when 1.1.0 panics on "what slipped
// yesterday?"; go-naturaldate 1.3.0 gives no spans, no Chinese, and reads "last 3
// attempts" as three o'clock.
package when
