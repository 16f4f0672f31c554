//! The one file that holds everything: ldk-node's keys and values, and the helper's own tables, in one SQLite database.
//! A write is on disk when the call returns, so that writes of a key take effect in the order of the calls.
use crate::naming::Naming;
use crate::protocol::{refused, say, unreachable, Answer};
use crate::step::{after_write, Step, Write};
use ldk_node::lightning::io;
use ldk_node::lightning::util::persist::{KVStore, KVStoreSync};
use rusqlite::{params, Connection, ErrorCode, OptionalExtension, Transaction};
use serde_json::json;
use std::collections::BTreeSet;
use std::future::Future;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

const SCHEMA: u32 = 4;
const TABLES: &str = "
CREATE TABLE kv (primary_ns TEXT NOT NULL, secondary_ns TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (primary_ns, secondary_ns, key)) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (key TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, direction TEXT NOT NULL, kind TEXT NOT NULL,
  hash TEXT NOT NULL, preimage TEXT, bolt11 TEXT, attempt INTEGER UNIQUE, state TEXT NOT NULL, reason TEXT,
  amount_msat INTEGER, fee_msat INTEGER, received_msat INTEGER, lsp_fee_msat INTEGER, message TEXT, offer_id TEXT,
  created_at INTEGER NOT NULL, ended_at INTEGER, expires_at INTEGER, secret TEXT, claim_deadline INTEGER,
  opens INTEGER NOT NULL, reference TEXT, cut INTEGER NOT NULL, ldk_id TEXT, description TEXT) WITHOUT ROWID;
CREATE INDEX rows_by_hash ON rows (hash, direction, attempt);
CREATE INDEX rows_by_state ON rows (state, direction);
CREATE INDEX rows_by_ldk_id ON rows (ldk_id) WHERE ldk_id IS NOT NULL;
CREATE INDEX rows_by_reference ON rows (reference) WHERE reference IS NOT NULL;
CREATE TABLE offers (ldk_id TEXT PRIMARY KEY, offer_id TEXT NOT NULL, description TEXT) WITHOUT ROWID;
CREATE TABLE channel_asks (user_id TEXT PRIMARY KEY, peer TEXT NOT NULL, value_sat INTEGER NOT NULL,
  opens INTEGER NOT NULL, ldk_id TEXT UNIQUE) WITHOUT ROWID;
CREATE TABLE channels (ldk_id TEXT PRIMARY KEY, funding TEXT, closed TEXT) WITHOUT ROWID;
CREATE INDEX channels_by_funding ON channels (funding);
CREATE TABLE own_txs (txid TEXT PRIMARY KEY, hex TEXT NOT NULL, first_seen INTEGER NOT NULL, height INTEGER,
  replaced_by TEXT) WITHOUT ROWID;
CREATE TABLE sweeps (txid TEXT PRIMARY KEY) WITHOUT ROWID;
";
pub struct Store {
    pub step: Step,
    pub naming: Naming,
    /// Channels that peers have with this node, and of which this state has nothing.
    pub unknown_channels: Mutex<BTreeSet<String>>,
    db: Mutex<Connection>,
    told: AtomicU64,
    manager_written: AtomicBool,
}

