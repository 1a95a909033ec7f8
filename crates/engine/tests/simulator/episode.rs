//! One episode: a storm, and the calm after it in which everything must come to an end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ostler_engine::{Input, SessionId};

use crate::{
    checks,
    common::random::Random,
    driver::{Around, Disk, Replies, Server},
    graphs,
    outside::Outside,
    person::{self, Person},
    sites::Sites,
};

/// So many steps of calm, and whatever is not over by then hangs.
const CALM_STEPS_MAX: u32 = 20_000;

/// A server, a person, and everything around them.
pub(crate) struct Episode {
    random: Random,
    disk: Disk,
    outside: Outside,
    sites: Sites,
    server: Option<Server>,
    person: Person,
    now_ms: u64,
    crash_once_in: Option<u64>,
    /// Whether it is about a run through phases.
    has_phases: bool,
    /// Whether a graph is among the runs.
    has_graph: bool,
}

impl Episode {
    /// Plays an episode and says where the server died.
    pub(crate) fn play(seed: u64) -> Sites {
        let mut random = Random::new(seed);
        let crash_once_in = Some([12, 40, 100, 400][usize::try_from(random.below(4)).expect("small")]);
        let mut episode = Episode {
            random,
            disk: Disk::default(),
            outside: Outside::default(),
            sites: Sites::all(),
            server: None,
            person: Person::default(),
            now_ms: 1_000_000_000,
            crash_once_in,
            has_phases: seed % 4 == 3,
            has_graph: seed % 4 == 1,
        };
        let played = catch_unwind(AssertUnwindSafe(|| {
            episode.storm();
            episode.calm();
            checks::at_the_end(&episode.disk, &episode.outside);
            graphs::hold(&episode.disk.journal);
            graphs::agree(&episode.disk.book.world, &episode.outside.state_file);
        }));
        if let Err(cause) = played {
            episode.tell();
            resume_unwind(cause);
        }
        episode.sites
    }

    /// The end of the journal, for whoever looks for the cause.
    fn tell(&self) {
        let journal = &self.disk.journal;
        for entry in &journal[journal.len().saturating_sub(80)..] {
            let id = entry.session.map_or_else(String::new, |id| id.to_string());
            let mut event = serde_json::to_value(&entry.event).expect("it can be written");
            if let Some(fields) = event.as_object_mut() {
                fields.remove("order");
                if let Some(item) = fields.get_mut("item") {
                    *item = item["kind"].take();
                }
            }
            println!("{} {} {id} {event}", entry.seq, entry.at_ms);
        }
        println!("open: {:?}", self.disk.outbox);
    }

    fn storm(&mut self) {
        // The sessions of a run through phases are numbered as they come: it is alone.
        let runs = if self.has_phases { 0 } else { 1 + self.random.below(3) };
        if self.has_phases {
            let (input, script) = person::phased(&mut self.random);
            self.outside.scripts.insert(SessionId(1), script);
            self.ask_for(input);
        }
        for number in 1..=runs {
            let (input, script) = person::order(&mut self.random, &format!("run {number}"));
            self.outside.scripts.insert(SessionId(number), script);
            self.ask_for(input);
        }
        if self.has_graph {
            // It is asked for last: the sessions of its tasks are numbered as they come.
            let (input, file) = graphs::graph(&mut self.random);
            self.outside.state_file = file;
            self.ask_for(input);
        }
        for _ in 0..200 + self.random.below(600) {
            self.step();
            match self.random.below(40) {
                0..=2 => self.think(),
                3 if self.random.once_in(20) => self.reboot(),
                4 if self.random.once_in(10) => self.now_ms -= 30_000,
                5 => self.now_ms += self.random.below(400_000),
                6 if self.random.once_in(20) => self.now_ms += 26 * 3_600_000,
                _ => self.now_ms += self.random.below(2_000),
            }
        }
    }

    /// Nobody dies any more, and the person does what is needed.
    fn calm(&mut self) {
        self.crash_once_in = None;
        let mut quiet = 0;
        for step in 0..CALM_STEPS_MAX {
            let moved = self.step();
            self.now_ms += 50;
            quiet = if moved { 0 } else { quiet + 1 };
            let server = self.server.as_ref().expect("it does not die any more");
            let is_asked = server.world.inbox().next().is_some();
            let is_idle = self.disk.outbox.is_empty() && server.mail.is_empty() && !is_asked;
            if is_idle && server.world.sessions.values().all(ostler_engine::session::Session::is_over) {
                return;
            }
            if step % 40 == 0 {
                let wishes = self.person.settle(&server.world, &mut self.random);
                self.server.as_mut().expect("it does not die any more").mail.extend(wishes);
                self.end_the_endless();
            }
        }
        let world = &self.disk.book.world;
        let left = world.sessions.values().filter(|session| !session.is_over());
        let left: Vec<String> = left.map(|session| session.id.to_string()).collect();
        panic!("{} still there after {quiet} quiet steps; {:?}", left.join(", "), self.disk.outbox);
    }

    /// An agent that never ends by itself is ended, once it has nothing else to do.
    fn end_the_endless(&mut self) {
        let endless = self.outside.scripts.iter().filter(|(_, script)| script.is_endless());
        let endless: Vec<SessionId> = endless.map(|(&id, _)| id).collect();
        for id in endless {
            if self.random.once_in(50) {
                self.ask_for(Input::Cancel(id));
            }
        }
    }

    fn ask_for(&mut self, input: Input) {
        let wish = self.person.wish(input);
        if let Some(server) = &mut self.server {
            server.mail.push_back(wish);
        }
    }

    fn think(&mut self) {
        if let Some(server) = &mut self.server {
            let wish = self.person.think(&server.world, &mut self.random);
            server.mail.push_back(wish);
        }
    }

    fn reboot(&mut self) {
        self.outside.reboot();
        self.server = None;
    }

    /// One of the many moves somebody during an instant. Whether anything moved.
    fn step(&mut self) -> bool {
        let may_die = self.crash_once_in.is_some();
        let mut moved = self.outside.step(&mut self.random, may_die);
        let server = self.server.take();
        let mut around = Around {
            disk: &mut self.disk,
            outside: &mut self.outside,
            random: &mut self.random,
            sites: &mut self.sites,
            now_ms: self.now_ms,
            crash_once_in: self.crash_once_in,
        };
        let mut replies = Replies::new();
        let alive = match server {
            Some(mut server) => {
                let done = if around.random.once_in(2) {
                    server.commit(&mut around, &mut replies)
                } else {
                    server.carry_out(&mut around)
                };
                done.map(|done| {
                    moved |= done;
                    checks::settled(&server, &around);
                    server
                })
            }
            None => Server::start(&mut around).map(|mut server| {
                // Who has got no reply asks again, with the same key.
                server.mail.extend(self.person.waits_for.iter().cloned());
                server
            }),
        };
        self.server = alive.ok();
        self.person.waits_for.retain(|wish| !replies.iter().any(|(key, _)| *key == wish.key));
        checks::always(&self.disk, &self.outside);
        moved
    }
}
