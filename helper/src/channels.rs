//! Channels: what there is, and opening and closing them. An opening is written down before LDK is asked.
use crate::fundings::{has_paid, is_back, is_paid};
use crate::open::App;
use crate::protocol::{hex, msat, not_found, refused, unknown, Answer, Fail, Params};
use ldk_node::bitcoin::secp256k1::PublicKey;
use ldk_node::lightning::{events::ClosureReason, ln::msgs::SocketAddress, routing::gossip::NodeId};
use ldk_node::{ChannelDetails, Event, LightningBalance, NodeError, PendingSweepBalance};
use rusqlite::{params, Connection, OptionalExtension};
use serde_json::{json, Map, Value};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an opening waits for the peer's word before it returns the channel as it is.
const PEER_ANSWERS: Duration = Duration::from_secs(15);
/// Two anchor outputs of 330 sat.
const ANCHORS_MSAT: u64 = 660_000;

struct Ask { opens: u64, ldk_id: Option<String>, funding: Option<String>, closed: Option<String> }

fn ask_of(db: &Connection, user_id: &str) -> rusqlite::Result<Option<Ask>> {
    db.query_row("SELECT opens, ldk_id, funding, closed FROM channel_asks LEFT JOIN channels USING (ldk_id) \
        WHERE user_id = ?1", [user_id], |row| {
        Ok(Ask { opens: row.get(0)?, ldk_id: row.get(1)?, funding: row.get(2)?, closed: row.get(3)? })
    }).optional()
}

/// Writes down what an event says of a channel.
pub fn learn(app: &App, event: &Event) -> Answer<()> {
    let (id, funding, closed) = match event {
        Event::ChannelPending { user_channel_id, funding_txo, .. } => (user_channel_id, Some(funding_txo.to_string()), None),
        Event::ChannelClosed { user_channel_id, reason, .. } => {
            (user_channel_id, None, Some(reason.as_ref().map_or("unknown".into(), ToString::to_string)))
        }
        _ => return Ok(()),
    };
    // LDK then also gives up what waited in its older manager, which may have been sent since.
    let is_outdated = matches!(event, Event::ChannelClosed { reason: Some(ClosureReason::OutdatedChannelManager), .. });
    app.store.run(|db| {
        if is_outdated { crate::rows::cut(db, None)? }
        db.execute("INSERT INTO channels (ldk_id, funding, closed) VALUES (?1, ?2, ?3) ON CONFLICT (ldk_id) \
            DO UPDATE SET funding = coalesce(?2, funding), closed = coalesce(?3, closed)", params![ldk_text(id.0), funding, closed]).map(|_| ())
    })
}

/// Writes beside the state who the other sides of the channels are, and where they are reached: where the state is lost,
/// they are asked to close. Those of channels that are closed stay.
pub fn note_peers(app: &App) {
    let path = Path::new(&app.node.config().storage_dir_path).join("peers.json");
    let before: Map<String, Value> = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let mut now = before.clone();
    let (peers, graph) = (app.node.list_peers(), app.node.network_graph());
    for pk in app.node.list_channels().iter().map(|channel| channel.counterparty_node_id) {
        let said = graph.node(&NodeId::from_pubkey(&pk))
            .and_then(|node| Some(node.announcement_info?.addresses().first()?.to_string()));
        let lsp = app.lsp.as_ref().filter(|(lsp, _)| *lsp == pk).map(|(_, address)| address.to_string());
        let reached = peers.iter().find(|peer| peer.node_id == pk && peer.is_persisted).map(|peer| peer.address.to_string());
        let known = now.entry(pk.to_string()).or_insert(Value::Null);
        if let Some(address) = said.or(lsp).or(reached) { *known = address.into() }
    }
    if now == before { return }
    let part = path.with_extension("part");
    if let Err(error) = std::fs::write(&part, json!(now).to_string()).and_then(|()| std::fs::rename(&part, &path)) {
        crate::log::say(format_args!("{} cannot be written: {error}", path.display()));
    }
}

fn ldk_text(id: u128) -> String { format!("{id:032x}") }

pub fn channels(app: &App) -> Answer<Value> {
    let balances = app.node.list_balances().lightning_balances;
    let list = app.node.list_channels();
    list.iter().map(|channel| shown(app, channel, &balances)).collect::<Answer<Vec<_>>>().map(Value::Array)
}

