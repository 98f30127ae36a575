//! Lists of text as one buffer: the columns of `facts.rs`, and a set of values in their order.
//!
//! Adding is amortized constant time per octet. This module does not know what the text means.

use std::collections::HashMap;

/// A list of texts for each row. A text is UTF-8.
#[derive(Clone, Debug, Default)]
pub struct TextLists {
    /// Where the list of each row ends, in texts.
    pub row_ends: Vec<usize>,
    /// Where each text ends.
    pub text_ends: Vec<usize>,
    /// The texts, one after another.
    pub text: Vec<u8>,
}

impl TextLists {
    /// Adds a text to the open row; an octet that is not UTF-8 becomes `\xNN`.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        if value.is_ascii() {
            self.text.extend_from_slice(value);
        } else {
            push_text(&mut self.text, value);
        }
        self.text_ends.push(self.text.len());
    }

    /// Adds a text, unless `seen` has it.
    pub fn push_distinct<'a>(&mut self, value: &'a [u8], seen: &mut Distinct<'a>) {
        if seen.add(value).1 {
            self.push(value);
        }
    }

    /// Ends the open row.
    pub fn end_row(&mut self) {
        self.row_ends.push(self.text_ends.len());
    }

    /// Removes the texts of the open row.
    pub fn clear_row(&mut self) {
        self.text_ends.truncate(self.row_ends.last().copied().unwrap_or(0));
        self.text.truncate(self.text_ends.last().copied().unwrap_or(0));
    }

    /// Adds the rows of `other`.
    pub fn append(&mut self, other: TextLists) {
        let (texts, octets) = (self.text_ends.len(), self.text.len());
        self.row_ends.extend(other.row_ends.iter().map(|end| texts + end));
        self.text_ends.extend(other.text_ends.iter().map(|end| octets + end));
        self.text.extend_from_slice(&other.text);
    }

    /// The texts of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let start = |ends: &[usize], at: usize| at.checked_sub(1).map_or(0, |last| ends[last]);
        let texts = start(&self.row_ends, row)..self.row_ends[row];
        texts.map(move |at| &self.text[start(&self.text_ends, at)..self.text_ends[at]])
    }
}

/// Adds octets as text; an octet that is not UTF-8 becomes `\xNN`.
fn push_text(out: &mut Vec<u8>, value: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for chunk in value.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        for octet in chunk.invalid() {
            let (high, low) = (usize::from(octet >> 4), usize::from(octet & 15));
            out.extend_from_slice(&[b'\\', b'x', DIGITS[high], DIGITS[low]]);
        }
    }
}

/// Up to this many values are compared one by one.
const FEW_VALUES: usize = 32;

/// Distinct values in the order in which they were added.
#[derive(Debug, Default)]
pub struct Distinct<'a> {
    values: Vec<&'a [u8]>,
    // The positions of the values, if there are many.
    positions: HashMap<&'a [u8], usize>,
}

impl<'a> Distinct<'a> {
    /// Adds a value, unless it is there. Returns its position, and whether it is new.
    pub fn add(&mut self, value: &'a [u8]) -> (usize, bool) {
        let known = match self.values.len() <= FEW_VALUES {
            true => self.values.iter().position(|&known| known == value),
            false => self.positions.get(value).copied(),
        };
        if let Some(at) = known {
            return (at, false);
        }
        let at = self.values.len();
        self.values.push(value);
        if at == FEW_VALUES {
            self.positions =
                self.values.iter().enumerate().map(|(at, &value)| (value, at)).collect();
        } else if at > FEW_VALUES {
            self.positions.insert(value, at);
        }
        (at, true)
    }
}
