//! Keeps the channel monitors in step with the channel manager.
//!
//! LDK writes a monitor's update at once and the manager a moment later; a process that is killed in between finds a
//! manager that is older than its monitors, and closes the channel by force. So an update waits in memory until the
//! manager's next write, and both are committed together. That is safe as long as nothing that rests on the update
//! leaves the process: before a message to a peer, a broadcast, or an event that is handed on, what waits is
//! committed, together with the manager if that comes within a moment, alone if not.
//!
//! A message is noticed by LDK's own log line, which is written before the message is. Nothing waits in a process
//! that has not yet seen such a line. The versions of LDK are pinned; look at this file again before changing them.
use crate::store::Store;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The background processor writes the manager within milliseconds, unless it waits for something itself.
const MANAGER_COMES: Duration = Duration::from_millis(100);
/// What the background processor waits after it wrote the manager or an event. It gives messages to peers before it writes the
/// manager again; a thread that is handling messages in that time comes to give them itself, and waits for the manager.
const OTHERS_COME: Duration = Duration::from_millis(3);
/// While a channel closes on chain nothing waits.
const CLOSING: Duration = Duration::from_secs(2);

pub struct Write { pub primary: String, pub secondary: String, pub key: String, pub value: Option<Vec<u8>> }

#[derive(Default)]
struct Held {
    /// Waits for the manager.
    waiting: Vec<Write>,
    /// Waits for the disk alone.
    released: Vec<Write>,
    /// How often something was released, and up to which of these all is on disk.
    releases: u64,
    committed: u64,
    /// The task that writes the manager, which must not wait for itself.
    keeper: Option<tokio::task::Id>,
    messages_are_seen: bool,
    closing_until: Option<Instant>,
}

impl Held {
    fn is_own(&self) -> bool { self.keeper.is_some() && self.keeper == tokio::task::try_id() }

    /// The release after which all that is there now is on disk.
    fn all(&self) -> u64 { if self.waiting.is_empty() { self.releases } else { self.releases + 1 } }

    /// From here on, what comes later waits for the next manager.
    fn release(&mut self) -> u64 {
        self.released.append(&mut self.waiting);
        self.releases += 1;
        self.releases
    }
}

#[derive(Default)]
pub struct Step { held: Mutex<Held>, committing: Mutex<()>, committed: Condvar, manager_comes: Option<Duration> }

#[derive(Clone, Copy, PartialEq)]
enum Part { Manager, Monitor, Update, Events, Other }

fn part(primary: &str, key: &str) -> Part {
    match (primary, key) {
        ("", "manager") => Part::Manager,
        ("", "events") => Part::Events,
        ("monitors", _) => Part::Monitor,
        ("monitor_updates", _) => Part::Update,
        _ => Part::Other,
    }
}

/// What is to be awaited after a write.
pub async fn after_write(primary: String, key: String) {
    if matches!(part(&primary, &key), Part::Manager | Part::Events) { tokio::time::sleep(OTHERS_COME).await }
}

impl Step {
    fn held(&self) -> MutexGuard<'_, Held> { self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) }

    /// Writes, or lets the write wait for the manager.
    pub fn write(&self, store: &Store, write: Write) -> rusqlite::Result<()> {
        let part = part(&write.primary, &write.key);
        if part == Part::Other { return store.commit(&[write]) }
        // LDK broadcasts a channel's funding as soon as its first monitor is written.
        let new = part == Part::Monitor && store.value(&write.primary, &write.secondary, &write.key)?.is_none();
        let release = {
            let mut held = self.held();
            // LDK's event and what it tells of belong together. What the helper itself writes has been handed on.
            let may_wait = match part {
                Part::Update => true,
                Part::Monitor => !new,
                Part::Events => held.is_own(),
                Part::Manager | Part::Other => false,
            };
            let closing = held.closing_until.is_some_and(|until| Instant::now() < until);
            held.waiting.push(write);
            if may_wait && held.messages_are_seen && !closing { return Ok(()) }
            if part == Part::Manager { held.keeper = tokio::task::try_id() }
            held.release()
        };
        self.commit(store, release);
        Ok(())
    }

    /// Returns when the release is on disk. A state that cannot be written ends the process.
    fn commit(&self, store: &Store, release: u64) {
        let _one = self.committing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (writes, releases) = {
            let mut held = self.held();
            if held.committed >= release { return }
            if held.releases < release { held.release(); }
            (std::mem::take(&mut held.released), held.releases)
        };
        store.commit(&writes).unwrap_or_else(|error| crate::log::end(format_args!("Nothing may be told that is not written: {error}")));
        self.held().committed = releases;
        self.committed.notify_all();
    }

    /// Commits what waits before it is read or removed.
    pub fn before_reading(&self, store: &Store, primary: &str, key: &str) {
        if part(primary, key) == Part::Other { return }
        let all = self.held().all();
        self.commit(store, all);
    }

    /// Returns when all that was there at the call is on disk, together with the manager if that comes in time.
    pub fn settle(&self, store: &Store) {
        let (all, own) = {
            let held = self.held();
            if held.committed >= held.all() { return }
            (held.all(), held.is_own())
        };
        if !own {
            // Lets the runtime give this thread's other work to another one.
            tokio::task::block_in_place(|| {
                drop(self.committed.wait_timeout_while(self.held(), self.manager_comes.unwrap_or(MANAGER_COMES), |held| held.committed < all));
            });
        }
        self.commit(store, all);
    }

