//! Carries out what the engine decides, and lets people and programs ask for things over HTTP.

pub mod api;
pub mod client;
mod home;
mod random;
mod socket;

pub use home::{Home, HomeError};
