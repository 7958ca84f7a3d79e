//! The error of TLS among the causes of another one.

use std::error::Error;
use std::io;

/// The first error of TLS among an error and its causes. An error of input hides what it was made of from `source`.
#[must_use]
pub fn error_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let hidden = || error.downcast_ref::<io::Error>()?.get_ref();
    let own = error.downcast_ref().or_else(|| error_of(hidden()?));
    own.or_else(|| error_of(error.source()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn it_is_found_however_deep_it_lies() {
        let made = || rustls::Error::General("x".into());
        let wrapped = io::Error::other(io::Error::other(made()));
        for error in [made().into(), Box::from(io::Error::other(made())), Box::from(Outer(wrapped))] {
            let error: Box<dyn Error> = error;
            assert_eq!(error_of(&*error), Some(&made()), "{error:?}");
        }
        assert_eq!(error_of(&Outer(io::ErrorKind::Other.into())), None);
    }
}
