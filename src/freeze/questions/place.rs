//! Bytes to places that a person can find: line and column, from 1, the column in characters.

/// Finds the places of offsets into one text. Quick for offsets that grow, as those of a reader do.
#[derive(Clone, Debug)]
pub(super) struct Places<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Places<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    /// `line 3, column 7`; an offset beyond the text is its end.
    pub(super) fn place(&mut self, offset: usize) -> String {
        let (line, column) = self.numbers(offset);
        format!("line {line}, column {column}")
    }

    /// Line and column of an offset.
    pub(super) fn numbers(&mut self, offset: usize) -> (usize, usize) {
        if offset < self.at {
            *self = Self::of(self.text);
        }
        for byte in self.text.as_bytes().get(self.at..offset.min(self.text.len())).unwrap_or_default() {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 1),
                // Only the first byte of a character counts.
                byte => self.column += usize::from(byte & 0xc0 != 0x80),
            }
        }
        self.at = self.at.max(offset.min(self.text.len()));
        (self.line, self.column)
    }
}
