//! The word lists of the embedded judge. Small and closed: what is not here is left to the fitted model.

/// Words without content of their own.
pub const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "being", "both", "but", "by",
    "did", "do", "does", "during", "for", "from", "had", "has", "have", "he", "her", "him", "his", "in", "into", "is", "it",
    "its", "of", "on", "or", "our", "she", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "was", "we", "were", "when", "where", "which", "who", "whom", "whose", "will", "with",
    "would", "you", "your", "i", "me", "my", "what", "how", "why", "can", "could", "should", "may", "might",
];

/// Articles, which are never compared.
pub const ARTICLES: &[&str] = &["a", "an", "the"];

/// Words that turn a statement around.
pub const NEGATIONS: &[&str] =
    &["not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "non"];

/// Words that qualify a number without changing it.
pub const HEDGES: &[&str] = &[
    "about", "approximately", "around", "roughly", "nearly", "almost", "some", "circa", "ca", "c", "estimated", "approx", "exactly",
    "over", "total", "only", "just",
];

/// Words that only say what kind of thing the answer is.
pub const FILLERS: &[&str] = &[
    "version", "versions", "v", "ver", "release", "number", "no", "nr", "year", "years", "people", "times", "approximately", "about", "around",
    "called", "named", "known", "it", "is", "was", "are", "were", "answer", "since", "in", "of", "on", "at", "by", "from", "for", "to",
    "with", "ad", "ce", "mr", "mrs", "ms", "dr", "sir", "lord", "lady", "saint", "st", "roughly", "circa", "ca", "c", "exactly", "total",
    "only", "just", "nearly", "almost", "some", "estimated", "approx", "be", "its", "their", "his", "her",
];

/// Modifiers that name another thing: `North Korea` is not `Korea`, a vice president no president.
pub const CONTRASTING: &[&str] = &[
    "north", "south", "east", "west", "northern", "southern", "eastern", "western", "northeast", "northwest", "southeast", "southwest",
    "central", "new", "vice", "deputy", "assistant", "former", "ex", "upper", "lower", "outer", "inner", "anti", "pre", "post", "sub", "under", "semi",
    "half", "step", "pseudo", "mid", "early", "late", "left", "right", "front", "back", "first", "second", "last", "least", "most", "greater",
    "lesser", "micro", "macro", "neo", "junior", "senior", "jr", "sr", "mini", "max", "pro", "plus", "lite", "beta", "alpha", "inter", "intra",
    "hyper", "hypo", "co", "non", "in-law", "grand", "great", "un", "except", "unless", "only", "failed", "fake", "false", "quasi", "women", "womens",
];

/// Pairs of words that exclude one another.
pub const OPPOSITES: &[(&str, &str)] = &[
    ("north", "south"), ("east", "west"), ("north", "east"), ("north", "west"), ("south", "east"), ("south", "west"),
    ("northern", "southern"), ("eastern", "western"), ("before", "after"), ("above", "below"), ("over", "under"), ("left", "right"),
    ("upper", "lower"), ("increase", "decrease"), ("increased", "decreased"), ("increases", "decreases"), ("increasing", "decreasing"), ("more", "less"),
    ("more", "fewer"), ("most", "least"), ("high", "low"), ("higher", "lower"), ("highest", "lowest"), ("male", "female"), ("man", "woman"), ("men", "women"),
    ("boy", "girl"), ("boys", "girls"), ("father", "mother"), ("brother", "sister"), ("son", "daughter"), ("husband", "wife"), ("king", "queen"),
    ("prince", "princess"), ("uncle", "aunt"), ("true", "false"), ("yes", "no"), ("hot", "cold"), ("inside", "outside"), ("internal", "external"),
    ("first", "last"), ("old", "new"), ("early", "late"), ("positive", "negative"), ("legal", "illegal"), ("public", "private"), ("win", "lose"),
    ("won", "lost"), ("day", "night"), ("summer", "winter"), ("spring", "autumn"), ("spring", "fall"), ("am", "pm"), ("bc", "ad"), ("bce", "ce"), ("import", "export"),
    ("buyer", "seller"), ("employer", "employee"), ("input", "output"), ("enabled", "disabled"), ("allow", "deny"), ("allowed", "forbidden"), ("major", "minor"),
    ("maximum", "minimum"), ("always", "never"), ("black", "white"), ("red", "blue"), ("client", "server"), ("read", "write"), ("start", "end"), ("begin", "end"),
    ("open", "closed"), ("on", "off"), ("up", "down"), ("in", "out"), ("with", "without"), ("required", "optional"), ("systolic", "diastolic"),
    ("artery", "vein"), ("arteries", "veins"), ("acid", "base"), ("protestant", "catholic"), ("democrat", "republican"), ("democratic", "republican"),
];

/// Names that stand for the same thing and share no letters in a way that a rule could see. Longest first.
pub const ALIASES: &[(&[&str], &str)] = &[
    (&["united", "states", "of", "america"], "usa"),
    (&["united", "states"], "usa"),
    (&["us"], "usa"),
    (&["united", "kingdom"], "uk"),
    (&["great", "britain"], "uk"),
    (&["britain"], "uk"),
    (&["soviet", "union"], "ussr"),
    (&["washington", "dc"], "washington"),
    (&["new", "york", "city"], "nyc"),
    (&["mount"], "mt"),
    (&["saint"], "st"),
    (&["doctor"], "dr"),
    (&["versus"], "vs"),
    (&["television"], "tv"),
    (&["okay"], "ok"),
    (&["dollars"], "usd"),
    (&["dollar"], "usd"),
    (&["euros"], "eur"),
    (&["euro"], "eur"),
];

/// Short forms of given names.
pub const NICKNAMES: &[(&str, &str)] = &[
    ("alex", "alexander"), ("andy", "andrew"), ("ben", "benjamin"), ("bill", "william"), ("billy", "william"), ("bob", "robert"),
    ("bobby", "robert"), ("charlie", "charles"), ("chris", "christopher"), ("dan", "daniel"), ("danny", "daniel"), ("dave", "david"), ("dick", "richard"),
    ("don", "donald"), ("ed", "edward"), ("eddie", "edward"), ("fred", "frederick"), ("greg", "gregory"), ("jack", "john"), ("jake", "jacob"), ("jeff", "jeffrey"),
    ("jenny", "jennifer"), ("jim", "james"), ("jimmy", "james"), ("joe", "joseph"), ("johnny", "john"), ("jon", "jonathan"), ("josh", "joshua"), ("kate", "katherine"),
    ("kathy", "katherine"), ("ken", "kenneth"), ("larry", "lawrence"), ("liz", "elizabeth"), ("matt", "matthew"), ("mike", "michael"), ("nate", "nathan"), ("nick", "nicholas"),
    ("pat", "patrick"), ("pete", "peter"), ("ray", "raymond"), ("rich", "richard"), ("rick", "richard"), ("rob", "robert"), ("ron", "ronald"), ("sam", "samuel"),
    ("steve", "steven"), ("sue", "susan"), ("ted", "theodore"), ("tim", "timothy"), ("tom", "thomas"), ("tommy", "thomas"), ("tony", "anthony"), ("vicky", "victoria"),
    ("will", "william"), ("zach", "zachary"), ("meg", "margaret"), ("maggie", "margaret"), ("beth", "elizabeth"), ("becky", "rebecca"),
];

/// Phrases by which a system says that it does not know, in normal form.
pub const UNKNOWN_PHRASES: &[&str] = &[
    "unknown", "i do not know", "do not know", "i am not sure", "not sure", "not known", "it is unknown", "it is not known", "unclear", "no answer", "not available",
    "not stated", "not specified", "not mentioned", "not given", "cannot be determined", "can not be determined", "cannot determine",
    "cannot answer", "can not answer", "not enough information", "insufficient information", "insufficient evidence", "no information", "information not available", "n a", "na",
    "answer is unknown", "evidence does not say", "unsure", "undetermined", "no evidence",
];
