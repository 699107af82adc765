//! Stop sequences that an engine lets through, whole or in pieces.

/// Cuts a text that comes in pieces at the stop sequence that is complete first. What may be the beginning of one is
/// held back.
#[derive(Clone, Debug, Default)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
    hit: Option<usize>,
}

impl StopFilter {
    /// A filter for these sequences; empty ones do not count.
    pub fn new(stops: &[String]) -> Self {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        StopFilter { stops, held: String::new(), hit: None }
    }

    /// Takes the next piece and gives what is sure to be in front of any stop sequence.
    pub fn push(&mut self, text: &str) -> String {
        if self.hit.is_some() {
            return String::new();
        }
        if self.stops.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        // the one that is complete first counts, so that it does not matter how the text is cut
        let found = self.stops.iter().enumerate().filter_map(|(i, stop)| {
            let at = self.held.find(stop.as_str())?;
            Some((at + stop.len(), at, i))
        });
        if let Some((_, at, stop)) = found.min() {
            self.hit = Some(stop);
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// The text is over: what was held back belongs to it.
    pub fn flush(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The stop sequence that ended the text.
    pub fn hit(&self) -> Option<&str> {
        self.stops.get(self.hit?).map(String::as_str)
    }
}

/// Bytes at the end of `text` that `stop` starts with.
fn overlap(text: &str, stop: &str) -> usize {
    let (text, stop) = (text.as_bytes(), stop.as_bytes());
    let most = text.len().min(stop.len() - 1);
    (1..=most).rev().find(|&n| text.ends_with(stop.get(..n).unwrap_or_default())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_split_sequence_is_cut_out() {
        let mut filter = StopFilter::new(&["</s>".to_owned(), "\n\nHuman:".to_owned()]);
        let mut out = String::new();
        for piece in ["a < b </", "x <", "/", "s", "> rest", "more"] {
            out += &filter.push(piece);
        }
        assert_eq!((out.as_str(), filter.hit()), ("a < b </x ", Some("</s>")));
        assert_eq!(filter.flush(), "");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            text in "[ab\u{e9}\u{5317}]{0,40}",
            stops in prop::collection::vec("[ab\u{e9}]{1,4}", 0..4),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let ends = stops.iter().filter_map(|stop| text.find(stop.as_str()).map(|at| (at + stop.len(), at)));
            let at = ends.min().map(|(_, at)| at);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.retain(|&cut| text.is_char_boundary(cut));
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut filter = StopFilter::new(&stops);
            let mut out: String = cuts.windows(2).map(|pair| filter.push(&text[pair[0]..pair[1]])).collect();
            prop_assert_eq!(filter.hit().is_some(), at.is_some());
            out += &filter.flush();
            prop_assert_eq!(out.as_str(), &text[..at.unwrap_or(text.len())]);
        }
    }
}
