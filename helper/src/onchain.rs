//! A second wallet on the same descriptors as ldk-node's: it knows what ldk-node does not show, and signs without
//! publishing.
use crate::protocol::{hex, msat, now_ms, refused, unreachable, Answer, Params};
use crate::source::Source;
use crate::store::Store;
use bdk_wallet::bitcoin::bip32::Xpriv;
use bdk_wallet::bitcoin::{consensus, Network, OutPoint, ScriptBuf, Transaction, Txid};
use bdk_wallet::chain::spk_client::SyncRequest;
use bdk_wallet::chain::{ConfirmationBlockTime, DescriptorExt, TxGraph};
use bdk_wallet::template::Bip84;
use bdk_wallet::{KeychainKind, Wallet};
use rusqlite::{params, types::FromSql, Connection};
use serde_json::{json, Value};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

pub const KEYCHAINS: [KeychainKind; 2] = [KeychainKind::External, KeychainKind::Internal];

pub struct Chain {
    pub source: Source,
    /// The coins of signed transactions, each kept until then or until it is given back.
    pub locks: Mutex<HashMap<OutPoint, Instant>>,
    wallet: Mutex<Wallet>,
    /// So many addresses in a row without a payment end the first look.
    gap: usize,
    scanned: AtomicBool,
    syncing: Mutex<()>,
    /// Whether something is not written down yet.
    has_news: AtomicBool,
    store: Arc<Store>,
}

impl Chain {
    pub fn new(source: Source, seed: &[u8; 64], network: Network, gap: usize, store: Arc<Store>) -> Answer<Chain> {
        let failed = |what: String| refused(format!("The on-chain wallet cannot be made: {what}"));
        let master = Xpriv::new_master(network, seed).map_err(|error| failed(error.to_string()))?;
        let mut wallet = Wallet::create(Bip84(master, KEYCHAINS[0]), Bip84(master, KEYCHAINS[1])).network(network)
            .create_wallet_no_persist().map_err(|error| failed(error.to_string()))?;
        wallet.apply_unconfirmed_txs(unconfirmed(&store)?);
        Ok(Chain {
            source, locks: Mutex::default(), wallet: Mutex::new(wallet), gap, scanned: AtomicBool::new(false),
            syncing: Mutex::default(), has_news: AtomicBool::new(true), store,
        })
    }

    pub fn wallet(&self) -> MutexGuard<'_, Wallet> { self.wallet.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) }

