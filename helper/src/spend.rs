//! Signs and publishes on-chain transactions.
use crate::onchain::Chain;
use crate::open::App;
use crate::store::{meta, set_meta};
use crate::protocol::{invalid, msat, refused, Answer, Params};
use bdk_wallet::bitcoin::{consensus, Amount, FeeRate, OutPoint, Psbt, ScriptBuf, Transaction};
use bdk_wallet::coin_selection::DefaultCoinSelectionAlgorithm;
use bdk_wallet::error::CreateTxError;
use bdk_wallet::{KeychainKind, SignOptions, TxBuilder, Wallet};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

const LOCKED_FOR: Duration = Duration::from_secs(600);

pub fn sign(app: &App, params: &Params) -> Answer<Value> {
    let script = ScriptBuf::from_bytes(params.bytes("script")?);
    let amount = params.or_null("amount_msat", Params::sats)?.map(Amount::from_sat);
    let rate = rate(params)?;
    made(app, Some(&script), |builder, coins, change| {
        builder.fee_rate(rate).unspendable(coins.left_alone.clone());
        match amount {
            Some(amount) => { builder.add_recipient(script.clone(), amount); }
            None => {
                if coins.reserve > Amount::ZERO { builder.add_recipient(change, coins.reserve); }
                builder.drain_wallet().drain_to(script.clone());
            }
        }
        Ok(())
    })
}

/// Signs a transaction that spends one coin back into the wallet with that fee, so that miners take what made the coin.
pub fn sign_child(app: &App, params: &Params) -> Answer<Value> {
    let coin: OutPoint = params.parsed("coin")?;
    let fee = Amount::from_sat(params.sats("fee_msat")?);
    made(app, None, |builder, coins, change| {
        let spendable = !coins.left_alone.contains(&coin) && builder.add_utxo(coin).is_ok();
        if !spendable { return Err(refused("The change of the transaction cannot be spent now.")) }
        builder.manually_selected_only().fee_absolute(fee).drain_to(change);
        Ok(())
    })
}

type TxOrder<'a> = TxBuilder<'a, DefaultCoinSelectionAlgorithm>;

/// Signs what is ordered of the coins and the next script for change, and locks its coins. `to` gets what is sent.
fn made(
    app: &App, to: Option<&ScriptBuf>, order: impl FnOnce(&mut TxOrder, &Coins, ScriptBuf) -> Answer<()>,
) -> Answer<Value> {
    let _spending = app.spending();
    crate::fundings::know(app)?;
    let reserve = Amount::from_sat(app.node.list_balances().total_anchor_channels_reserve_sats);
    let mut wallet = app.chain.ready()?;
    let mut locks = held(&app.chain);
    let coins = Coins::of(&wallet, &locks, reserve);
    let short = || refused(format!("The coins do not suffice: {} sat are there, of which {} sat stay as a reserve for \
        closing channels.", coins.there.to_sat(), reserve.to_sat()));
    let change = wallet.next_unused_address(KeychainKind::Internal).script_pubkey();
    let mut builder = wallet.build_tx();
    order(&mut builder, &coins, change)?;
    let psbt = builder.finish().map_err(|error| match error {
        CreateTxError::CoinSelection(_) => short(),
        CreateTxError::OutputBelowDustLimit(_) => refused("The amount is below what the network relays."),
        other => refused(format!("The transaction cannot be made: {other}")),
    })?;
    let (tx, fee) = signed(&wallet, psbt)?;
    let sent: Amount = tx.output.iter().filter(|output| Some(&output.script_pubkey) == to).map(|output| output.value).sum();
    if coins.there < sent + fee + reserve { return Err(short()) }
    let inputs: Vec<OutPoint> = tx.input.iter().map(|input| input.previous_output).collect();
    for place in &inputs { locks.insert(*place, Instant::now() + LOCKED_FOR); }
    Ok(json!({"txid": tx.compute_txid().to_string(), "hex": consensus::encode::serialize_hex(&tx), "fee_msat": msat(fee.to_sat() * 1000),
        "amount_msat": msat(sent.to_sat() * 1000), "inputs": inputs.iter().map(ToString::to_string).collect::<Vec<_>>()}))
}

