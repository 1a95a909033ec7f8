//! Task files: text in, a graph of tasks with their lines out, and from that what can run now.
//!
//! [`Plan::read`] takes a whole file of any shape that people write. It copies nothing: tasks are numbers in the order
//! of the file, and what is known of them are spans of its text. [`Progress`] keeps what is settled, [`answer`] says it
//! in the thin dialect, and [`Plan::marked`] puts done marks into the text and touches nothing else. The grammar, and
//! what counts as an error, stand in `docs/design/plan.md`.

mod answer;
mod begin;
mod circle;
mod clause;
mod confirm;
mod declared;
mod diagram;
mod draft;
mod draw;
mod drawn;
mod files;
mod graph;
mod id;
mod id_range;
mod index;
mod join;
mod key;
mod line;
mod marked;
mod needs;
mod passed_over;
mod path;
mod phase;
mod problem;
mod progress;
mod prompt;
mod quotation;
mod reader;
mod said;
mod subject;
mod table;
mod task;
mod wanted;

pub use answer::{Obstacle, Request, answer, obstacle};
pub use files::overlap;
pub use graph::{Backwards, Before, Graph};
pub use passed_over::{PassedKind, PassedOver};
pub use path::critical_path;
pub use problem::{PROBLEMS_MAX, Problem, Unclear, Warning};
pub use progress::{Progress, State};
pub use task::{Criterion, Phase, Plan, Priority, Risk, Task, TaskNumber, timeout_s};

/// The largest file that is read.
pub const FILE_BYTES_MAX: usize = 128 << 20;

/// How many tasks a file may have: whoever goes through more of them looks at each after every one.
pub const TASKS_MAX: usize = 1_000_000;

/// How many edges the dependencies of a file may make; ranges could make more than fit into memory.
pub const EDGES_MAX: usize = 4 << 20;
