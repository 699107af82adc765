//! The keyed tag of a credential: SipHash-2-4 with 128 bits of output.
//!
//! A credential is looked up by its tag under a key that is drawn anew at every boot, so that nobody can prepare
//! credentials that collide. The hardware runs one round a clock over the same state.

/// What is mixed into the key at the start; `V1` holds the mark of the 128-bit form.
const V: [u64; 4] = [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f83, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

/// A tag in the making, byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagState {
    v: [u64; 4],
    /// Bytes that wait for their word to be full, first one lowest.
    tail: u64,
    /// Bytes so far; only the low 8 bits count.
    length: u8,
}

impl TagState {
    /// The state before the first byte.
    pub const fn new(key: &[u8; 16]) -> Self {
        let key = u128::from_le_bytes(*key);
        let (k0, k1) = (key as u64, (key >> 64) as u64);
        TagState { v: [V[0] ^ k0, V[1] ^ k1, V[2] ^ k0, V[3] ^ k1], tail: 0, length: 0 }
    }

    /// Takes one byte.
    pub fn push(&mut self, byte: u8) {
        self.tail |= u64::from(byte) << (8 * (self.length % 8));
        self.length = self.length.wrapping_add(1);
        if self.length.is_multiple_of(8) {
            self.compress(self.tail);
            self.tail = 0;
        }
    }

    /// Takes bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        let aligned = usize::from(self.length.wrapping_neg() % 8).min(bytes.len());
        let (head, rest) = bytes.split_at(aligned);
        head.iter().for_each(|&byte| self.push(byte));
        let (words, tail) = rest.as_chunks::<8>();
        for word in words {
            self.compress(u64::from_le_bytes(*word));
            self.length = self.length.wrapping_add(8);
        }
        tail.iter().for_each(|&byte| self.push(byte));
    }

    /// The tag of the bytes so far.
    pub fn finish(mut self) -> [u8; 16] {
        self.compress(self.tail | u64::from(self.length) << 56);
        self.v[2] ^= 0xee;
        let h1 = self.squeeze();
        self.v[1] ^= 0xdd;
        let h2 = self.squeeze();
        (u128::from(h1) | u128::from(h2) << 64).to_le_bytes()
    }

    fn compress(&mut self, word: u64) {
        self.v[3] ^= word;
        self.rounds(2);
        self.v[0] ^= word;
    }

    fn squeeze(&mut self) -> u64 {
        self.rounds(4);
        self.v.iter().fold(0, |acc, v| acc ^ v)
    }

    fn rounds(&mut self, n: u32) {
        let v = &mut self.v;
        for _ in 0..n {
            v[0] = v[0].wrapping_add(v[1]);
            v[2] = v[2].wrapping_add(v[3]);
            v[1] = v[1].rotate_left(13) ^ v[0];
            v[3] = v[3].rotate_left(16) ^ v[2];
            v[0] = v[0].rotate_left(32);
            v[2] = v[2].wrapping_add(v[1]);
            v[0] = v[0].wrapping_add(v[3]);
            v[1] = v[1].rotate_left(17) ^ v[2];
            v[3] = v[3].rotate_left(21) ^ v[0];
            v[2] = v[2].rotate_left(32);
        }
    }
}

/// The tag of a whole message.
pub fn keyed_tag(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let mut state = TagState::new(key);
    state.extend(message);
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use siphasher::sip128::SipHasher24;

    fn reference(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
        u128::from(SipHasher24::new_with_key(key).hash(message)).to_le_bytes()
    }

    #[test]
    fn first_published_vector() {
        let key = std::array::from_fn(|i| i as u8);
        let expected = 0x930255c71472f66de6a825ba047f81a3_u128.to_le_bytes();
        assert_eq!(keyed_tag(&key, b""), expected);
    }

    #[test]
    fn every_length_equals_the_reference() {
        let key = std::array::from_fn(|i| (i * 31 + 7) as u8);
        let message: Vec<u8> = (0..600_u32).map(|i| (i * i + 3) as u8).collect();
        for length in 0..message.len() {
            assert_eq!(keyed_tag(&key, &message[..length]), reference(&key, &message[..length]), "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn random_messages_equal_the_reference(key: [u8; 16], message: Vec<u8>) {
            prop_assert_eq!(keyed_tag(&key, &message), reference(&key, &message));
        }

        #[test]
        fn any_pieces_give_the_same(key: [u8; 16], pieces: Vec<Vec<u8>>) {
            let mut whole = TagState::new(&key);
            let mut bytes = TagState::new(&key);
            for piece in &pieces {
                whole.extend(piece);
                piece.iter().for_each(|&byte| bytes.push(byte));
            }
            prop_assert_eq!(whole, bytes);
        }
    }
}
