//! Signs, publishes and replaces on-chain transactions.
use crate::onchain::{Chain, Lock};
use crate::open::App;
use crate::protocol::{invalid, msat, not_found, refused, unknown, unreachable, Answer, Params};
use bdk_esplora::esplora_client::Error as EsploraError;
use bdk_wallet::bitcoin::{consensus, Amount, FeeRate, OutPoint, Psbt, ScriptBuf, Transaction, Txid};
use bdk_wallet::error::{BuildFeeBumpError, CreateTxError};
use bdk_wallet::{KeychainKind, SignOptions, Wallet};
use serde_json::{json, Value};
use std::collections::HashSet;
use std::time::{Duration, Instant};

const LOCKED_FOR: Duration = Duration::from_secs(600);

pub fn chain_of(app: &App) -> Answer<&Chain> {
    app.chain.as_ref().ok_or_else(|| refused("On-chain sends need an Esplora as the chain source."))
}

pub fn sign(app: &App, params: &Params) -> Answer<Value> {
    let chain = chain_of(app)?;
    let script = ScriptBuf::from_bytes(params.bytes("script")?);
    let amount = params.msat_or_null("amount_msat")?.map(sats).transpose()?;
    let rate = rate(params)?;
    let keep = outpoints(params, "keep")?;
    let drop: Option<Txid> = if params.is_null("drop") { None } else { Some(params.parsed("drop")?) };
    let reserve = reserve(app);
    let mut wallet = chain.ready()?;
    let mut locks = chain.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(txid) = drop { locks.retain(|_, lock| lock.by != txid) }
    locks.retain(|_, lock| lock.until > Instant::now());
    let replaced = drop.filter(|txid| wallet.get_tx(*txid).is_some());
    let coins = Coins::of(&wallet, keep.iter().chain(locks.keys()).copied(), replaced)?;
    let change = wallet.next_unused_address(KeychainKind::Internal).script_pubkey();
    let psbt = {
        let mut builder = match replaced {
            Some(txid) => wallet.build_fee_bump(txid).map_err(not_replaced)?,
            None => wallet.build_tx(),
        };
        builder.fee_rate(rate).unspendable(coins.left_alone.clone()).set_recipients(vec![]);
        match amount {
            Some(amount) => { builder.add_recipient(script.clone(), amount); }
            None => {
                if reserve > Amount::ZERO { builder.add_recipient(change, reserve); }
                builder.drain_wallet().drain_to(script.clone());
            }
        }
        builder.finish().map_err(|error| not_built(error, coins.there, reserve))?
    };
    let (tx, fee) = signed(&wallet, psbt)?;
    let sent: Amount = tx.output.iter().filter(|output| output.script_pubkey == script).map(|output| output.value).sum();
    if coins.there < sent + fee + reserve {
        return Err(refused(format!("The coins do not suffice: {} sat are there, of which {} sat stay as a reserve for \
            closing channels.", coins.there.to_sat(), reserve.to_sat())));
    }
    Ok(lock_and_tell(&mut locks, &tx, fee, sent))
}

pub fn bump(app: &App, params: &Params) -> Answer<Value> {
    let chain = chain_of(app)?;
    let txid: Txid = params.parsed("txid")?;
    let rate = rate(params)?;
    let funds = app.store.run(|db| db.query_row(
        "SELECT EXISTS (SELECT 1 FROM fundings WHERE txid = ?1)", [txid.to_string()], |row| row.get::<_, bool>(0)))?;
    if funds { return Err(refused("The transaction funds a channel, which would be lost.")) }
    let reserve = reserve(app);
    let mut wallet = chain.ready()?;
    let mut locks = chain.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    locks.retain(|_, lock| lock.until > Instant::now());
    let before = wallet.get_tx(txid).ok_or_else(|| not_found("The wallet has no such transaction."))?.tx_node.tx.clone();
    let coins = Coins::of(&wallet, locks.iter().filter(|(_, lock)| lock.by != txid).map(|(place, _)| *place), Some(txid))?;
    let psbt = {
        let mut builder = wallet.build_fee_bump(txid).map_err(not_replaced)?;
        builder.fee_rate(rate).unspendable(coins.left_alone.clone());
        builder.finish().map_err(|error| not_built(error, coins.there, reserve))?
    };
    let (tx, fee) = signed(&wallet, psbt)?;
    let is_change = |script: &ScriptBuf| {
        wallet.derivation_of_spk(script.clone()).is_some_and(|(keychain, _)| keychain == KeychainKind::Internal)
    };
    let sent: Amount = before.output.iter().filter(|output| !is_change(&output.script_pubkey)).map(|output| output.value).sum();
    if coins.there < sent + fee + reserve {
        return Err(refused(format!("The coins do not suffice for that fee and the reserve of {} sat for closing channels.",
            reserve.to_sat())));
    }
    Ok(lock_and_tell(&mut locks, &tx, fee, sent))
}

