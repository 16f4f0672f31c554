//! What the on-chain wallet shows: its transactions, its coins, and the node's state in figures.
use crate::channels;
use crate::fundings::{channel_ids, funds};
use crate::open::App;
use crate::protocol::{msat, Answer, Params};
use crate::spend::held;
use bdk_wallet::bitcoin::{consensus, Address, Transaction};
use bdk_wallet::chain::ChainPosition;
use bdk_wallet::{KeychainKind, Wallet};
use rusqlite::{params, Connection};
use serde_json::{json, Value};

pub fn info(app: &App) -> Answer<Value> {
    let status = app.node.status();
    let balances = app.node.list_balances();
    let list = app.node.list_channels();
    let (onchain, trusted) = match app.chain.ready() {
        Ok(wallet) => (wallet.balance().total().to_sat(), wallet.balance().trusted_spendable().to_sat()),
        Err(_) => (balances.total_onchain_balance_sats, balances.spendable_onchain_balance_sats + balances.total_anchor_channels_reserve_sats),
    };
    // A copy, since LDK adds to it under its own locks.
    let unknown = app.store.unknown_channels.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
    let time = |secs: Option<u64>| secs.map(|secs| secs * 1000);
    Ok(json!({
        "node_pk": app.node.node_id().to_string(), "height": status.current_best_block.height,
        "synced": {"lightning": time(status.latest_lightning_wallet_sync_timestamp),
            "onchain": time(status.latest_onchain_wallet_sync_timestamp),
            "fees": time(status.latest_fee_rate_cache_update_timestamp)},
        "onchain_msat": msat(onchain * 1000), "trusted_msat": msat(trusted * 1000),
        "reserve_msat": msat(balances.total_anchor_channels_reserve_sats * 1000),
        "lightning_msat": msat(channels::lightning_msat(app)), "channels": list.len(),
        "usable": list.iter().filter(|channel| channel.is_usable).count(), "unknown_channels": unknown,
    }))
}

struct Noted { txid: String, hex: String, first_seen: u64, height: Option<u64>, replaced_by: Option<String>, funding: bool, sweep: bool }

fn noted(db: &Connection, since: u64, only: Option<&str>) -> rusqlite::Result<Vec<Noted>> {
    let mut statement = db.prepare_cached("SELECT own.txid, own.hex, own.first_seen, own.height, own.replaced_by, \
        EXISTS (SELECT 1 FROM channels WHERE funding BETWEEN own.txid || ':' AND own.txid || ';'), EXISTS (SELECT 1 FROM sweeps WHERE txid = own.txid) \
        FROM own_txs own LEFT JOIN own_txs other ON other.txid = own.replaced_by \
        WHERE coalesce(own.height, other.height, ?1) >= ?1 AND (?2 IS NULL OR own.txid = ?2) ORDER BY own.first_seen")?;
    let rows = statement.query_map(params![since, only], |row| Ok(Noted {
        txid: row.get(0)?, hex: row.get(1)?, first_seen: row.get(2)?, height: row.get(3)?, replaced_by: row.get(4)?,
        funding: row.get(5)?, sweep: row.get(6)?,
    }))?.collect();
    rows
}

pub fn transactions(app: &App, params: &Params) -> Answer<Value> {
    let since = params.or_null("since_height", Params::number)?.unwrap_or(0);
    let only = params.or_null("txid", Params::text)?;
    let sweeps = channels::sweeps(app);
    let channels = channel_ids(app);
    let wallet = app.chain.ready()?;
    let mut list = Vec::new();
    for mut one in app.store.run(|db| noted(db, since, only))? {
        let Ok(tx) = consensus::encode::deserialize_hex::<Transaction>(&one.hex) else { continue };
        let position = wallet.get_tx(tx.compute_txid()).map(|known| known.chain_position);
        // What the network forgot is no transaction, unless another one took its place.
        if position.is_none() && one.replaced_by.is_none() { continue }
        one.sweep |= sweeps.contains(&one.txid);
        one.funding |= funds(&tx, &channels);
        list.push(shown(app, &wallet, &one, &tx, position)?);
    }
    Ok(json!({"height": wallet.latest_checkpoint().height(), "transactions": list}))
}

fn shown(
    app: &App, wallet: &Wallet, one: &Noted, tx: &Transaction,
    position: Option<ChainPosition<bdk_wallet::chain::ConfirmationBlockTime>>,
) -> Answer<Value> {
    let (sent, received) = wallet.sent_and_received(tx);
    let block_time = match position {
        Some(ChainPosition::Confirmed { anchor, .. }) => Some(anchor.confirmation_time * 1000),
        _ => None,
    };
    let outputs: Vec<Value> = tx.output.iter().enumerate().filter_map(|(vout, output)| {
        let (keychain, _) = wallet.derivation_of_spk(output.script_pubkey.clone())?;
        if sent.to_sat() > 0 && keychain == KeychainKind::Internal { return None }
        let address = Address::from_script(&output.script_pubkey, app.network).ok()?;
        Some(json!({"vout": vout, "amount_msat": msat(output.value.to_sat() * 1000), "address": address.to_string()}))
    }).collect();
    Ok(json!({
        "txid": one.txid, "hex": one.hex, "height": one.height, "block_time": block_time,
        "first_seen": block_time.map_or(one.first_seen, |time| time.min(one.first_seen)),
        "fee_msat": msat(wallet.calculate_fee(tx).ok().map(|fee| fee.to_sat() * 1000)),
        "sent_msat": msat(sent.to_sat() * 1000), "received_msat": msat(received.to_sat() * 1000),
        "outputs": outputs, "role": role(app, wallet, one, tx, sent.to_sat() > 0)?, "replaced_by": one.replaced_by,
    }))
}

/// A transaction that spends a channel's funding closes it; so does one that spends our coins together with others,
/// which only raises the fee of a closing.
fn role(app: &App, wallet: &Wallet, one: &Noted, tx: &Transaction, sends: bool) -> Answer<Option<&'static str>> {
    if one.funding && sends { return Ok(Some("funding")) }
    if one.sweep { return Ok(Some("sweep")) }
    let closes = app.store.run(|db| {
        let mut funding = db.prepare_cached("SELECT 1 FROM channels WHERE funding = ?1")?;
        for input in &tx.input {
            if funding.exists([input.previous_output.to_string()])? { return Ok(true) }
        }
        Ok(false)
    })?;
    let foreign = tx.input.iter().any(|input| {
        !wallet.tx_graph().get_txout(input.previous_output).is_some_and(|spent| wallet.is_mine(spent.script_pubkey.clone()))
    });
    Ok((closes || sends && foreign).then_some("close"))
}

pub fn coins(app: &App) -> Answer<Value> {
    let wallet = app.chain.ready()?;
    let locks = held(&app.chain);
    let coins: Vec<Value> = wallet.list_unspent().map(|coin| json!({"outpoint": coin.outpoint.to_string(),
        "amount_msat": msat(coin.txout.value.to_sat() * 1000), "locked": locks.contains_key(&coin.outpoint)})).collect();
    Ok(json!({"coins": coins}))
}