    /// The wallet, once it has been compared with the chain.
    pub fn ready(&self) -> Answer<MutexGuard<'_, Wallet>> {
        if self.scanned.load(Ordering::SeqCst) { Ok(self.wallet()) }
        else { Err(unreachable("The chain was not read yet: its server did not answer.")) }
    }

    /// Compares the wallet with the chain: all of it the first time, then what is known. `sweeps` are LDK's own.
    pub fn sync(&self, sweeps: &[String]) -> Answer<()> {
        let _one = self.syncing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.reveal()?;
        let failed = |error: bdk_wallet::chain::local_chain::CannotConnectError| unreachable(format!("The chain could not be read: {error}"));
        if !self.scanned.load(Ordering::SeqCst) {
            let request = self.wallet().start_full_scan().build();
            let update = self.source.scan(request, self.gap)?;
            self.wallet().apply_update(update).map_err(failed)?;
        }
        let request = self.wallet().start_sync_with_revealed_spks().build();
        let update = self.source.sync(request)?;
        let events = self.wallet().apply_update_events(update).map_err(failed)?;
        self.has_news.fetch_or(!events.is_empty(), Ordering::SeqCst);
        self.scanned.store(true, Ordering::SeqCst);
        self.note(sweeps)
    }

    pub fn published(&self, tx: Transaction) -> Answer<()> {
        self.wallet().apply_unconfirmed_txs([(tx, now_ms() / 1000)]);
        self.has_news.store(true, Ordering::SeqCst);
        self.note(&[])
    }

    /// Whether the network has the transaction, as was read last.
    pub fn has(&self, txid: Txid) -> bool { self.wallet().get_tx(txid).is_some() }

    /// A coin of the transaction that another one has spent, in a block.
    pub fn spent_by_other(&self, tx: &Transaction) -> Option<OutPoint> {
        let wallet = self.wallet();
        let spent = wallet.tx_graph().direct_conflicts(tx).find(|(_, other)| {
            wallet.get_tx(*other).is_some_and(|other| other.chain_position.is_confirmed())
        });
        spent.map(|(input, _)| tx.input[input].previous_output)
    }

    /// The coins that these scripts have got, which need not be the wallet's, and what has spent them.
    pub fn find(&self, params: &Params) -> Answer<Value> {
        let scripts = params.all("scripts", |text| ScriptBuf::from_hex(text).ok())?;
        let found = self.source.sync(SyncRequest::builder().spks(scripts.clone()).build())?;
        let mut graph = TxGraph::<ConfirmationBlockTime>::default();
        let _ = graph.apply_update(found.tx_update);
        let scripts: HashSet<ScriptBuf> = scripts.into_iter().collect();
        let height = |txid| graph.get_tx_node(txid).and_then(|tx| Some(tx.anchors.first()?.block_id.height));
        let coins: Vec<Value> = graph.full_txs().flat_map(|tx| tx.tx.output.iter().enumerate().filter_map(|(vout, output)| {
            let place = OutPoint::new(tx.txid, vout as u32);
            let spender = graph.outspends(place).iter().next();
            scripts.contains(&output.script_pubkey).then(|| json!({
                "outpoint": place.to_string(), "amount_msat": msat(output.value.to_sat() * 1000), "height": height(tx.txid),
                "script": hex(output.script_pubkey.as_bytes()),
                "spent": spender.map(|txid| json!({"txid": txid.to_string(), "height": height(*txid)}))}))
        }).collect::<Vec<_>>()).collect();
        Ok(json!({"coins": coins}))
    }

    /// ldk-node shows addresses too. Its stored index names its descriptors, with the last shown address of each.
    fn reveal(&self) -> Answer<()> {
        let Some(index) = self.store.value("bdk_wallet", "", "indexer")? else { return Ok(()) };
        let mut wallet = self.wallet();
        for keychain in KEYCHAINS {
            let id = wallet.public_descriptor(keychain).descriptor_id().0;
            if let Some(last) = last_shown(&index, id.as_ref()) {
                // Only an absurd number would make this slow; it is no address of ours then.
                if last < 1_000_000 { let _ = wallet.reveal_addresses_to(keychain, last).count(); }
            }
        }
        Ok(())
    }

    /// Writes down each transaction of the wallet that is new or has changed, and says so if there was news.
    fn note(&self, sweeps: &[String]) -> Answer<()> {
        let wallet = self.wallet();
        let noted = self.store.run(|db| {
            let mut news = self.has_news.load(Ordering::SeqCst);
            for txid in sweeps { news |= db.execute("INSERT OR IGNORE INTO sweeps (txid) VALUES (?1)", [txid])? > 0; }
            if !news { return Ok(false) }
            for known in wallet.transactions() {
                let (tx, height) = (&known.tx_node, known.chain_position.confirmation_height_upper_bound());
                db.prepare_cached("INSERT INTO own_txs (txid, hex, first_seen, height) VALUES (?1, ?2, ?3, ?4) \
                    ON CONFLICT (txid) DO UPDATE SET height = ?4, replaced_by = NULL WHERE height IS NOT ?4 OR replaced_by IS NOT NULL")?
                    .execute(params![tx.txid.to_string(), consensus::encode::serialize_hex(tx.tx.as_ref()), now_ms(), height])?;
            }
            for (txid, hex) in pairs::<String, String>(db, "SELECT txid, hex FROM own_txs WHERE replaced_by IS NULL")? {
                let (Ok(id), Ok(tx)) = (Txid::from_str(&txid), consensus::encode::deserialize_hex::<Transaction>(&hex)) else { continue };
                if wallet.get_tx(id).is_some() { continue }
                let by = wallet.tx_graph().direct_conflicts(&tx).map(|(_, other)| other).find(|other| wallet.get_tx(*other).is_some());
                db.execute("UPDATE own_txs SET height = NULL, replaced_by = ?2 WHERE txid = ?1", params![txid, by.map(|by| by.to_string())])?;
            }
            Ok(true)
        })?;
        self.has_news.store(false, Ordering::SeqCst);
        if noted { self.store.tell() }
        Ok(())
    }
}

/// Unconfirmed transactions of earlier runs: a replaced one can only be told from them.
fn unconfirmed(store: &Store) -> Answer<Vec<(Transaction, u64)>> {
    let rows: Vec<(String, u64)> = store.run(|db| pairs(db, "SELECT hex, first_seen FROM own_txs WHERE height IS NULL"))?;
    Ok(rows.iter().filter_map(|(hex, at)| Some((consensus::encode::deserialize_hex(hex).ok()?, at / 1000))).collect())
}

fn pairs<A: FromSql, B: FromSql>(db: &Connection, sql: &str) -> rusqlite::Result<Vec<(A, B)>> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect();
    rows
}

/// Reads the number behind the descriptor's id in ldk-node's stored index: a TLV of type 2 with four bytes.
fn last_shown(index: &[u8], id: &[u8]) -> Option<u32> {
    let at = index.windows(id.len()).position(|part| part == id)? + id.len();
    match index.get(at..at + 6)? {
        [2, 4, number @ ..] => Some(u32::from_be_bytes(number.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::last_shown;

    #[test]
    fn the_last_shown_address_stands_behind_its_descriptor() {
        let id = [7u8; 32];
        let mut index = vec![1, 9, 0, 34, 0, 32];
        index.extend(id);
        index.extend([2, 4, 0, 0, 1, 2, 99]);
        assert_eq!(last_shown(&index, &id), Some(258));
        assert_eq!(last_shown(&index, &[8u8; 32]), None);
        assert_eq!(last_shown(&index[..40], &id), None);
    }
}
