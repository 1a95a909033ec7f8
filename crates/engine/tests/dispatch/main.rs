//! How a request is read and planned, and a corpus of labelled requests.

mod corpus;
mod plans;
mod reading;
