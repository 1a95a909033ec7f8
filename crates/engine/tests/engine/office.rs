//! The office: agents that call each other, played on a stage where every process answers at once.

mod back;
mod calls;
mod endings;
mod graphs;
mod idle;
mod repeats;
mod results;
mod stage;
