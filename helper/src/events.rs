//! LDK's events are the truth of what became of a payment. Each is written down before LDK may forget it.
use crate::channels;
use crate::lightning::{claim, give_back, preimage_of, MESSAGE_TLV};
use crate::offers;
use crate::open::App;
use crate::protocol::{hex, now_ms, Answer};
use crate::rows::{self, Row};
use ldk_node::lightning::events::PaymentFailureReason;
use ldk_node::lightning::ln::channelmanager::PaymentId;
use ldk_node::payment::PaymentKind;
use ldk_node::{CustomTlvRecord, Event};
use rusqlite::Connection;
use std::sync::Arc;

/// Larger amounts have an output of their own at every fee that LDK agrees to.
const SMALL_MSAT: u64 = 10_000_000;

/// Handles what a crash left in the queue, before anything can be asked.
pub fn drain(app: &App) -> Answer<()> {
    let mut left = 10_000;
    while let (Some(event), true) = (app.node.next_event(), left > 0) {
        handle(app, &event)?;
        left -= 1;
    }
    Ok(())
}

/// Handles events for ever. A state that cannot be written ends the process: nothing may be forgotten.
pub fn follow(app: Arc<App>) {
    loop {
        let event = app.node.wait_next_event();
        if let Err(error) = handle(&app, &event) { panic!("An event could not be written down: {}", error.message) }
    }
}

fn handle(app: &App, event: &Event) -> Answer<()> {
    // What the event tells of is on disk before it is handed on, and what is done for it before it is forgotten.
    app.store.step.settle(&app.store);
    let _order = app.in_order();
    match event {
        Event::PaymentSuccessful { payment_id: Some(id), payment_hash, payment_preimage, fee_paid_msat } => {
            let preimage = payment_preimage.map(|preimage| hex(&preimage.0));
            app.store.run(|db| succeeded(db, &hex(&id.0), &hex(&payment_hash.0), preimage, *fee_paid_msat))?;
        }
        Event::PaymentFailed { payment_id: Some(id), payment_hash, reason } => {
            let hash = payment_hash.map(|hash| hex(&hash.0));
            app.store.run(|db| failed(db, &hex(&id.0), hash, &format!("{:?}", reason.unwrap_or(PaymentFailureReason::UnexpectedError))))?;
        }
        Event::PaymentClaimable { payment_hash, claimable_amount_msat, claim_deadline, custom_records, .. } => {
            claimable(app, payment_hash.0, *claimable_amount_msat, *claim_deadline, message_of(custom_records))?;
        }
        Event::PaymentReceived { payment_hash, amount_msat, custom_records, .. } => {
            received(app, payment_hash.0, *amount_msat, message_of(custom_records))?;
        }
        Event::ChannelPending { .. } | Event::ChannelReady { .. } | Event::ChannelClosed { .. } => {
            channels::learn(app, event)?;
            channels::note_peers(app);
            app.store.raise_chain();
        }
        // LDK has named every payment for years.
        Event::PaymentSuccessful { payment_id: None, .. } | Event::PaymentFailed { payment_id: None, .. }
        | Event::PaymentForwarded { .. } | Event::SplicePending { .. } | Event::SpliceFailed { .. } => {}
    }
    app.store.step.settle(&app.store);
    app.node.event_handled()?;
    Ok(())
}

fn succeeded(db: &Connection, id: &str, hash: &str, preimage: Option<String>, fee: Option<u64>) -> rusqlite::Result<()> {
    let Some(newest) = rows::of_ldk(db, id)? else { return Ok(()) };
    rows::change(db, &newest.key, |row| {
        let news = !row.is("completed");
        if news {
            row.end("completed", None);
            row.hash = hash.into();
            row.preimage = preimage;
            row.fee_msat = fee;
        }
        news
    })?;
    Ok(())
}

