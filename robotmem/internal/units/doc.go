// Package units has the one table of units: their spellings, dimensions and factors. Filters use
// it to compare values, the checks for duplicates and conflicts use it to compare texts, and a
// search uses it to find a quantity that is written in another unit.
//
// # Nouns
//
//   - A [Quantity] is a number in the canonical unit of its kind. Two quantities are equal exactly
//     when their structs are equal. Of two quantities of one kind, that with the smaller Value is
//     less.
//   - A kind is a set of units whose quantities can be compared: force, torque, energy, frequency.
//   - A unit that is not known is a kind of its own.
//   - A symbol is the spelling of a unit that a search index stores.
//
// # Units
//
// The table is in table.go, one row a unit. Metric units take the prefixes from femto to peta, B
// and bit also Ki to Ti. Symbols are told apart by case: mN and MN, C (coulomb) and °C. Long names
// are not, may be plural and take long prefixes: "Millimetres", "newton meters". Most have a
// Chinese name: 牛, 毫米, 度, 千克. Units multiply with ·, *, a point, a hyphen or a space and divide
// with / or "per"; a division takes the one unit after it, or those in brackets.
//
// # Caveats
//
//   - A torque and an energy do not compare, nor do Hz, rad/s, Bq and 1/s, W and V·A, Gy and Sv:
//     they are different though the SI gives them one dimension. Only kg·m/s² is a force and
//     kg/m/s² a pressure.
//   - Values are rounded to 15 significant digits. Base does not convert numbers of over 13
//     digits.
//   - A lone temperature is a point on its scale, never a difference: 5 °C is 278.15 K. In a
//     compound a degree is a difference. Beyond some 10^21 degrees a °C or °F is no quantity.
//   - kg·cm is mass times length; the torque is kgf·cm. g is the gram, g0 the acceleration. dB
//     compares with dB only, and dBm, dBA are unknown units.
//   - A comma is refused, as 12,5 may be either number; so are ranges, tolerances and "5 ft 3 in".
//   - 5 pm and 5 am are clock times. 3e8F and 007A are identifiers. But 12d is twelve days,
//     and 12A is twelve amperes.
//   - An unknown unit is told apart by case and plural (blip, blips). So is a compound that
//     contains an unknown unit or a power beyond nine.
//   - The canonical units are stored in files as part of attribute paths, and the symbols as part
//     of the full-text index: a change of either needs a migration.
package units
