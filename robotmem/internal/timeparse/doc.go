// Package timeparse reads the time words of a question: "what slipped yesterday?", "before the
// crash at 14:05", "上周三下午".
//
// "last 3 days" and "past week" end now, "last week" is the calendar's. A weekday, a month and a
// day of a month without a year are the latest that have begun. A time of day is of the one day
// that another phrase names, else the latest that has come. Phrases intersect; when no moment is
// left, Note says so.
//
// # Caveats
//
// What can be something else is read only beside a word that makes it a time: a bare 14:05 or 3点
// needs a preposition or a date, "may" and "sat" a capital. 11/03 can be two dates and is not read,
// nor are "tomorrow" and "every Monday".
//
// go-dateparser 1.4.7 instead adds 7 MB to a program and 43 MB to its heap and reads "12.5 N", "cup
// 3 m away" and "march to the door" as times.
package timeparse