    /// A message is about to be given to a peer.
    pub fn before_message(&self, store: &Store, rests_on_nothing: bool) {
        self.held().messages_are_seen = true;
        if !rests_on_nothing { self.settle(store) }
    }

    /// A transaction is about to be broadcast. When a channel closes by it, nothing waits for a while: LDK broadcasts
    /// before it writes the monitor.
    pub fn before_broadcast(&self, store: &Store, closes: bool) {
        let mut held = self.held();
        if closes { held.closing_until = Some(Instant::now() + CLOSING) }
        let all = held.all();
        drop(held);
        self.commit(store, all);
    }
}

#[cfg(test)]
mod tests {
    use crate::store::tests::Folder;
    use crate::store::Store;
    use ldk_node::lightning::util::persist::KVStoreSync;

    fn write(store: &Store, primary: &str, key: &str) { KVStoreSync::write(store, primary, "", key, vec![1]).unwrap() }

    /// What is found after a crash.
    fn after_a_crash(folder: &Folder, store: Store, primary: &str, key: &str) -> bool {
        drop(store);
        KVStoreSync::read(&folder.open(None).unwrap(), primary, "", key).is_ok()
    }

    #[test]
    fn nothing_waits_before_a_message_was_seen() {
        let folder = Folder::new("unseen");
        let store = folder.open(None).unwrap();
        write(&store, "monitor_updates", "1");
        assert!(after_a_crash(&folder, store, "monitor_updates", "1"));
    }

    #[test]
    fn an_update_is_written_with_the_manager() {
        for with_manager in [false, true] {
            let folder = Folder::new("with");
            let store = folder.open(None).unwrap();
            store.step.before_message(&store, true);
            write(&store, "monitor_updates", "1");
            if with_manager { write(&store, "", "manager") }
            assert_eq!(after_a_crash(&folder, store, "monitor_updates", "1"), with_manager);
        }
    }

    #[test]
    fn a_whole_monitor_waits_as_its_updates_do() {
        let folder = Folder::new("whole");
        let store = folder.open(None).unwrap();
        store.step.before_message(&store, true);
        write(&store, "monitors", "m");
        write(&store, "monitor_updates", "99");
        write(&store, "", "manager");
        KVStoreSync::write(&store, "monitors", "", "m", vec![2]).unwrap();
        KVStoreSync::remove(&store, "monitor_updates", "", "99", true).unwrap();
        drop(store);
        let store = folder.open(None).unwrap();
        assert_eq!(KVStoreSync::read(&store, "monitors", "", "m").unwrap(), [1]);
        assert_eq!(KVStoreSync::list(&store, "monitor_updates", "").unwrap(), ["99"]);
        store.step.before_message(&store, true);
        KVStoreSync::write(&store, "monitors", "", "m", vec![2]).unwrap();
        KVStoreSync::remove(&store, "monitor_updates", "", "99", true).unwrap();
        write(&store, "", "manager");
        assert!(!after_a_crash(&folder, store, "monitor_updates", "99"));
        assert_eq!(KVStoreSync::read(&folder.open(None).unwrap(), "monitors", "", "m").unwrap(), [2]);
    }

    #[test]
    fn an_update_is_written_before_what_rests_on_it() {
        let cases: [(&str, fn(&Store)); 5] = [
            ("message", |store| store.step.before_message(store, false)),
            ("broadcast", |store| store.step.before_broadcast(store, false)),
            ("read", |store| assert_eq!(KVStoreSync::list(store, "monitor_updates", "").unwrap(), ["1"])),
            ("event that was handled", |store| write(store, "", "events")),
            ("new monitor", |store| write(store, "monitors", "m")),
        ];
        for (name, comes) in cases {
            let folder = Folder::new("before");
            let store = folder.open(None).unwrap();
            store.step.before_message(&store, true);
            write(&store, "monitor_updates", "1");
            comes(&store);
            assert!(after_a_crash(&folder, store, "monitor_updates", "1"), "{name}");
        }
    }

    #[test]
    fn nothing_waits_while_a_channel_closes() {
        let folder = Folder::new("closing");
        let store = folder.open(None).unwrap();
        store.step.before_message(&store, true);
        store.step.before_broadcast(&store, true);
        write(&store, "monitor_updates", "1");
        assert!(after_a_crash(&folder, store, "monitor_updates", "1"));
    }

    #[test]
    fn a_message_waits_for_the_manager_and_no_longer() {
        let folder = Folder::new("wait");
        let mut store = folder.open(None).unwrap();
        // A busy machine may come late.
        let patience = std::time::Duration::from_secs(60);
        store.step.manager_comes = Some(patience);
        let store = std::sync::Arc::new(store);
        store.step.before_message(&store, true);
        write(&store, "monitor_updates", "1");
        let manager = store.clone();
        let started = std::time::Instant::now();
        let other = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            write(&manager, "", "manager");
        });
        store.step.settle(&store);
        assert!(started.elapsed() < patience && store.manager_written());
        other.join().unwrap();
    }
}
