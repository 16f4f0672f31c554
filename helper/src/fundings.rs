//! Fundings of channels. ldk-node publishes a funding once, and its wallet learns of it at its next look at the chain:
//! until then it would spend the same coins again, for another channel; and a process that is killed before it has
//! published one never does. So nothing spends coins here before the chain has the fundings that were signed, and one
//! that the chain lacks is published again, out of LDK's own state.
use crate::open::App;
use crate::protocol::{refused, unreachable, Answer};
use ldk_node::bitcoin::{consensus, hashes::Hash, OutPoint, Transaction, Txid};
use ldk_node::lightning::ln::types::ChannelId;
use ldk_node::{ChannelDetails, LightningBalance};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long an opening waits for the funding of another channel.
const OTHERS_ARE_FUNDED: Duration = Duration::from_secs(15);
/// A transaction of version 2 with witnesses begins with these bytes.
const BEGINS: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// Channels that this wallet pays for, whose funding no block has.
fn waiting(app: &App) -> Vec<ChannelDetails> {
    app.node.list_channels().into_iter().filter(|one| one.is_outbound && one.confirmations.unwrap_or(0) == 0 && !one.is_channel_ready).collect()
}

/// Whether the coins of the channel have left the wallet, as the wallet itself sees it.
pub fn is_paid(app: &App, channel: &ChannelDetails) -> bool {
    let is_new = channel.is_outbound && channel.confirmations.unwrap_or(0) == 0 && !channel.is_channel_ready;
    !is_new || app.chain.ready().is_err() || channel.funding_txo.is_some_and(|place| app.chain.has(place.txid))
}

/// The ids that channels have which this transaction funds.
fn ids(tx: &Transaction) -> impl Iterator<Item = ChannelId> {
    let txid = tx.compute_txid().to_byte_array();
    (0..tx.output.len()).map(move |vout| ChannelId::v1_from_funding_txid(&txid, vout as u16))
}

/// Whether the wallet has paid for a channel of which LDK has a monitor alone.
pub fn has_paid(app: &App, id: ChannelId) -> bool { knows(app, |tx| ids(tx).any(|one| one == id)).unwrap_or(true) }

/// Whether the wallet has the transaction that closed the channel, and with it what was ours.
pub fn is_back(app: &App, id: ChannelId) -> bool {
    let spends = |place: OutPoint| ChannelId::v1_from_funding_txid(&place.txid.to_byte_array(), place.vout as u16) == id;
    knows(app, |tx| tx.input.iter().any(|input| spends(input.previous_output))).unwrap_or(false)
}

fn knows(app: &App, is: impl Fn(&Transaction) -> bool) -> Answer<bool> { Ok(app.chain.ready()?.transactions().any(|tx| is(&tx.tx_node.tx))) }

/// The channels that LDK has now, those of a monitor alone among them. Events tell of them later than the chain may.
pub fn channel_ids(app: &App) -> HashSet<ChannelId> {
    let unlisted = app.node.list_balances().lightning_balances.into_iter().filter_map(|balance| match balance {
        LightningBalance::ClaimableOnChannelClose { channel_id, .. } => Some(channel_id),
        _ => None,
    });
    app.node.list_channels().into_iter().map(|channel| channel.channel_id).chain(unlisted).collect()
}

pub fn funds(tx: &Transaction, channels: &HashSet<ChannelId>) -> bool { ids(tx).any(|id| channels.contains(&id)) }

/// Returns when the helper's wallet knows the fundings that were signed.
pub fn know(app: &App) -> Answer<()> {
    let lacks = |app: &App| waiting(app).into_iter().filter_map(|one| one.funding_txo)
        .map(|place| place.txid).filter(|txid| !app.chain.has(*txid)).collect::<Vec<_>>();
    if lacks(app).is_empty() { return Ok(()) }
    app.sync_chain()?;
    let missing = lacks(app);
    if missing.is_empty() { return Ok(()) }
    let manager = app.store.value("", "", "manager")?.unwrap_or_default();
    for txid in missing {
        let Some(tx) = find(&manager, txid) else {
            return Err(unreachable(format!("The funding {txid} of a channel is not published yet: try again in a moment.")));
        };
        // It never will be: the channel holds nothing.
        if app.chain.spent_by_other(&tx).is_some() { continue }
        app.chain.source.broadcast(&tx)?;
        crate::log::say(format_args!("The funding {txid} of a channel was published again."));
        app.chain.published(tx)?;
    }
    Ok(())
}

/// Returns when both wallets know every funding that was signed and every send, and no funding is about to be signed.
pub fn settle(app: &App) -> Answer<()> {
    let until = Instant::now() + OTHERS_ARE_FUNDED;
    while waiting(app).iter().any(|one| one.funding_txo.is_none()) {
        if Instant::now() >= until {
            return Err(refused("Another channel is being opened, and its peer does not answer: try again later."));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    know(app)?;
    app.node.sync_wallets()?;
    Ok(())
}

/// Finds a transaction in LDK's state by its id.
fn find(bytes: &[u8], txid: Txid) -> Option<Transaction> {
    bytes.windows(BEGINS.len()).enumerate().filter(|(_, begin)| *begin == BEGINS)
        .filter_map(|(at, _)| consensus::encode::deserialize_partial::<Transaction>(&bytes[at..]).ok())
        .map(|(tx, _)| tx).find(|tx| tx.compute_txid() == txid)
}

#[cfg(test)]
mod tests {
    use super::{find, funds};
    use ldk_node::lightning::ln::types::ChannelId;
    use ldk_node::bitcoin::{absolute::LockTime, consensus, hashes::Hash, transaction::Version, Amount, OutPoint, ScriptBuf,
        Sequence, Transaction, TxIn, TxOut, Txid, Witness};

    fn funding() -> Transaction {
        Transaction {
            version: Version::TWO, lock_time: LockTime::ZERO,
            input: vec![TxIn { previous_output: OutPoint::null(), script_sig: ScriptBuf::new(), sequence: Sequence::MAX,
                witness: Witness::from_slice(&[[2, 0, 0, 0, 0, 1]]) }],
            output: vec![TxOut { value: Amount::from_sat(7), script_pubkey: ScriptBuf::new() }; 2],
        }
    }

    #[test]
    fn a_funding_is_known_by_its_channel_before_an_event_tells_of_it() {
        let txid = funding().compute_txid().to_byte_array();
        for (vout, is_funded) in [(0, true), (1, true), (2, false)] {
            let channels = [ChannelId::v1_from_funding_txid(&txid, vout)].into();
            assert_eq!(funds(&funding(), &channels), is_funded);
        }
    }

    #[test]
    fn a_funding_is_found_in_the_state_by_its_id() {
        let tx = funding();
        let state = [&[9, 2, 0, 0, 0, 0, 1][..], &consensus::encode::serialize(&tx), &[1, 2]].concat();
        assert_eq!(find(&state, tx.compute_txid()), Some(tx));
        assert_eq!(find(&state, Txid::all_zeros()), None);
    }
}
