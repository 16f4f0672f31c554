//! Lightning payments and attempts. Each change takes the next number in its own transaction; no row is ever removed.
use crate::protocol::{msat, now_ms, unhex};
use crate::store::raise;
use rusqlite::{Connection, OptionalExtension, Row as Columns, ToSql};
use serde_json::{json, Value};

macro_rules! row {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Row { $($(#[$doc])* pub $name: $type,)* }
        const COLUMNS: &[&str] = &[$(stringify!($name)),*];
        fn row_of(columns: &Columns) -> rusqlite::Result<Row> { Ok(Row { $($name: columns.get(stringify!($name))?,)* }) }
        fn values(row: &Row) -> Vec<&dyn ToSql> { vec![$(&row.$name),*] }
    };
}

row! {
    seq: u64,
    key: String,
    direction: String,
    kind: String,
    hash: String,
    /// Known from the start for most invoices; shown only when the row is completed.
    preimage: Option<String>,
    bolt11: Option<String>,
    attempt: Option<u64>,
    state: String,
    reason: Option<String>,
    amount_msat: Option<u64>,
    fee_msat: Option<u64>,
    received_msat: Option<u64>,
    lsp_fee_msat: Option<u64>,
    message: Option<String>,
    offer_id: Option<String>,
    created_at: u64,
    ended_at: Option<u64>,
    expires_at: Option<u64>,
    /// The payment secret of an invoice.
    secret: Option<String>,
    /// The block height at which LDK gives back what is held.
    claim_deadline: Option<u64>,
    /// The run of the helper that made the row.
    opens: u64,
    /// What the other side calls the attempt.
    reference: Option<String>,
    /// A channel was closed while the attempt was under way, by which its money may be lost though the payee has got it.
    cut: bool,
    /// LDK's id of a payment of an offer; of every other it is the hash.
    ldk_id: Option<String>,
    /// That of the offer on which the payment arrived.
    description: Option<String>,
}

impl Row {
    pub fn is(&self, state: &str) -> bool { self.state == state }

    /// None for a payment of an offer whose invoice is not known.
    pub fn payment_hash(&self) -> Option<[u8; 32]> { unhex(&self.hash)?.try_into().ok() }

    /// Whether its money is here: `held` waits for the preimage of the other side, `claiming` is being taken.
    pub fn has_arrived(&self) -> bool { self.is("held") || self.is("claiming") }

    pub fn is_on_its_way(&self) -> bool { self.is("asked") || self.is("pending") }

    /// Ends an attempt of which LDK has nothing. One that LDK had taken before a crash may have been told of, so that its
    /// end is told too.
    pub fn end_unsent(&mut self) { self.end("failed", Some(if self.is("asked") { "never sent" } else { "not_sent" })) }

    /// Ends the row; a row that succeeds after all loses its reason.
    pub fn end(&mut self, state: &str, reason: Option<&str>) {
        self.state = state.into();
        self.reason = reason.map(Into::into);
        self.ended_at = Some(now_ms());
    }

    pub fn json(&self) -> Value {
        json!({"seq": self.seq, "key": self.key, "direction": self.direction, "kind": self.kind,
            "hash": Some(&self.hash).filter(|hash| !hash.is_empty()),
            "preimage": self.preimage.as_ref().filter(|_| self.is("completed")), "bolt11": self.bolt11,
            // For the other side an invoice is open until it is paid or held.
            "attempt": self.attempt, "state": if self.is("claiming") { "open" } else { &self.state }, "reason": self.reason,
            "amount_msat": msat(self.amount_msat), "fee_msat": msat(self.fee_msat),
            "received_msat": msat(self.received_msat), "lsp_fee_msat": msat(self.lsp_fee_msat),
            "message": self.message, "offer_id": self.offer_id, "description": self.description, "created_at": self.created_at,
            "ended_at": self.ended_at, "expires_at": self.expires_at, "ref": self.reference, "cut": self.cut})
    }
}

/// Writes a new or changed row under the next number, which it puts into the row.
pub fn put(db: &Connection, row: &mut Row) -> rusqlite::Result<()> {
    row.seq = raise(db, "seq")?;
    let marks = vec!["?"; COLUMNS.len()].join(",");
    let sql = format!("INSERT OR REPLACE INTO rows ({}) VALUES ({marks})", COLUMNS.join(","));
    db.prepare_cached(&sql)?.execute(values(row).as_slice()).map(|_| ())
}

fn one(db: &Connection, rest: &str, values: impl rusqlite::Params) -> rusqlite::Result<Option<Row>> {
    db.prepare_cached(&format!("SELECT * FROM rows {rest}"))?.query_row(values, row_of).optional()
}

fn many(db: &Connection, rest: &str, values: impl rusqlite::Params) -> rusqlite::Result<Vec<Row>> {
    let mut statement = db.prepare_cached(&format!("SELECT * FROM rows {rest}"))?;
    let rows = statement.query_map(values, row_of)?.collect();
    rows
}

pub fn by_key(db: &Connection, key: &str) -> rusqlite::Result<Option<Row>> { one(db, "WHERE key = ?1", [key]) }

pub fn incoming(db: &Connection, hash: &str) -> rusqlite::Result<Option<Row>> { by_key(db, &format!("in:{hash}")) }

pub fn newest(db: &Connection, hash: &str) -> rusqlite::Result<Option<Row>> {
    one(db, "WHERE hash = ?1 AND direction = 'out' ORDER BY attempt DESC LIMIT 1", [hash])
}

pub fn after(db: &Connection, seq: u64, limit: u64) -> rusqlite::Result<Vec<Row>> {
    many(db, "WHERE seq > ?1 ORDER BY seq LIMIT ?2", [seq, limit])
}

pub fn in_state(db: &Connection, direction: &str, state: &str) -> rusqlite::Result<Vec<Row>> {
    many(db, "WHERE direction = ?1 AND state = ?2 ORDER BY seq", [direction, state])
}

pub fn arrived(db: &Connection) -> rusqlite::Result<Vec<Row>> {
    many(db, "WHERE direction = 'in' AND state IN ('held', 'claiming') ORDER BY seq", [])
}

/// What was given back, and may have to be given back again after a crash.
pub fn given_back(db: &Connection, height: u64) -> rusqlite::Result<Vec<Row>> {
    many(db, "WHERE direction = 'in' AND state = 'failed' AND claim_deadline > ?1", [height])
}

/// What is under way for the hash, or at all, may have gone down with a channel. What an offer is paid by is told at its
/// end, and may have that hash.
pub fn cut(db: &Connection, hash: Option<&str>) -> rusqlite::Result<()> {
    db.execute("UPDATE rows SET cut = 1 WHERE direction = 'out' AND state IN ('asked', 'pending') \
        AND (?1 IS NULL OR hash IN (?1, ''))", [hash]).map(|_| ())
}

pub fn of_reference(db: &Connection, reference: &str) -> rusqlite::Result<Option<Row>> {
    one(db, "WHERE reference = ?1 ORDER BY attempt DESC LIMIT 1", [reference])
}

pub fn of_ldk(db: &Connection, id: &str) -> rusqlite::Result<Option<Row>> {
    Ok(match one(db, "WHERE ldk_id = ?1", [id])? { Some(row) => Some(row), None => newest(db, id)? })
}

/// A new attempt to pay, or the one that may still pay or has paid.
pub fn ask(db: &Connection, row: Row) -> rusqlite::Result<(Row, bool)> {
    match newest(db, &row.hash)? {
        Some(newest) if !newest.is("failed") => Ok((newest, true)),
        _ => begin(db, row),
    }
}

/// A new attempt to pay, or the one that was asked for under the same reference, whatever became of it.
pub fn ask_once(db: &Connection, row: Row) -> rusqlite::Result<(Row, bool)> {
    match of_reference(db, row.reference.as_deref().unwrap_or(""))? {
        Some(known) => Ok((known, true)),
        None => begin(db, row),
    }
}

fn begin(db: &Connection, mut row: Row) -> rusqlite::Result<(Row, bool)> {
    let attempt = raise(db, "attempt")?;
    row.key = format!("out:{attempt}");
    row.attempt = Some(attempt);
    row.direction = "out".into();
    row.state = "asked".into();
    put(db, &mut row)?;
    Ok((row, false))
}

/// Changes the row where it stands so now. Gives it as it is then, and whether it was changed.
pub fn change(
    db: &Connection, key: &str, when: impl FnOnce(&Row) -> bool, to: impl FnOnce(&mut Row),
) -> rusqlite::Result<Option<(Row, bool)>> {
    let Some(mut row) = by_key(db, key)? else { return Ok(None) };
    let changes = when(&row);
    if changes {
        to(&mut row);
        put(db, &mut row)?;
    }
    Ok(Some((row, changes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Folder;

    fn attempt(hash: &str) -> Row { Row { hash: hash.into(), kind: "bolt11".into(), ..Row::default() } }

    #[test]
    fn the_end_of_an_unsent_attempt_says_whether_ldk_had_taken_it() {
        for (state, reason) in [("asked", "never sent"), ("pending", "not_sent")] {
            let mut row = Row { state: state.into(), ..attempt("aa") };
            row.end_unsent();
            assert_eq!((row.is("failed"), row.reason.as_deref()), (true, Some(reason)));
        }
    }

    #[test]
    fn a_closed_channel_cuts_what_is_under_way_for_the_hash_or_has_none_yet() {
        let folder = Folder::new("cut");
        let store = folder.open(None).unwrap();
        for hash in ["aa", "bb", "", "dd"] { store.run(|db| begin(db, attempt(hash))).unwrap(); }
        store.run(|db| change(db, "out:4", |_| true, |row| row.end("completed", None))).unwrap();
        for (hash, expected) in [(Some("aa"), [true, false, true, false]), (None, [true, true, true, false])] {
            store.run(|db| cut(db, hash)).unwrap();
            let row = |number| store.run(|db| by_key(db, &format!("out:{number}"))).unwrap().unwrap();
            assert_eq!([1, 2, 3, 4].map(|number| row(number).cut), expected);
        }
    }

    #[test]
    fn what_is_being_taken_has_arrived_and_is_shown_as_open() {
        for (state, arrived, shown) in [("open", false, "open"), ("claiming", true, "open"), ("held", true, "held")] {
            let row = Row { state: state.into(), ..attempt("aa") };
            assert_eq!((row.has_arrived(), row.json()["state"].as_str()), (arrived, Some(shown)));
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let folder = Folder::new("row");
        let store = folder.open(None).unwrap();
        let mut row = Row {
            key: "in:aa".into(), direction: "in".into(), kind: "offer".into(), hash: "aa".into(),
            preimage: Some("bb".into()), bolt11: Some("ln".into()), attempt: Some(3), state: "held".into(),
            reason: Some("r".into()), amount_msat: Some(1), fee_msat: Some(2), received_msat: Some(3),
            lsp_fee_msat: Some(4), message: Some("m".into()), offer_id: Some("o".into()), created_at: 5,
            ended_at: Some(6), expires_at: Some(7), secret: Some("s".into()), claim_deadline: Some(8), opens: 9,
            reference: Some("f".into()), cut: true, ldk_id: Some("l".into()), description: Some("d".into()), seq: 0,
        };
        store.run(|db| put(db, &mut row)).unwrap();
        assert_eq!(row.seq, 1);
        assert_eq!(store.run(|db| by_key(db, "in:aa")).unwrap(), Some(row.clone()));
        assert_eq!(row.json()["preimage"], Value::Null);
        row.end("completed", None);
        assert_eq!(row.json()["preimage"], "bb");
        assert_eq!(row.json()["reason"], Value::Null);
        assert_eq!(row.json()["amount_msat"], "1");
    }

    #[test]
    fn a_hash_has_one_attempt_until_that_failed() {
        let folder = Folder::new("ask");
        let store = folder.open(None).unwrap();
        let (first, taken) = store.run(|db| ask(db, attempt("aa"))).unwrap();
        assert_eq!((first.key.as_str(), first.attempt, taken), ("out:1", Some(1), false));
        for state in ["asked", "pending", "completed"] {
            store.run(|db| change(db, "out:1", |_| true, |row| row.state = state.into())).unwrap();
            let (same, taken) = store.run(|db| ask(db, attempt("aa"))).unwrap();
            assert_eq!((same.key.as_str(), taken), ("out:1", true));
        }
        store.run(|db| change(db, "out:1", |_| true, |row| row.end("failed", Some("x")))).unwrap();
        assert_eq!(store.run(|db| ask(db, attempt("bb"))).unwrap().0.attempt, Some(2));
        let (third, taken) = store.run(|db| ask(db, attempt("aa"))).unwrap();
        assert_eq!((third.attempt, taken), (Some(3), false));
        assert_eq!(store.run(|db| newest(db, "aa")).unwrap().unwrap().attempt, Some(3));
    }

    #[test]
    fn a_reference_has_one_attempt_of_an_offer_also_after_that_failed() {
        let folder = Folder::new("once");
        let store = folder.open(None).unwrap();
        let row = |reference: &str| Row { kind: "offer".into(), reference: Some(reference.into()), ..Row::default() };
        for reference in ["a", "b"] { assert!(!store.run(|db| ask_once(db, row(reference))).unwrap().1) }
        assert_eq!(store.run(|db| by_key(db, "out:1")).unwrap().unwrap().json()["hash"], Value::Null);
        for state in ["asked", "pending", "completed", "failed"] {
            store.run(|db| change(db, "out:1", |_| true, |row| row.state = state.into())).unwrap();
            let (same, taken) = store.run(|db| ask_once(db, row("a"))).unwrap();
            assert_eq!((same.key.as_str(), taken), ("out:1", true));
        }
        store.run(|db| change(db, "out:2", |_| true, |row| row.ldk_id = Some("cc".into()))).unwrap();
        assert_eq!(store.run(|db| of_ldk(db, "cc")).unwrap().unwrap().key, "out:2");
        assert_eq!(store.run(|db| of_ldk(db, "dd")).unwrap(), None);
    }

    #[test]
    fn each_change_takes_the_next_number_and_no_change_takes_none() {
        let folder = Folder::new("seq");
        let store = folder.open(None).unwrap();
        for hash in ["aa", "bb"] { store.run(|db| ask(db, attempt(hash))).unwrap(); }
        store.run(|db| change(db, "out:1", |_| false, |_| ())).unwrap();
        store.run(|db| change(db, "out:1", |_| true, |row| row.state = "pending".into())).unwrap();
        let rows = store.run(|db| after(db, 0, 10)).unwrap();
        assert_eq!(rows.iter().map(|row| (row.key.as_str(), row.seq)).collect::<Vec<_>>(), [("out:2", 2), ("out:1", 3)]);
        assert_eq!(store.run(|db| after(db, 2, 10)).unwrap().len(), 1);
        assert_eq!(store.run(|db| change(db, "out:9", |_| true, |_| ())).unwrap(), None);
    }
}
