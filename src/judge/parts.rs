//! The frozen rule by which a packet that is too long for one call is split into parts.
//!
//! A packet of at most [`MOST_ANSWERS`] answers and [`MOST_BYTES`] bytes is one part. A longer one is cut, in the order
//! of its labels, into groups of at most half as many answers and bytes (one answer at least), and every unordered pair
//! of groups makes a part. A part asks for the pairs across its two groups; the pairs within a group are asked for with
//! the group after it, those within the last group with the group before it. So every pair is judged exactly once.

use super::packet::Packet;

/// The most answers of one part.
pub const MOST_ANSWERS: usize = 12;
/// The most bytes of answer text in one part, save where two answers alone are longer.
pub const MOST_BYTES: usize = 12_000;

/// What one call asks: some of the packet's answers, and the pairs that are to be labelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Indices into the packet's answers, ascending.
    pub answers: Vec<usize>,
    /// Pairs of those indices, the smaller first, in lexicographic order.
    pub pairs: Vec<(usize, usize)>,
}

/// The parts of a packet, in a fixed order. Together they ask for every pair exactly once.
#[must_use]
pub fn split(packet: &Packet) -> Vec<Part> {
    let lengths: Vec<usize> = packet.answers().iter().map(|answer| answer.as_str().len()).collect();
    if lengths.len() <= MOST_ANSWERS && lengths.iter().sum::<usize>() <= MOST_BYTES {
        return vec![Part { answers: (0..lengths.len()).collect(), pairs: packet.pairs() }];
    }
    let groups = group(&lengths);
    let last = groups.len() - 1;
    let mut parts = Vec::new();
    for one in 0..groups.len() {
        for other in one + 1..groups.len() {
            let mut pairs = across(&groups[one], &groups[other]);
            if other == one + 1 {
                pairs.extend(within(&groups[one]));
                if other == last {
                    pairs.extend(within(&groups[last]));
                }
            }
            pairs.sort_unstable();
            parts.push(Part { answers: [groups[one].as_slice(), &groups[other]].concat(), pairs });
        }
    }
    parts
}

/// The most parts that a packet of so many answers, each of at most so many bytes, can have: a bound for plans.
#[must_use]
pub const fn most(answers: u64, bytes_each: u64) -> u64 {
    let bytes = answers.saturating_mul(bytes_each);
    if answers <= MOST_ANSWERS as u64 && bytes <= MOST_BYTES as u64 {
        return 1;
    }
    // A group is closed by its count, or because the next answer would overfill it: then it and the next group together
    // hold more than the bytes of one.
    let groups = answers.div_ceil(MOST_ANSWERS as u64 / 2).saturating_add(2 * bytes.div_ceil(MOST_BYTES as u64 / 2));
    let groups = if groups < answers { groups } else { answers };
    if groups < 2 { 1 } else { groups.saturating_mul(groups - 1) / 2 }
}

/// Cuts indices into runs. There are always two groups at least, because more than half of something was exceeded.
fn group(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for (index, length) in lengths.iter().enumerate() {
        match groups.last_mut() {
            Some(open) if open.len() < MOST_ANSWERS / 2 && bytes + length <= MOST_BYTES / 2 => {
                open.push(index);
                bytes += length;
            }
            _ => {
                groups.push(vec![index]);
                bytes = *length;
            }
        }
    }
    groups
}

fn within(group: &[usize]) -> Vec<(usize, usize)> {
    group.iter().enumerate().flat_map(|(at, one)| group[at + 1..].iter().map(|other| (*one, *other))).collect()
}

fn across(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    one.iter().flat_map(|left| other.iter().map(|right| (*left, *right))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Answer, QuestionId};
    use proptest::prelude::*;

    fn packet(lengths: &[usize]) -> Packet {
        let text = |(index, length): (usize, &usize)| format!("{index:04}{}", "x".repeat(*length));
        let answers = lengths.iter().enumerate().map(text).map(|text| Answer::parse(&text, 100_000).unwrap());
        Packet::build(&[1; 32], &QuestionId("q".into()), "what?", &answers.collect()).unwrap()
    }

    #[test]
    fn a_packet_within_the_limits_is_one_part() {
        let parts = split(&packet(&[500; 12]));
        assert_eq!(parts.len(), 1);
        assert_eq!((parts[0].answers.len(), parts[0].pairs.len()), (12, 66));
    }

    #[test]
    fn thirteen_answers_make_three_groups_and_three_parts() {
        let parts = split(&packet(&[1; 13]));
        let sizes: Vec<(usize, usize)> = parts.iter().map(|part| (part.answers.len(), part.pairs.len())).collect();
        assert_eq!(sizes, [(12, 36 + 15), (7, 6), (7, 6 + 15)]);
    }

    #[test]
    fn two_answers_longer_than_a_part_are_still_judged() {
        let parts = split(&packet(&[20_000, 20_000]));
        assert_eq!(parts, [Part { answers: vec![0, 1], pairs: vec![(0, 1)] }]);
    }

    proptest! {
        #[test]
        fn parts_ask_for_every_pair_exactly_once(lengths in proptest::collection::vec(0_usize..9000, 2..40)) {
            let packet = packet(&lengths);
            let parts = split(&packet);
            let longest = packet.answers().iter().map(|answer| answer.as_str().len()).max().unwrap_or(0);
            prop_assert!(parts.len() as u64 <= most(packet.answers().len() as u64, longest as u64));
            let mut asked: Vec<_> = parts.iter().flat_map(|part| part.pairs.clone()).collect();
            asked.sort_unstable();
            prop_assert_eq!(asked, packet.pairs());
            for part in &parts {
                prop_assert!(part.answers.windows(2).all(|two| two[0] < two[1]));
                prop_assert!(part.answers.len() <= MOST_ANSWERS);
                prop_assert!(part.pairs.iter().all(|(one, other)| part.answers.contains(one) && part.answers.contains(other)));
                let bytes: usize = part.answers.iter().map(|index| packet.answers()[*index].as_str().len()).sum();
                prop_assert!(bytes <= MOST_BYTES || part.answers.len() == 2 || part.answers.len() <= MOST_ANSWERS / 2 + 1);
            }
        }
    }
}
