//! How run-time types become their images on disk and back.

use crate::gate::Verdict;
use crate::model::{Answer, Confidence, Digest, Kernel, QuestionId, SnapshotName};

/// A run-time type with an image on disk. Both directions lose nothing.
pub(super) trait Imaged: Sized {
    /// What is written.
    type Image;

    /// To what is written.
    fn into_image(self) -> Self::Image;

    /// From what was read.
    fn from_image(image: Self::Image) -> Self;
}

/// Types that are written as they are: numbers, and types that are one string on disk.
macro_rules! written_as_it_is {
    ($($type:ty),*) => {$(
        impl Imaged for $type {
            type Image = Self;
            fn into_image(self) -> Self { self }
            fn from_image(image: Self) -> Self { image }
        }
    )*};
}

written_as_it_is!(bool, u32, u64, f64, String, Digest, Confidence, Kernel, Verdict, QuestionId, SnapshotName, Answer);

impl<T: Imaged> Imaged for Vec<T> {
    type Image = Vec<T::Image>;

    fn into_image(self) -> Self::Image {
        self.into_iter().map(T::into_image).collect()
    }

    fn from_image(image: Self::Image) -> Self {
        image.into_iter().map(T::from_image).collect()
    }
}

impl<T: Imaged> Imaged for Option<T> {
    type Image = Option<T::Image>;

    fn into_image(self) -> Self::Image {
        self.map(T::into_image)
    }

    fn from_image(image: Self::Image) -> Self {
        image.map(T::from_image)
    }
}

impl<A: Imaged, B: Imaged> Imaged for (A, B) {
    type Image = (A::Image, B::Image);

    fn into_image(self) -> Self::Image {
        (self.0.into_image(), self.1.into_image())
    }

    fn from_image(image: Self::Image) -> Self {
        (A::from_image(image.0), B::from_image(image.1))
    }
}

/// Declares the image of a struct, field by field in the order in which they are written. A field that is added to
/// the run-time type breaks the build until it has its place here.
macro_rules! image {
    ($(#[$doc:meta])* $image:ident of $runtime:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(super) struct $image {
            $($(#[$meta])* $field: <$type as $crate::report::json::image::Imaged>::Image),*
        }

        impl $crate::report::json::image::Imaged for $runtime {
            type Image = $image;

            fn into_image(self) -> $image {
                let $runtime { $($field),* } = self;
                $image { $($field: $crate::report::json::image::Imaged::into_image($field)),* }
            }

            fn from_image(image: $image) -> Self {
                let $image { $($field),* } = image;
                $runtime { $($field: $crate::report::json::image::Imaged::from_image($field)),* }
            }
        }
    };
}

pub(super) use image;