/// Which coins may be used. Foreign coins that are not confirmed may vanish; those of a replaced transaction will.
struct Coins { there: Amount, left_alone: Vec<OutPoint> }
impl Coins {
    fn of(wallet: &Wallet, kept: impl Iterator<Item = OutPoint>, replaced: Option<Txid>) -> Answer<Coins> {
        let mut left_alone: HashSet<OutPoint> = kept.collect();
        let mut there = Amount::ZERO;
        for coin in wallet.list_unspent() {
            let trusted = coin.chain_position.is_confirmed() || coin.keychain == KeychainKind::Internal;
            if !trusted || Some(coin.outpoint.txid) == replaced { left_alone.insert(coin.outpoint); }
            if !left_alone.contains(&coin.outpoint) { there += coin.txout.value }
        }
        if let Some(tx) = replaced.and_then(|txid| wallet.get_tx(txid)) {
            for input in &tx.tx_node.tx.input {
                left_alone.remove(&input.previous_output);
                let spent = wallet.tx_graph().get_txout(input.previous_output);
                let spent = spent.filter(|output| wallet.is_mine(output.script_pubkey.clone()));
                there += spent.ok_or_else(|| refused("Only the wallet's own transaction can be replaced."))?.value;
            }
        }
        Ok(Coins { there, left_alone: left_alone.into_iter().collect() })
    }
}

fn signed(wallet: &Wallet, mut psbt: Psbt) -> Answer<(Transaction, Amount)> {
    let fee = psbt.fee().map_err(|error| refused(error.to_string()))?;
    let complete = wallet.sign(&mut psbt, SignOptions::default()).map_err(|error| refused(error.to_string()))?;
    if !complete { return Err(refused("The transaction could not be signed.")) }
    let tx = psbt.extract_tx().map_err(|error| refused(error.to_string()))?;
    Ok((tx, fee))
}

fn lock_and_tell(locks: &mut std::collections::HashMap<OutPoint, Lock>, tx: &Transaction, fee: Amount, sent: Amount) -> Value {
    let txid = tx.compute_txid();
    let inputs: Vec<OutPoint> = tx.input.iter().map(|input| input.previous_output).collect();
    for place in &inputs { locks.insert(*place, Lock { until: Instant::now() + LOCKED_FOR, by: txid }); }
    json!({"txid": txid.to_string(), "hex": consensus::encode::serialize_hex(tx), "fee_msat": msat(fee.to_sat() * 1000),
        "amount_msat": msat(sent.to_sat() * 1000), "inputs": inputs.iter().map(ToString::to_string).collect::<Vec<_>>()})
}

pub fn release(app: &App, params: &Params) -> Answer<Value> {
    let inputs = outpoints(params, "inputs")?;
    let mut locks = chain_of(app)?.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for place in inputs { locks.remove(&place); }
    Ok(json!({}))
}

/// Keeps the coins of a signed transaction from others for ten more minutes.
pub fn hold(app: &App, params: &Params) -> Answer<Value> {
    let by: Txid = params.parsed("txid")?;
    let inputs = outpoints(params, "inputs")?;
    let mut locks = chain_of(app)?.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for place in inputs { locks.insert(place, Lock { until: Instant::now() + LOCKED_FOR, by }); }
    Ok(json!({}))
}

pub fn publish(app: &App, params: &Params) -> Answer<Value> {
    let chain = chain_of(app)?;
    let tx: Transaction = consensus::encode::deserialize(&params.bytes("hex")?)
        .map_err(|_| invalid("hex is no transaction."))?;
    let txid = tx.compute_txid();
    let said = chain.wait(chain.client.broadcast(&tx)).map_err(|late| unknown(late.message))?;
    if let Err(error) = said {
        if !chain.wait(chain.client.get_tx(&txid)).is_ok_and(|known| matches!(known, Ok(Some(_)))) {
            return Err(why_not_taken(chain, &tx, &error));
        }
    }
    chain.published(tx)?;
    Ok(json!({"txid": txid.to_string()}))
}

