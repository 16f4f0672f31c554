//! Signs and publishes on-chain transactions.
use crate::onchain::Chain;
use crate::open::App;
use crate::protocol::{invalid, msat, refused, unknown, unreachable, Answer, Params};
use bdk_esplora::esplora_client::Error as EsploraError;
use bdk_wallet::bitcoin::{consensus, Amount, FeeRate, OutPoint, Psbt, ScriptBuf, Transaction};
use bdk_wallet::error::CreateTxError;
use bdk_wallet::{KeychainKind, SignOptions, Wallet};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::MutexGuard;
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
    let reserve = reserve(app);
    let mut wallet = chain.ready()?;
    let mut locks = held(chain);
    let coins = Coins::of(&wallet, &locks);
    let change = wallet.next_unused_address(KeychainKind::Internal).script_pubkey();
    let psbt = {
        let mut builder = wallet.build_tx();
        builder.fee_rate(rate).unspendable(coins.left_alone);
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

/// Signs a transaction that spends one coin back into the wallet with that fee, so that miners take what made the coin.
pub fn sign_child(app: &App, params: &Params) -> Answer<Value> {
    let chain = chain_of(app)?;
    let coin: OutPoint = params.parsed("coin")?;
    let fee = sats(params.msat("fee_msat")?)?;
    let reserve = reserve(app);
    let mut wallet = chain.ready()?;
    let mut locks = held(chain);
    let coins = Coins::of(&wallet, &locks);
    if coins.left_alone.contains(&coin) || wallet.get_utxo(coin).is_none() {
        return Err(refused("The change of the transaction cannot be spent now."));
    }
    let change = wallet.next_unused_address(KeychainKind::Internal).script_pubkey();
    let psbt = {
        let mut builder = wallet.build_tx();
        builder.manually_selected_only().fee_absolute(fee).drain_to(change);
        builder.add_utxo(coin).map_err(|error| refused(error.to_string()))?;
        builder.finish().map_err(|error| not_built(error, coins.there, reserve))?
    };
    let (tx, fee) = signed(&wallet, psbt)?;
    if coins.there < fee + reserve {
        return Err(refused(format!("The coins do not suffice for that fee and the reserve of {} sat for closing channels.",
            reserve.to_sat())));
    }
    Ok(lock_and_tell(&mut locks, &tx, fee, Amount::ZERO))
}

/// The coins of signed transactions that are not published, less those whose time is over.
pub fn held(chain: &Chain) -> MutexGuard<'_, HashMap<OutPoint, Instant>> {
    let mut locks = chain.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    locks.retain(|_, until| *until > Instant::now());
    locks
}

/// Which coins may be used. Foreign coins that are not confirmed may vanish.
struct Coins { there: Amount, left_alone: Vec<OutPoint> }
impl Coins {
    fn of(wallet: &Wallet, locks: &HashMap<OutPoint, Instant>) -> Coins {
        let mut coins = Coins { there: Amount::ZERO, left_alone: Vec::new() };
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

fn lock_and_tell(locks: &mut HashMap<OutPoint, Instant>, tx: &Transaction, fee: Amount, sent: Amount) -> Value {
    let txid = tx.compute_txid();
    let inputs: Vec<OutPoint> = tx.input.iter().map(|input| input.previous_output).collect();
    for place in &inputs { locks.insert(*place, Instant::now() + LOCKED_FOR); }
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
    let inputs = outpoints(params, "inputs")?;
    let mut locks = chain_of(app)?.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for place in inputs { locks.insert(place, Instant::now() + LOCKED_FOR); }
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