impl Store {
    /// Opens the file, and refuses one that is older than what the other side has seen, or that another process holds.
    pub fn open(dir: &Path, at_least: Option<(u64, u64)>) -> Answer<Store> {
        let path = dir.join("state.sqlite");
        if at_least.is_some() && !path.exists() {
            return Err(refused(format!("{} is missing, though this wallet was opened before. Never restore a copy: \
                \"wallet-sidecar ldk recover\" brings back what it held.", path.display())));
        }
        let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
            // The helper of a sidecar that was killed stops by itself.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => unreachable(format!("Another process still uses \
                {}, and is waited for. If this stays, stop it: perhaps another sidecar has this data directory.", path.display())),
            Some(ErrorCode::DiskFull) => unreachable(format!("The disk of {} is full: free some of it.", path.display())),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => refused(format!("{} is damaged: {error}. Keep it, \
                check the disk, and put no copy in its place, since an old one loses money.", path.display())),
            _ => refused(format!("{} cannot be opened: {error}", path.display())),
        };
        private(dir, &path).map_err(|error| refused(format!("{} cannot be made: {error}", path.display())))?;
        let mut db = Connection::open(&path).map_err(failed)?;
        if prepare(&mut db).map_err(failed)? != SCHEMA {
            return Err(refused(format!("{} was written by another version of this program.", path.display())));
        }
        let store = Store {
            step: Step::default(), naming: Naming::default(), unknown_channels: Mutex::default(),
            db: Mutex::new(db), told: AtomicU64::new(0), manager_written: AtomicBool::new(false),
        };
        let (opens, seq) = store.place()?;
        if let Some((least_opens, least_seq)) = at_least {
            if opens < least_opens || seq < least_seq {
                return Err(refused(format!("{} is older than what was seen of it: opened {opens} times with {seq} \
                    changes, but {least_opens} and {least_seq} were seen. It is a copy; using it would lose money.",
                    path.display())));
            }
        }
        store.told.store(seq, Ordering::SeqCst);
        Ok(store)
    }

    fn db(&self) -> MutexGuard<'_, Connection> { self.db.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) }

    /// Runs the reads, or the writes that take effect together. Tells the number of the last change when it rose.
    pub fn run<T>(&self, work: impl FnOnce(&Transaction) -> rusqlite::Result<T>) -> Answer<T> {
        let mut db = self.db();
        let transaction = db.transaction()?;
        let result = work(&transaction)?;
        let seq = number(&transaction, "seq")?;
        transaction.commit()?;
        if self.told.fetch_max(seq, Ordering::SeqCst) < seq { self.tell() }
        Ok(result)
    }

    /// Says that the rows or the list of transactions may have changed.
    pub fn tell(&self) { say(&json!({"changed": {}})) }

    /// How often the file was opened, and the number of its last change.
    pub fn place(&self) -> Answer<(u64, u64)> { self.run(|db| Ok((number(db, "opens")?, number(db, "seq")?))) }

    pub fn raise_opens(&self) -> Answer<u64> { self.run(|db| raise(db, "opens")) }

    /// Whether the channel manager was written since this process opened the file.
    pub fn manager_written(&self) -> bool { self.manager_written.load(Ordering::SeqCst) }

    /// Whether a stored value of the name space holds the bytes.
    pub fn names(&self, primary: &str, key: Option<&str>, bytes: &[u8]) -> Answer<bool> {
        self.run(|db| db.query_row(
            "SELECT EXISTS (SELECT 1 FROM kv WHERE primary_ns = ?1 AND (?2 IS NULL OR key = ?2) AND instr(value, ?3) > 0)",
            params![primary, key, bytes], |row| row.get(0)))
    }

    /// Writes all of it, or nothing.
    pub fn commit(&self, writes: &[Write]) -> rusqlite::Result<()> {
        let mut db = self.db();
        let transaction = db.transaction()?;
        for one in writes {
            match &one.value {
                Some(value) => transaction
                    .prepare_cached("INSERT OR REPLACE INTO kv (primary_ns, secondary_ns, key, value) VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![one.primary, one.secondary, one.key, value])?,
                None => transaction.prepare_cached("DELETE FROM kv WHERE primary_ns = ?1 AND secondary_ns = ?2 AND key = ?3")?
                    .execute([&one.primary, &one.secondary, &one.key])?,
            };
        }
        transaction.commit()?;
        if writes.iter().any(|one| one.primary.is_empty() && one.key == "manager") { self.manager_written.store(true, Ordering::SeqCst) }
        Ok(())
    }

    pub fn value(&self, primary: &str, secondary: &str, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        self.db().prepare_cached("SELECT value FROM kv WHERE primary_ns = ?1 AND secondary_ns = ?2 AND key = ?3")?
            .query_row([primary, secondary, key], |row| row.get(0)).optional()
    }
}