/// Certain only where a coin is spent by another transaction that is confirmed.
fn why_not_taken(chain: &Chain, tx: &Transaction, error: &EsploraError) -> crate::protocol::Fail {
    for input in &tx.input {
        let place = input.previous_output;
        let spent = chain.wait(chain.client.get_output_status(&place.txid, u64::from(place.vout)));
        if let Ok(Ok(Some(status))) = spent {
            let other = status.txid.is_some_and(|by| by != tx.compute_txid());
            if other && status.status.is_some_and(|status| status.confirmed) {
                return refused(format!("The coin {place} is spent by another transaction that is confirmed."));
            }
        }
    }
    match error {
        EsploraError::HttpResponse { status, message } => {
            let message: String = message.chars().take(300).collect();
            unknown(format!("The Esplora did not take the transaction: {status} {message}"))
        }
        _ => unknown("The Esplora did not answer."),
    }
}

pub fn fee_rates(app: &App) -> Answer<Value> {
    let chain = chain_of(app)?;
    let rates = chain.wait(chain.client.get_fee_estimates())?
        .map_err(|_| unreachable("The Esplora did not give fee rates."))?;
    let rate = |blocks: usize| bdk_esplora::esplora_client::convert_fee_rate(blocks, rates.clone()).map_or(1.0, |rate| f64::from(rate).max(1.0));
    Ok(json!({"sat_per_vbyte": {"1": rate(1), "3": rate(3), "72": rate(72)}}))
}

fn reserve(app: &App) -> Amount { Amount::from_sat(app.node.list_balances().total_anchor_channels_reserve_sats) }

fn sats(amount: u64) -> Answer<Amount> {
    if amount % 1000 != 0 { return Err(invalid("amount_msat must be whole satoshis.")) }
    Ok(Amount::from_sat(amount / 1000))
}

fn rate(params: &Params) -> Answer<FeeRate> {
    let rate = params.0["sat_per_vbyte"].as_f64().filter(|rate| (0.1..=100_000.0).contains(rate))
        .ok_or_else(|| invalid("sat_per_vbyte must be a number from 0.1 to 100000."))?;
    Ok(FeeRate::from_sat_per_kwu((rate * 250.0).ceil() as u64))
}

fn outpoints(params: &Params, name: &str) -> Answer<Vec<OutPoint>> {
    params.list(name)?.iter().map(|place| {
        place.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| invalid(format!("{name} must be a list of outpoints.")))
    }).collect()
}

fn not_built(error: CreateTxError, there: Amount, reserve: Amount) -> crate::protocol::Fail {
    match error {
        CreateTxError::CoinSelection(_) => refused(format!("The coins do not suffice: {} sat are there, of which {} sat \
            stay as a reserve for closing channels.", there.to_sat(), reserve.to_sat())),
        CreateTxError::OutputBelowDustLimit(_) => refused("The amount is below what the network relays."),
        other => refused(format!("The transaction cannot be made: {other}")),
    }
}

fn not_replaced(error: BuildFeeBumpError) -> crate::protocol::Fail {
    match error {
        BuildFeeBumpError::TransactionNotFound(_) => not_found("The wallet has no such transaction."),
        BuildFeeBumpError::TransactionConfirmed(_) => refused("The transaction is confirmed."),
        other => refused(format!("The transaction cannot be replaced: {other}")),
    }
}

pub fn address(app: &App) -> Answer<Value> {
    let known = app.store.meta("address")?.and_then(|text| {
        text.parse::<bdk_wallet::bitcoin::Address<_>>().ok()?.require_network(app.network).ok()
    });
    if let (Some(address), Some(chain)) = (&known, &app.chain) {
        if !crate::onchain::is_used(&chain.wallet(), &address.script_pubkey()) {
            return Ok(json!({"address": address.to_string()}));
        }
    }
    let address = app.node.onchain_payment().new_address()?.to_string();
    app.store.set_meta("address", &address)?;
    Ok(json!({"address": address}))
}

