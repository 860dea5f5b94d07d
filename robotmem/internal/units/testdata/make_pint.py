"""Writes pint.tsv: units as robotmem spells them, and what pint makes of them.

    pip install pint==0.25.3 && python3 make_pint.py > pint.tsv

Each line: the unit, a value, the canonical unit, the value in it by pint's
exact decimal arithmetic, to 17 digits.
"""
from decimal import Decimal, getcontext

import pint

getcontext().prec = 40
ureg = pint.UnitRegistry(non_int_type=Decimal, autoconvert_offset_to_baseunit=True)

# canonical unit -> (pint's name of it, {our spelling: pint's})
TABLE = {
    "N": ("newton", {"N": "newton", "dyn": "dyne", "kgf": "kilogram_force", "lbf": "pound_force", "ozf": "ounce_force",
                     "kg·m/s²": "kg*m/s^2", "kilonewtons": "kilonewton"}),
    "N·m": ("newton*meter", {"Nm": "newton*meter", "kNm": "kilonewton*meter", "N·cm": "newton*cm", "Nmm": "newton*mm",
                             "ft-lb": "foot*pound_force", "in·lb": "inch*pound_force", "oz-in": "ounce_force*inch",
                             "lbf·ft": "pound_force*foot", "kgf·cm": "kilogram_force*cm"}),
    "m": ("meter", {u: u for u in "m inch foot yard mile micron angstrom nautical_mile".split() if "_" not in u}
          | {"nmi": "nautical_mile", "in": "inch", "ft": "foot", "yd": "yard", "mi": "mile", "thou": "thou"}),
    "m²": ("meter^2", {"m²": "m^2", "mm^2": "mm^2", "square inches": "inch^2", "ft2": "foot^2", "ha": "hectare"}),
    "m³": ("meter^3", {"L": "liter", "mL": "milliliter", "cc": "cc", "gal": "gallon", "in³": "inch^3", "cubic metres": "m^3"}),
    "s": ("second", {"s": "second", "min": "minute", "h": "hour", "d": "day", "weeks": "week"}),
    "m/s": ("meter/second", {"m/s": "m/s", "km/h": "km/hour", "mph": "mile/hour", "knots": "knot", "ft/s": "foot/second",
                             "kph": "km/hour", "inches per minute": "inch/minute"}),
    "m/s²": ("meter/second^2", {"m/s^2": "m/s^2", "g0": "standard_gravity", "ft/s²": "foot/s^2", "mm s-2": "mm/s^2"}),
    "rad": ("radian", {"rad": "radian", "deg": "degree", "°": "degree", "rev": "turn", "arcmin": "arcminute",
                       "arcsec": "arcsecond", "gon": "grade"}),
    "rad/s": ("radian/second", {"rpm": "rpm", "deg/s": "degree/second", "rev/s": "turn/second", "°/min": "degree/minute"}),
    "rad/s²": ("radian/second^2", {"deg/s²": "degree/s^2", "rpm/s": "rpm/s"}),
    "kg": ("kilogram", {"g": "gram", "kg": "kilogram", "t": "tonne", "lb": "pound", "oz": "ounce", "mg": "milligram"}),
    "kg·m²": ("kg*meter^2", {"kg·m²": "kg*m^2", "g cm^2": "g*cm^2", "lb·in²": "pound*inch^2"}),
    "kg/m³": ("kg/meter^3", {"g/cm³": "g/cm^3", "lb/ft³": "pound/foot^3"}),
    "Pa": ("pascal", {"Pa": "pascal", "kPa": "kilopascal", "bar": "bar", "mbar": "millibar", "psi": "psi", "atm": "atm",
                      "torr": "torr", "N/mm²": "newton/mm^2", "lbf/in²": "pound_force/inch^2", "ksi": "ksi"}),
    "N/m": ("newton/meter", {"N/m": "newton/m", "N/mm": "newton/mm", "lbf/in": "pound_force/inch"}),
    "J": ("joule", {"J": "joule", "Wh": "watt*hour", "kWh": "kilowatt*hour", "eV": "electron_volt", "cal": "calorie",
                    "kcal": "kilocalorie"}),
    "W": ("watt", {"W": "watt", "mW": "milliwatt", "hp": "horsepower", "J/s": "joule/s"}),
    "C": ("coulomb", {"C": "coulomb", "Ah": "ampere*hour", "mAh": "milliampere*hour"}),
    "V": ("volt", {"V": "volt", "mV": "millivolt"}),
    "A": ("ampere", {"A": "ampere", "mA": "milliampere", "µA": "microampere"}),
    "Ω": ("ohm", {"Ω": "ohm", "kΩ": "kiloohm", "V/A": "volt/ampere"}),
    "F": ("farad", {"µF": "microfarad", "pF": "picofarad"}),
    "H": ("henry", {"mH": "millihenry"}),
    "T": ("tesla", {"mT": "millitesla", "µT": "microtesla", "gauss": "1e-4*tesla"}),
    "Hz": ("hertz", {"Hz": "hertz", "kHz": "kilohertz"}),
    "K": ("kelvin", {"K": "kelvin", "mK": "millikelvin", "°C": "degC", "°F": "degF", "°R": "degR"}),
    "B": ("byte", {"B": "byte", "KiB": "kibibyte", "MB": "megabyte", "Mbit": "megabit"}),
}
PREFIXED = {"N": "newton", "m": "meter", "s": "second", "Pa": "pascal", "V": "volt", "W": "watt", "J": "joule", "rad": "radian"}
PREFIXES = {"f": "femto", "p": "pico", "n": "nano", "µ": "micro", "m": "milli", "c": "centi", "d": "deci", "da": "deca",
            "h": "hecto", "k": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta"}

for symbol, name in PREFIXED.items():
    for short, long in PREFIXES.items():
        TABLE[symbol][1][short + symbol] = long + name
        TABLE[symbol][1][long + name] = long + name

for canonical, (base, units) in TABLE.items():
    for ours, theirs in units.items():
        for value in ("1", "-12.5", "0.0333"):
            if theirs in ("degC", "degF"):
                got = ureg.Quantity(Decimal(value), theirs).to(base).magnitude
            else:
                got = (Decimal(value) * ureg.Quantity(Decimal(1), theirs)).to(base).magnitude if "*tesla" not in theirs else Decimal(value) * Decimal("1e-4")
            print(ours, value, canonical, f"{+Decimal(got):.16e}", sep="\t")