/// A payment of an offer that fails without a hash had no invoice yet.
fn failed(db: &Connection, id: &str, hash: Option<String>, reason: &str) -> rusqlite::Result<()> {
    let Some(newest) = rows::of_ldk(db, id)? else { return Ok(()) };
    rows::change(db, &newest.key, |row| {
        let news = row.is("asked") || row.is("pending");
        // An amount too small for an output of its own is lost with its channel, and LDK calls that a failure: the
        // money is gone, and the payee may have got it from the node before it.
        let lost = row.cut && hash.is_some() && row.amount_msat.is_some_and(|amount| amount < SMALL_MSAT);
        if news {
            row.end("failed", Some(if lost { "channel_closed" } else { reason }));
            if let Some(hash) = hash { row.hash = hash }
        }
        news
    })?;
    Ok(())
}

fn claimable(app: &App, hash: [u8; 32], amount: u64, deadline: Option<u32>, message: Option<String>) -> Answer<()> {
    let row = app.store.run(|db| rows::change(db, &format!("in:{}", hex(&hash)), |row| {
        // A row that is failed remembers the deadline, so that the money is given back again after a crash.
        let wanted = row.is("open") || row.has_arrived();
        let news = row.is("open") || row.claim_deadline != deadline.map(u64::from);
        row.claim_deadline = deadline.map(u64::from);
        if row.is("open") { row.state = if row.preimage.is_some() { "claiming" } else { "held" }.into() }
        if wanted {
            row.received_msat = Some(amount);
            row.message = message;
        }
        news
    }))?;
    match row {
        Some(row) if row.has_arrived() && row.preimage.is_some() => {
            if let Err(error) = claim(app, &row) {
                crate::log::say(format_args!("A payment could not be taken, and is given back: {}", error.message));
                app.store.run(|db| rows::change(db, &row.key, |row| { row.end("failed", Some("canceled")); true }))?;
                give_back(app, hash);
            }
        }
        Some(row) if row.is("held") => {}
        Some(row) if row.is("completed") => claim(app, &row)?,
        _ => give_back(app, hash),
    }
    Ok(())
}

fn received(app: &App, hash: [u8; 32], amount: u64, message: Option<String>) -> Answer<()> {
    let details = app.node.payment(&PaymentId(hash));
    let preimage = details.as_ref().and_then(|details| preimage_of(&details.kind));
    let (mut kind, mut note, mut offer, mut lsp_fee) = ("bolt11", None, None, None);
    match details.map(|details| details.kind) {
        Some(PaymentKind::Spontaneous { .. }) => kind = "keysend",
        Some(PaymentKind::Bolt12Offer { payer_note, offer_id, .. }) => {
            (kind, note, offer) = ("offer", payer_note.map(|note| note.0), Some(hex(&offer_id.0)));
        }
        Some(PaymentKind::Bolt11Jit { counterparty_skimmed_fee_msat, .. }) => lsp_fee = counterparty_skimmed_fee_msat,
        _ => {}
    }
    let text = hex(&hash);
    app.store.run(|db| {
        let known = rows::incoming(db, &text)?;
        if known.as_ref().is_some_and(|row| row.is("completed")) { return Ok(()) }
        let mut row = known.unwrap_or_else(|| Row {
            key: format!("in:{text}"), direction: "in".into(), kind: kind.into(), hash: text.clone(),
            created_at: now_ms(), opens: app.opens, ..Row::default()
        });
        row.end("completed", None);
        row.received_msat = Some(amount);
        row.preimage = preimage.or(row.preimage);
        row.message = message.or(note).or(row.message);
        if let Some(own) = offer {
            if let Some((id, description)) = offers::own(db, &own)? { (row.offer_id, row.description) = (Some(id), description) }
        }
        // What the LSP promised to take at most gives way to what it took.
        if row.lsp_fee_msat.is_some() || lsp_fee.is_some() { row.lsp_fee_msat = Some(lsp_fee.unwrap_or(0)) }
        rows::put(db, &mut row)
    })
}

fn message_of(records: &[CustomTlvRecord]) -> Option<String> {
    records.iter().find(|record| record.type_num == MESSAGE_TLV).map(|record| String::from_utf8_lossy(&record.value).into_owned())
}