fn shown(app: &App, channel: &ChannelDetails, balances: &[LightningBalance]) -> Answer<Value> {
    let ldk_id = ldk_text(channel.user_channel_id.0);
    let asked: Option<String> = app.store.run(|db| {
        db.query_row("SELECT user_id FROM channel_asks WHERE ldk_id = ?1", [&ldk_id], |row| row.get(0)).optional()
    })?;
    let value = channel.channel_value_sats * 1000;
    let reserve = channel.unspendable_punishment_reserve.map(|sats| sats * 1000);
    let ours = ours_msat(channel, balances);
    Ok(json!({
        "id": hex(&channel.channel_id.0), "user_id": asked.unwrap_or(ldk_id), "peer": channel.counterparty_node_id.to_string(),
        "funding": channel.funding_txo.map(|place| place.to_string()), "usable": channel.is_usable,
        "ready": channel.is_channel_ready, "value_msat": msat(value), "ours_msat": msat(ours),
        "theirs_msat": msat(theirs_msat(channel).min(value - ours)), "reserve_msat": msat(reserve),
        "out_msat": msat(channel.next_outbound_htlc_limit_msat),
        "in_msat": msat(channel.inbound_capacity_msat.min(channel.inbound_htlc_maximum_msat.unwrap_or(u64::MAX))),
    }))
}

/// To the millisatoshi where more than the reserve is ours; else as a closing would round it, with its fee.
fn ours_msat(channel: &ChannelDetails, balances: &[LightningBalance]) -> u64 {
    let reserve = channel.unspendable_punishment_reserve.unwrap_or(0) * 1000;
    let value = channel.channel_value_sats * 1000;
    if channel.outbound_capacity_msat == 0 {
        return balances.iter().find_map(|balance| match balance {
            LightningBalance::ClaimableOnChannelClose { channel_id, amount_satoshis, transaction_fee_satoshis, .. }
                if *channel_id == channel.channel_id => Some((amount_satoshis + transaction_fee_satoshis) * 1000),
            _ => None,
        }).unwrap_or(0).min(value);
    }
    let ours = channel.outbound_capacity_msat + reserve;
    // LDK leaves the opener's anchors out of what can be sent, and does not say what is theirs below their reserve.
    let most = ours + theirs_msat(channel) + ANCHORS_MSAT;
    let fits = most == value || channel.inbound_capacity_msat == 0 && (ours + ANCHORS_MSAT..=most).contains(&value);
    let anchors = if channel.is_outbound && fits { ANCHORS_MSAT } else { 0 };
    (ours + anchors).min(value)
}

fn theirs_msat(channel: &ChannelDetails) -> u64 {
    channel.inbound_capacity_msat + channel.counterparty_unspendable_punishment_reserve * 1000
}

/// What is ours in channels, in those that close, and on its way from there to the wallet.
pub fn lightning_msat(app: &App) -> u64 {
    let balances = app.node.list_balances();
    let open = app.node.list_channels();
    let in_channels: u64 = open.iter().filter(|channel| is_paid(app, channel)).map(|channel| ours_msat(channel, &balances.lightning_balances)).sum();
    let closing_sats: u64 = balances.lightning_balances.iter().map(|balance| match balance {
        LightningBalance::ClaimableOnChannelClose { channel_id, .. } if open.iter().any(|channel| channel.channel_id == *channel_id) => 0,
        // An agreed closing pays the wallet itself, which counts it as soon as it knows it.
        LightningBalance::ClaimableAwaitingConfirmations { channel_id, .. } | LightningBalance::ClaimableOnChannelClose { channel_id, .. }
            if is_back(app, *channel_id) => 0,
        LightningBalance::ClaimableAwaitingConfirmations { amount_satoshis, .. }
        | LightningBalance::ContentiousClaimable { amount_satoshis, .. }
        | LightningBalance::CounterpartyRevokedOutputClaimable { amount_satoshis, .. } => *amount_satoshis,
        // The opener alone pays that fee.
        LightningBalance::ClaimableOnChannelClose { channel_id, amount_satoshis, transaction_fee_satoshis, .. }
            if *transaction_fee_satoshis == 0 || has_paid(app, *channel_id) => *amount_satoshis,
        _ => 0,
    }).sum();
    let swept_sats: u64 = balances.pending_balances_from_channel_closures.iter().map(|sweep| match sweep {
        PendingSweepBalance::PendingBroadcast { amount_satoshis, .. } => *amount_satoshis,
        _ => 0,
    }).sum();
    in_channels + (closing_sats + swept_sats) * 1000
}

/// The transactions by which closed channels come back to the wallet.
pub fn sweeps(app: &App) -> Vec<String> {
    app.node.list_balances().pending_balances_from_channel_closures.iter().filter_map(|sweep| match sweep {
        PendingSweepBalance::BroadcastAwaitingConfirmation { latest_spending_txid, .. }
        | PendingSweepBalance::AwaitingThresholdConfirmations { latest_spending_txid, .. } => Some(latest_spending_txid.to_string()),
        PendingSweepBalance::PendingBroadcast { .. } => None,
    }).collect()
}

