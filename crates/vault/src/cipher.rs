//! Seals and opens: XChaCha20-Poly1305 under the vault's key, a fresh random nonce for each seal.
//!
//! What is sealed is bound to what it is said to be: open it as anything else, and it does not open.

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use zeroize::Zeroizing;

use crate::hex;

/// How long the vault's key is.
pub(crate) const KEY_BYTES: usize = 32;

const NONCE_BYTES: usize = 24;

/// The key that everything in a vault is sealed with.
pub(crate) struct Cipher(XChaCha20Poly1305);

impl Cipher {
    pub(crate) fn new(key: &Zeroizing<[u8; KEY_BYTES]>) -> Cipher {
        Cipher(XChaCha20Poly1305::new((&**key).into()))
    }

    /// Seals a text as what it is, in hexadecimal digits.
    pub(crate) fn seal(&self, text: &[u8], what: &[u8]) -> String {
        let nonce = random::<NONCE_BYTES>();
        let payload = Payload { msg: text, aad: what };
        let sealed =
            self.0.encrypt(&XNonce::from(nonce), payload).expect("it fails only beyond 256 GiB of text");
        hex::digits(&nonce) + &hex::digits(&sealed)
    }

    /// Opens what was sealed as this, and with this key; nothing, if either is not so.
    pub(crate) fn open(&self, sealed: &str, what: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let sealed = hex::bytes(sealed)?;
        let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        self.0.decrypt(&XNonce::from(*nonce), Payload { msg: text, aad: what }).ok().map(Zeroizing::new)
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the kernel has randomness once it has booted");
    bytes
}