/// Nobody else may read preimages.
fn private(dir: &Path, file: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(file).map(|_| ())
}

/// Makes the tables of a new file, and gives the number of those that are there.
fn prepare(db: &mut Connection) -> rusqlite::Result<u32> {
    db.busy_timeout(Duration::from_secs(10))?;
    // The lock is held until this process ends: two nodes on one state lose money.
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut schema = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if schema == 0 {
        schema = SCHEMA;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", schema)?;
    }
    transaction.commit()?;
    Ok(schema)
}

pub fn meta(db: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT value FROM meta WHERE name = ?1")?.query_row([name], |row| row.get(0)).optional()
}

pub fn set_meta(db: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?.execute([name, value]).map(|_| ())
}

pub fn number(db: &Connection, name: &str) -> rusqlite::Result<u64> {
    Ok(meta(db, name)?.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Raises one of the counters by one, and gives the new number.
pub fn raise(db: &Connection, name: &str) -> rusqlite::Result<u64> {
    let next = number(db, name)? + 1;
    set_meta(db, name, &next.to_string())?;
    Ok(next)
}

fn told(error: rusqlite::Error) -> io::Error { io::Error::new(io::ErrorKind::Other, error.to_string()) }

impl KVStoreSync for Store {
    fn read(&self, primary: &str, secondary: &str, key: &str) -> Result<Vec<u8>, io::Error> {
        self.step.before_reading(self, primary, key);
        self.value(primary, secondary, key).map_err(told)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such key"))
    }
    fn write(&self, primary: &str, secondary: &str, key: &str, value: Vec<u8>) -> Result<(), io::Error> {
        if (primary, key) == ("", "manager") { self.naming.pass() }
        let write = Write { primary: primary.into(), secondary: secondary.into(), key: key.into(), value: Some(value) };
        self.step.write(self, write).map_err(told)
    }
    fn remove(&self, primary: &str, secondary: &str, key: &str, lazy: bool) -> Result<(), io::Error> {
        if !lazy { self.step.before_reading(self, primary, key) }
        let write = Write { primary: primary.into(), secondary: secondary.into(), key: key.into(), value: None };
        if lazy { self.step.write(self, write) } else { self.commit(&[write]) }.map_err(told)
    }
    fn list(&self, primary: &str, secondary: &str) -> Result<Vec<String>, io::Error> {
        self.step.before_reading(self, primary, "");
        let db = self.db();
        let mut statement = db.prepare_cached("SELECT key FROM kv WHERE primary_ns = ?1 AND secondary_ns = ?2").map_err(told)?;
        let keys = statement.query_map([primary, secondary], |row| row.get(0)).map_err(told)?;
        keys.collect::<Result<_, _>>().map_err(told)
    }
}

type Later<T> = Pin<Box<dyn Future<Output = Result<T, io::Error>> + Send>>;
/// The work is done when the call returns; the future only hands over what became of it.
impl KVStore for Store {
    fn read(&self, primary: &str, secondary: &str, key: &str) -> Later<Vec<u8>> {
        Box::pin(std::future::ready(KVStoreSync::read(self, primary, secondary, key)))
    }
    fn write(&self, primary: &str, secondary: &str, key: &str, value: Vec<u8>) -> Later<()> {
        let done = KVStoreSync::write(self, primary, secondary, key, value);
        let (primary, key) = (primary.to_string(), key.to_string());
        Box::pin(async move {
            after_write(primary, key).await;
            done
        })
    }
    fn remove(&self, primary: &str, secondary: &str, key: &str, lazy: bool) -> Later<()> {
        Box::pin(std::future::ready(KVStoreSync::remove(self, primary, secondary, key, lazy)))
    }
    fn list(&self, primary: &str, secondary: &str) -> Later<Vec<String>> {
        Box::pin(std::future::ready(KVStoreSync::list(self, primary, secondary)))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder of its own for each test, which is removed in the end.
    pub struct Folder(pub PathBuf);
    impl Folder {
        pub fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("ldk-helper-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Folder(path)
        }
        pub fn open(&self, at_least: Option<(u64, u64)>) -> Answer<Store> {
            Store::open(&self.0, at_least)
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) { let _ = std::fs::remove_dir_all(&self.0); }
    }

    #[test]
    fn keys_are_kept_as_ldk_expects() {
        let folder = Folder::new("keys");
        let store = folder.open(None).unwrap();
        assert_eq!(KVStoreSync::read(&store, "a", "", "k").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(KVStoreSync::list(&store, "a", "").unwrap().is_empty());
        KVStoreSync::remove(&store, "a", "", "k", false).unwrap();
        KVStoreSync::write(&store, "a", "", "k", vec![1]).unwrap();
        KVStoreSync::write(&store, "a", "", "k", vec![1, 2, 3]).unwrap();
        KVStoreSync::write(&store, "a", "b", "k", vec![9]).unwrap();
        assert_eq!(KVStoreSync::read(&store, "a", "", "k").unwrap(), vec![1, 2, 3]);
        assert_eq!(KVStoreSync::list(&store, "a", "").unwrap(), vec!["k"]);
        assert!(store.names("a", None, &[2, 3]).unwrap());
        assert!(!store.names("a", Some("other"), &[2, 3]).unwrap());
        KVStoreSync::remove(&store, "a", "", "k", true).unwrap();
        assert_eq!(KVStoreSync::read(&store, "a", "", "k").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_write_takes_effect_when_it_is_called_and_not_when_it_is_awaited() {
        let folder = Folder::new("order");
        let store = folder.open(None).unwrap();
        let first = KVStore::write(&store, "", "", "manager", vec![1]);
        assert!(store.manager_written());
        let second = KVStore::write(&store, "", "", "manager", vec![2]);
        drop((second, first));
        assert_eq!(KVStoreSync::read(&store, "", "", "manager").unwrap(), vec![2]);
    }

    #[test]
    fn a_state_that_is_older_than_what_was_seen_is_refused() {
        let folder = Folder::new("older");
        assert_eq!(folder.open(Some((1, 0))).err().unwrap().code, "refused");
        assert!(!folder.0.exists());
        let store = folder.open(None).unwrap();
        store.raise_opens().unwrap();
        store.run(|db| raise(db, "seq")).unwrap();
        drop(store);
        assert_eq!(folder.open(Some((2, 1))).err().unwrap().code, "refused");
        assert_eq!(folder.open(Some((1, 2))).err().unwrap().code, "refused");
        assert_eq!(folder.open(Some((1, 1))).unwrap().place().unwrap(), (1, 1));
    }

    #[test]
    fn a_damaged_state_is_refused_and_stays_as_it_is() {
        let folder = Folder::new("damaged");
        std::fs::create_dir_all(&folder.0).unwrap();
        std::fs::write(folder.0.join("state.sqlite"), "garbage".repeat(1000)).unwrap();
        let error = folder.open(None).err().unwrap();
        assert!(error.code == "refused" && error.message.contains("is damaged"), "{}", error.message);
        assert_eq!(std::fs::read(folder.0.join("state.sqlite")).unwrap(), "garbage".repeat(1000).as_bytes());
    }

    #[test]
    fn a_change_that_fails_leaves_nothing() {
        let folder = Folder::new("atomic");
        let store = folder.open(None).unwrap();
        let cut = store.run(|db| { raise(db, "seq")?; Err::<(), _>(rusqlite::Error::InvalidQuery) });
        assert_eq!(cut.unwrap_err().code, "unknown");
        assert_eq!(store.place().unwrap(), (0, 0));
    }
}