pub fn open_channel(app: &App, params: &Params) -> Answer<Value> {
    let user_id = hex(&params.fixed::<16>("user_id")?);
    let peer = params.inside("peer");
    let (pk, address): (PublicKey, SocketAddress) = (peer.parsed("pk")?, peer.parsed("address")?);
    let value_sat = params.sats("value_msat")?;
    let _spending = app.spending();
    if let Some(known) = known_channel(app, &user_id, &pk, value_sat)? { return settled(app, &user_id, known, false) }
    crate::fundings::settle(app)?;
    if crate::spend::is_unpublished(app)? {
        return Err(refused("A payment on chain is signed and not published yet, and LDK could spend its coins: try again later."));
    }
    app.store.run(|db| db.execute("INSERT OR REPLACE INTO channel_asks (user_id, peer, value_sat, opens) VALUES (?1, ?2, ?3, ?4)",
        params![user_id, pk.to_string(), value_sat, app.opens]))?;
    let opened = app.node.open_channel(pk, address, value_sat, None, None).or_else(|error| {
        if error != NodeError::PersistenceFailed {
            app.store.run(|db| db.execute("DELETE FROM channel_asks WHERE user_id = ?1", [&user_id]))?;
        }
        Err(Fail::from(error))
    })?;
    let ldk_id = ldk_text(opened.0);
    name_channel(app, &user_id, &ldk_id)?;
    settled(app, &user_id, ldk_id, true)
}

/// Whether the channel is now the one of the user's id: it is not where it has another one.
fn name_channel(app: &App, user_id: &str, ldk_id: &str) -> Answer<bool> {
    let named = app.store.run(|db| db.execute("UPDATE OR IGNORE channel_asks SET ldk_id = ?2 WHERE user_id = ?1", [user_id, ldk_id]))?;
    Ok(named == 1)
}

/// LDK's id of the channel that was asked for under the user's id, if it is or was there.
fn known_channel(app: &App, user_id: &str, peer: &PublicKey, value_sat: u64) -> Answer<Option<String>> {
    let Some(ask) = app.store.run(|db| ask_of(db, user_id))? else { return Ok(None) };
    let list = app.node.list_channels();
    let Some(ldk_id) = ask.ldk_id else {
        if ask.opens == app.opens { return Err(unknown("The channel is being opened. Ask again in a while.")) }
        // The process ended between LDK's yes and our note of it: the channel that nobody else asked for is the one.
        for channel in list.iter().filter(|one| {
            one.is_outbound && one.counterparty_node_id == *peer && one.channel_value_sats == value_sat
        }) {
            let ldk_id = ldk_text(channel.user_channel_id.0);
            if name_channel(app, user_id, &ldk_id)? { return Ok(Some(ldk_id)) }
        }
        return Ok(None);
    };
    let listed = list.iter().any(|channel| ldk_text(channel.user_channel_id.0) == ldk_id);
    // A channel without funding is forgotten when the process ends, and no event tells of it.
    let forgotten = !listed && ask.funding.is_none() && ask.closed.is_none() && ask.opens < app.opens;
    Ok(if forgotten { None } else { Some(ldk_id) })
}

/// The channel when the peer has agreed to it, or as it is after a while.
fn settled(app: &App, user_id: &str, ldk_id: String, first: bool) -> Answer<Value> {
    let until = Instant::now() + PEER_ANSWERS;
    loop {
        let ask = app.store.run(|db| ask_of(db, user_id))?.ok_or_else(|| unknown("The channel is not known."))?;
        if let Some(reason) = ask.closed {
            let was = if ask.funding.is_some() { "was opened, and is closed" } else { "was not opened" };
            return Err(refused(format!("The channel {was}: {reason}")));
        }
        let channel = app.node.list_channels().into_iter().find(|one| ldk_text(one.user_channel_id.0) == ldk_id);
        let over = Instant::now() >= until;
        match channel {
            Some(channel) if ask.funding.is_some() || over => {
                let mut shown = shown(app, &channel, &app.node.list_balances().lightning_balances)?;
                shown["first"] = first.into();
                return Ok(shown);
            }
            None if over => return Err(unknown("The channel is not listed. Ask again in a while.")),
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

pub fn close_channel(app: &App, params: &Params) -> Answer<Value> {
    let id = hex(&params.fixed::<32>("id")?);
    let list = app.node.list_channels();
    let channel = list.iter().find(|channel| hex(&channel.channel_id.0) == id)
        .ok_or_else(|| not_found("There is no such channel."))?;
    let _order = app.in_order();
    if params.flag("forced") {
        app.node.force_close_channel(&channel.user_channel_id, channel.counterparty_node_id, None)?;
    } else {
        app.node.close_channel(&channel.user_channel_id, channel.counterparty_node_id)?;
    }
    Ok(json!({}))
}

pub fn connect(app: &App, params: &Params) -> Answer<Value> {
    let pk = params.parsed("pk")?;
    if params.flag("again") { let _ = app.node.disconnect(pk); }
    app.node.connect(pk, params.parsed("address")?, true)?;
    Ok(json!({}))
}