/// The coins of signed transactions that are not published, less those whose time is over.
pub fn held(chain: &Chain) -> MutexGuard<'_, HashMap<OutPoint, Instant>> {
    let mut locks = chain.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    locks.retain(|_, until| *until > Instant::now());
    locks
}

/// Whether a transaction that was signed may still be published.
pub fn is_unpublished(app: &App) -> Answer<bool> {
    let wallet = app.chain.ready()?;
    let locks = held(&app.chain);
    Ok(locks.keys().any(|coin| wallet.get_utxo(*coin).is_some()))
}

/// Which coins may be used. Foreign coins that are not confirmed may vanish.
struct Coins { there: Amount, reserve: Amount, left_alone: Vec<OutPoint> }
impl Coins {
    fn of(wallet: &Wallet, locks: &HashMap<OutPoint, Instant>, reserve: Amount) -> Coins {
        let mut coins = Coins { there: Amount::ZERO, reserve, left_alone: Vec::new() };
        for coin in wallet.list_unspent() {
            let trusted = coin.chain_position.is_confirmed() || coin.keychain == KeychainKind::Internal;
            if trusted && !locks.contains_key(&coin.outpoint) { coins.there += coin.txout.value }
            else { coins.left_alone.push(coin.outpoint) }
        }
        coins
    }
}

fn signed(wallet: &Wallet, mut psbt: Psbt) -> Answer<(Transaction, Amount)> {
    let fee = psbt.fee().map_err(|error| refused(error.to_string()))?;
    let complete = wallet.sign(&mut psbt, SignOptions::default()).map_err(|error| refused(error.to_string()))?;
    if !complete { return Err(refused("The transaction could not be signed.")) }
    let tx = psbt.extract_tx().map_err(|error| refused(error.to_string()))?;
    Ok((tx, fee))
}

/// Keeps the coins of a signed transaction from others for ten more minutes, or gives them back.
pub fn lock(app: &App, params: &Params, holds: bool) -> Answer<Value> {
    let mut locks = held(&app.chain);
    for place in params.all("inputs", |text| text.parse().ok())? {
        if holds { locks.insert(place, Instant::now() + LOCKED_FOR); } else { locks.remove(&place); }
    }
    Ok(json!({}))
}

pub fn publish(app: &App, params: &Params) -> Answer<Value> {
    let tx: Transaction = consensus::encode::deserialize(&params.bytes("hex")?)
        .map_err(|_| invalid("hex is no transaction."))?;
    let txid = tx.compute_txid();
    if let Err(said) = app.chain.source.broadcast(&tx) {
        // What the chain shows decides. Certain is only a coin that another transaction has spent, in a block.
        if app.sync_chain().is_err() { return Err(said) }
        if let Some(place) = app.chain.spent_by_other(&tx) {
            return Err(refused(format!("The coin {place} is spent by another transaction that is confirmed.")));
        }
        if !app.chain.has(txid) { return Err(said) }
    }
    app.chain.published(tx)?;
    Ok(json!({"txid": txid.to_string()}))
}

pub fn fee_rate(app: &App, params: &Params) -> Answer<Value> {
    Ok(json!({"sat_per_vbyte": app.chain.source.fee_rate(params.number("blocks")? as usize)?}))
}

fn rate(params: &Params) -> Answer<FeeRate> {
    let rate = params.0["sat_per_vbyte"].as_f64().filter(|rate| (0.1..=100_000.0).contains(rate))
        .ok_or_else(|| invalid("sat_per_vbyte must be a number from 0.1 to 100000."))?;
    Ok(FeeRate::from_sat_per_kwu((rate * 250.0).ceil() as u64))
}

pub fn address(app: &App) -> Answer<Value> {
    let known = app.store.run(|db| meta(db, "address"))?.and_then(|text| {
        text.parse::<bdk_wallet::bitcoin::Address<_>>().ok()?.require_network(app.network).ok()
    });
    let is_unused = |script| !app.chain.wallet().list_output().any(|output| output.txout.script_pubkey == script);
    if let Some(address) = known.filter(|address| is_unused(address.script_pubkey())) { return Ok(json!({"address": address.to_string()})) }
    let address = app.node.onchain_payment().new_address()?.to_string();
    app.store.run(|db| set_meta(db, "address", &address))?;
    Ok(json!({"address": address}))
}
