//! What the tables give: command lines, replies and mistakes, as a reader of a table would expect them.

mod launches;
mod mistakes;
mod pages;
