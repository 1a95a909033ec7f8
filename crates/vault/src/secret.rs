//! A value that nobody is to see.

use zeroize::Zeroizing;

/// The longest value: the system takes no longer variable than 128 KiB, and the masker's tables grow with it.
pub const VALUE_BYTES_MAX: usize = 32 << 10;

/// A value that nobody is to see. It is wiped from memory when it is dropped.
///
/// It cannot be printed, written out or copied by accident:
///
/// ```compile_fail,E0277
/// let secret = ostler_vault::Secret::new("hush".to_owned());
/// println!("{secret:?}");
/// ```
/// ```compile_fail,E0277
/// let secret = ostler_vault::Secret::new("hush".to_owned());
/// println!("{secret}");
/// ```
/// ```compile_fail,E0277
/// fn write<T: serde::Serialize>(value: &T) {}
/// write(&ostler_vault::Secret::new("hush".to_owned()));
/// ```
/// ```compile_fail,E0599
/// let secret = ostler_vault::Secret::new("hush".to_owned());
/// let copy = secret.clone();
/// ```
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a value. What the caller has made it from is the caller's to wipe.
    pub fn new(value: String) -> Secret {
        Secret(Zeroizing::new(value))
    }

    /// The value itself, for the moment in which it is needed.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
