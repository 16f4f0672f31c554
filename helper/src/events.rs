//! LDK's events are the truth of what became of a payment. Each is written down before LDK may forget it.
use crate::channels;
use crate::lightning::{claim, give_back, MESSAGE_TLV};
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

/// Handles what a crash left in the queue, before anything can be asked.
pub fn drain(app: &App) -> Answer<()> {
    while let Some(event) = app.node.next_event() { handle(app, &event)? }
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
            app.store.tell();
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
    rows::change(db, &newest.key, |row| !row.is("completed"), |row| {
        row.end("completed", None);
        row.hash = hash.into();
        row.preimage = preimage;
        row.fee_msat = fee;
    })?;
    Ok(())
}

/// A payment of an offer that fails without a hash had no invoice yet.
fn failed(db: &Connection, id: &str, hash: Option<String>, reason: &str) -> rusqlite::Result<()> {
    let Some(newest) = rows::of_ldk(db, id)? else { return Ok(()) };
    rows::change(db, &newest.key, Row::is_on_its_way, |row| {
        row.end("failed", Some(reason));
        if let Some(hash) = hash { row.hash = hash }
    })?;
    Ok(())
}

fn claimable(app: &App, hash: [u8; 32], amount: u64, deadline: Option<u32>, message: Option<String>) -> Answer<()> {
    let deadline = deadline.map(u64::from);
    // A row that is failed remembers the deadline, so that the money is given back again after a crash.
    let news = |row: &Row| row.is("open") || row.claim_deadline != deadline;
    let known = app.store.run(|db| rows::change(db, &format!("in:{}", hex(&hash)), news, |row| {
        row.claim_deadline = deadline;
        if row.is("open") { row.state = if row.preimage.is_some() { "claiming" } else { "held" }.into() }
        if row.has_arrived() {
            row.received_msat = Some(amount);
            row.message = message;
        }
    }))?;
    match known.map(|(row, _)| row) {
        Some(row) if row.has_arrived() && row.preimage.is_some() => {
            if let Err(error) = claim(app, &row) {
                crate::log::say(format_args!("A payment could not be taken, and is given back: {}", error.message));
                app.store.run(|db| rows::change(db, &row.key, |_| true, |row| row.end("failed", Some("canceled"))))?;
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
    let (mut kind, mut preimage, mut note, mut offer, mut lsp_fee) = ("bolt11", None, None, None, None);
    match app.node.payment(&PaymentId(hash)).map(|details| details.kind) {
        Some(PaymentKind::Spontaneous { preimage: known, .. }) => (kind, preimage) = ("keysend", known),
        Some(PaymentKind::Bolt12Offer { preimage: known, payer_note, offer_id, .. }) => {
            (kind, preimage, note, offer) = ("offer", known, payer_note.map(|note| note.0), Some(hex(&offer_id.0)));
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
        row.preimage = preimage.map(|preimage| hex(&preimage.0)).or(row.preimage);
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
