//! Units: what they measure, by which factor, and by which names they go.

/// What a unit measures; quantities of two dimensions are never the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Metres.
    Length,
    /// Square metres.
    Area,
    /// Kilograms.
    Mass,
    /// Pounds, of weight or sterling.
    Pounds,
    /// Seconds; calendar months and years by their mean length.
    Time,
    /// Bytes.
    Data,
    /// Bytes a second.
    Rate,
    /// Metres a second.
    Speed,
    /// Percent.
    Share,
    /// The currency of this code.
    Money(&'static str),
    /// The currency of this sign, which has no code here.
    Currency(char),
    /// Litres.
    Volume,
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
    /// What the symbol with a prefix measures (`W`, `Hz`).
    Symbol(&'static str),
}

/// A unit: what it measures, and how many of the base unit one of it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// Base units in one.
    pub factor: f64,
}

impl Unit {
    /// The factors to a base that both have.
    #[must_use]
    pub fn common(self, other: Self) -> Option<(f64, f64)> {
        const POUND: f64 = 0.453_592_37;
        match (self.dimension, other.dimension) {
            (one, two) if one == two => Some((self.factor, other.factor)),
            (Dimension::Pounds, Dimension::Money("GBP")) | (Dimension::Money("GBP"), Dimension::Pounds) => {
                Some((1.0, 1.0))
            }
            (Dimension::Pounds, Dimension::Mass) => Some((POUND, other.factor)),
            (Dimension::Mass, Dimension::Pounds) => Some((self.factor, POUND)),
            _ => None,
        }
    }

    /// This unit of length, squared or cubed.
    #[must_use]
    pub fn power(self, exponent: u32) -> Option<Self> {
        let length = self.dimension == Dimension::Length;
        match exponent {
            2 if length => Some(Self { dimension: Dimension::Area, factor: self.factor.powi(2) }),
            3 if length => Some(Self { dimension: Dimension::Volume, factor: self.factor.powi(3) * 1e3 }),
            _ => None,
        }
    }
}

/// The unit of this name: symbols with a prefix as they are written (`mW`, `MW`), everything else in any case.
#[must_use]
pub fn named(word: &str) -> Option<Unit> {
    symbol(word).or_else(|| usual(&word.to_lowercase())).or_else(|| money(word)).or_else(|| {
        let exponent = word.chars().last().and_then(|last| last.to_digit(10))?;
        usual(&word[..word.len() - 1].to_lowercase())?.power(exponent)
    })
}

