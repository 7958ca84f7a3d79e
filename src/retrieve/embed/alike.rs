//! How alike two vectors are.

/// The cosine of the angle between two vectors of one length; 0 where it has none.
pub(super) fn cosine(one: &[f64], other: &[f64]) -> f64 {
    let dot: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
    let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let product = norm(one) * norm(other);
    if one.len() == other.len() && product.is_finite() && product > 0.0 { dot / product } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn cosines_are_of_vectors_of_one_length_alone() {
        assert!((cosine(&[1.0, 1.0], &[2.0, 2.0]) - 1.0).abs() < 1e-12);
        assert!(cosine(&[1.0, 0.0], &[0.0, 3.0]).abs() < 1e-12);
        for (one, other) in
            [(&[1.0][..], &[1.0, 1.0][..]), (&[], &[]), (&[0.0], &[1.0]), (&[f64::MAX, f64::MAX], &[1.0, 1.0])]
        {
            assert!(cosine(one, other).abs() < 1e-12, "{one:?} {other:?}");
        }
    }
}