fn usual(word: &str) -> Option<Unit> {
    use Dimension::{Celsius, Data, Fahrenheit, Length, Mass, Pounds, Share, Speed, Symbol, Time, Volume};
    let (dimension, factor) = match word {
        "m" | "metre" | "metres" | "meter" | "meters" => (Length, 1.0),
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => (Length, 1e3),
        "cm" | "centimetre" | "centimetres" | "centimeter" | "centimeters" => (Length, 1e-2),
        "mm" | "millimetre" | "millimetres" | "millimeter" | "millimeters" => (Length, 1e-3),
        "ft" | "foot" | "feet" | "'" => (Length, 0.3048),
        "inch" | "inches" | "\"" => (Length, 0.0254),
        "yd" | "yds" | "yard" | "yards" => (Length, 0.9144),
        "mi" | "mile" | "miles" => (Length, 1609.344),
        "kg" | "kilo" | "kilos" | "kilogram" | "kilograms" => (Mass, 1.0),
        "g" | "gram" | "grams" => (Mass, 1e-3),
        "mg" | "milligram" | "milligrams" => (Mass, 1e-6),
        "lb" | "lbs" => (Mass, 0.453_592_37),
        "oz" | "ounce" | "ounces" => (Mass, 0.028_349_523_125),
        "pound" | "pounds" => (Pounds, 1.0),
        "ns" | "nanosecond" | "nanoseconds" => (Time, 1e-9),
        "us" | "μs" | "microsecond" | "microseconds" => (Time, 1e-6),
        "ms" | "millisecond" | "milliseconds" => (Time, 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => (Time, 1.0),
        "min" | "mins" | "minute" | "minutes" => (Time, 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => (Time, 3600.0),
        "day" | "days" => (Time, 86_400.0),
        "week" | "weeks" => (Time, 604_800.0),
        "month" | "months" => (Time, 2_629_746.0),
        "year" | "years" | "yr" | "yrs" => (Time, 31_556_952.0),
        "decade" | "decades" => (Time, 315_569_520.0),
        "century" | "centuries" => (Time, 3_155_695_200.0),
        "byte" | "bytes" => (Data, 1.0),
        "kb" | "kilobyte" | "kilobytes" => (Data, 1e3),
        "mb" | "megabyte" | "megabytes" => (Data, 1e6),
        "gb" | "gigabyte" | "gigabytes" => (Data, 1e9),
        "tb" | "terabyte" | "terabytes" => (Data, 1e12),
        "bit" | "bits" => (Data, 0.125),
        "mph" => (Speed, 0.447_04),
        "kmh" | "kph" => (Speed, 1.0 / 3.6),
        "percent" | "pct" | "%" => (Share, 1.0),
        "l" | "litre" | "litres" | "liter" | "liters" => (Volume, 1.0),
        "ml" | "millilitre" | "millilitres" | "milliliter" | "milliliters" => (Volume, 1e-3),
        "celsius" => (Celsius, 1.0),
        "fahrenheit" => (Fahrenheit, 1.0),
        "hz" | "hertz" => (Symbol("Hz"), 1.0),
        "khz" | "kilohertz" => (Symbol("Hz"), 1e3),
        "mhz" | "megahertz" => (Symbol("Hz"), 1e6),
        "ghz" | "gigahertz" => (Symbol("Hz"), 1e9),
        "watt" | "watts" => (Symbol("W"), 1.0),
        "kw" | "kilowatt" | "kilowatts" => (Symbol("W"), 1e3),
        "megawatt" | "megawatts" => (Symbol("W"), 1e6),
        "gw" | "gigawatt" | "gigawatts" => (Symbol("W"), 1e9),
        "volt" | "volts" => (Symbol("V"), 1.0),
        _ => return None,
    };
    Some(Unit { dimension, factor })
}

/// Symbols whose prefix depends on case.
fn symbol(word: &str) -> Option<Unit> {
    const SYMBOLS: &[&str] = &["Wh", "Hz", "Pa", "W", "V", "A", "J"];
    const BITS: &[(&str, Dimension, f64)] =
        &[("b", Dimension::Data, 0.125), ("bps", Dimension::Rate, 0.125), ("Bps", Dimension::Rate, 1.0)];
    let (first, rest) = (word.chars().next()?, &word[word.chars().next()?.len_utf8()..]);
    let scale = match first {
        'n' => 1e-9,
        'µ' | 'μ' => 1e-6,
        'm' => 1e-3,
        'k' | 'K' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        'T' => 1e12,
        _ => return None,
    };
    let prefixed = SYMBOLS.iter().find(|symbol| **symbol == rest).map(|symbol| (Dimension::Symbol(symbol), 1.0));
    let bits = || BITS.iter().find(|(name, ..)| *name == rest).map(|(_, dimension, factor)| (*dimension, *factor));
    let (dimension, factor) = prefixed.or_else(|| bits().filter(|_| first.is_uppercase()))?;
    Some(Unit { dimension, factor: factor * scale })
}

/// Currencies by their code and, where it is clear, their sign.
const CODES: &[(&str, char)] = &[
    ("USD", '$'),
    ("EUR", '€'),
    ("GBP", '£'),
    ("JPY", '¥'),
    ("INR", '₹'),
    ("RUB", '₽'),
    ("KRW", '₩'),
    ("TRY", '₺'),
    ("ILS", '₪'),
    ("VND", '₫'),
    ("NGN", '₦'),
    ("PHP", '₱'),
    ("UAH", '₴'),
    ("THB", '฿'),
    ("BTC", '₿'),
    ("cent", '¢'),
    ("CNY", ' '),
    ("CHF", ' '),
    ("CAD", ' '),
    ("AUD", ' '),
    ("NZD", ' '),
    ("HKD", ' '),
    ("SGD", ' '),
    ("TWD", ' '),
    ("SEK", ' '),
    ("NOK", ' '),
    ("DKK", ' '),
    ("PLN", ' '),
    ("CZK", ' '),
    ("HUF", ' '),
    ("BRL", ' '),
    ("MXN", ' '),
    ("ZAR", ' '),
    ("pence", ' '),
];

/// Letters before a dollar sign, and the code that both make.
const DOLLARS: &[(&str, &str)] = &[
    ("us", "USD"),
    ("a", "AUD"),
    ("au", "AUD"),
    ("c", "CAD"),
    ("ca", "CAD"),
    ("can", "CAD"),
    ("nz", "NZD"),
    ("hk", "HKD"),
    ("s", "SGD"),
    ("nt", "TWD"),
    ("r", "BRL"),
    ("mx", "MXN"),
];

fn of_code(code: &str) -> Option<Unit> {
    let (code, _) = CODES.iter().find(|(held, _)| *held == code)?;
    Some(Unit { dimension: Dimension::Money(code), factor: 1.0 })
}

/// A currency by its code in capitals or its name.
#[must_use]
pub fn money(word: &str) -> Option<Unit> {
    let code = match word.to_lowercase().as_str() {
        "usd" | "dollar" | "dollars" => "USD",
        "eur" | "euro" | "euros" => "EUR",
        "gbp" | "sterling" => "GBP",
        "jpy" | "yen" => "JPY",
        "cny" | "rmb" | "yuan" => "CNY",
        "inr" | "rs" | "rupee" | "rupees" => "INR",
        "rub" | "rouble" | "roubles" | "ruble" | "rubles" => "RUB",
        "chf" => "CHF",
        "cent" | "cents" => "cent",
        "penny" | "pence" => "pence",
        _ => word,
    };
    of_code(code)
}

/// The currency of a sign.
#[must_use]
pub fn of_sign(sign: char) -> Option<Unit> {
    let code = CODES.iter().find(|(_, held)| *held == sign && sign != ' ').and_then(|(code, _)| of_code(code));
    let unknown = || Unit { dimension: Dimension::Currency(sign), factor: 1.0 };
    code.or_else(|| super::signs::is_currency(sign).then(unknown))
}

/// The currency of letters right before a dollar sign (`A$`).
#[must_use]
pub fn of_dollars(letters: &str) -> Option<Unit> {
    let lower = letters.to_lowercase();
    DOLLARS.iter().find(|(held, _)| *held == lower).and_then(|(_, code)| of_code(code))
}
