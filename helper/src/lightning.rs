//! Invoices and attempts to pay. A row is committed before LDK is asked to pay, and after it made an invoice.
use crate::open::App;
use crate::protocol::{hex, invalid, not_found, now_ms, refused, unknown, unreachable, Answer, Fail, Params};
use crate::rows::{self, Row};
use ldk_node::bitcoin::{hashes::{sha256, Hash}, secp256k1::PublicKey};
use ldk_node::lightning::{ln::channelmanager::PaymentId, routing::router::RouteParametersConfig};
use ldk_node::lightning_invoice::{Bolt11Invoice, Bolt11InvoiceDescription, Description, Sha256};
use ldk_node::lightning_types::payment::{PaymentHash, PaymentPreimage};
use ldk_node::payment::{PaymentDirection, PaymentKind, PaymentStatus};
use ldk_node::{CustomTlvRecord, NodeError};
use serde_json::{json, Value};

pub const MESSAGE_TLV: u64 = 34349334;

pub fn create_invoice(app: &App, params: &Params) -> Answer<Value> {
    let hash: [u8; 32] = params.fixed("hash")?;
    let preimage: Option<[u8; 32]> = params.or_null("preimage", Params::fixed)?;
    let expiry = u32::try_from(params.number("expiry_secs")?).map_err(|_| invalid("expiry_secs is too large."))?;
    let amount = params.or_null("amount_msat", Params::msat)?;
    let key = hex(&hash);
    let (known, paid) = app.store.run(|db| Ok((rows::incoming(db, &key)?, rows::newest(db, &key)?)))?;
    if let Some(row) = known { return Ok(invoice_answer(&row, false)) }
    if paid.is_some() { return Err(refused("This node itself pays that hash.")) }

    let invoice = made_invoice(app, params, amount, expiry, PaymentHash(hash))?;
    let mut row = Row {
        key: format!("in:{key}"), direction: "in".into(), kind: "bolt11".into(), hash: key.clone(),
        preimage: preimage.map(|preimage| hex(&preimage)), bolt11: Some(invoice.to_string()), state: "open".into(),
        amount_msat: amount, lsp_fee_msat: promised_fee(app, hash), created_at: now_ms(),
        expires_at: invoice.expires_at().map(|time| time.as_millis() as u64),
        secret: Some(hex(&invoice.payment_secret().0)), opens: app.opens, ..Row::default()
    };
    let (row, first) = app.store.run(|db| Ok(match rows::incoming(db, &key)? {
        Some(row) => (row, false),
        None => { rows::put(db, &mut row)?; (row, true) }
    }))?;
    Ok(invoice_answer(&row, first))
}

fn invoice_answer(row: &Row, first: bool) -> Value {
    json!({"row": row.json(), "secret": row.secret, "first": first})
}

fn made_invoice(app: &App, params: &Params, amount: Option<u64>, expiry: u32, hash: PaymentHash) -> Answer<Bolt11Invoice> {
    let description = match params.or_null("description_hash", Params::fixed::<32>)? {
        Some(hash) => Bolt11InvoiceDescription::Hash(Sha256(sha256::Hash::from_byte_array(hash))),
        None => Bolt11InvoiceDescription::Direct(Description::new(params.text("description")?.into())
            .map_err(|_| invalid("description is too long."))?),
    };
    let bolt11 = app.node.bolt11_payment();
    let made = match (params.or_null("max_lsp_fee_msat", Params::msat)?, amount) {
        (None, Some(amount)) => bolt11.receive_for_hash(amount, &description, expiry, hash),
        (None, None) => bolt11.receive_variable_amount_for_hash(&description, expiry, hash),
        (limit, Some(amount)) => bolt11.receive_via_jit_channel_for_hash(amount, &description, expiry, limit, hash),
        (_, None) => return Err(refused("The LSP's fee for an invoice without amount cannot be bounded: name an amount.")),
    };
    made.map_err(|error| match error {
        // No row tells of the invoice, so nobody gets it.
        NodeError::PersistenceFailed => unreachable("The invoice could not be stored: look after the disk."),
        NodeError::ConnectionFailed => unreachable("The LSP cannot be reached: check --lsp, or try again later."),
        NodeError::LiquidityRequestFailed => unreachable("The LSP did not say what a channel for this amount costs, or \
            sells none: try again later, or another amount."),
        NodeError::LiquidityFeeTooHigh => {
            let fee = crate::log::asked_fee().map_or(String::new(), |fee| format!("{} sats for this channel, ", fee.div_ceil(1000)));
            refused(format!("The LSP asks for {fee}more than --max-lsp-fee."))
        }
        other => other.into(),
    })
}

/// What the LSP says that it takes for opening a channel.
fn promised_fee(app: &App, hash: [u8; 32]) -> Option<u64> {
    match app.node.payment(&PaymentId(hash))?.kind {
        PaymentKind::Bolt11Jit { lsp_fee_limits, .. } => lsp_fee_limits.max_total_opening_fee_msat,
        _ => None,
    }
}

pub fn cancel_invoice(app: &App, params: &Params) -> Answer<Value> {
    let hash: [u8; 32] = params.fixed("hash")?;
    let _order = app.in_order();
    let (row, canceled) = app.store.run(|db| rows::change(db, &format!("in:{}", hex(&hash)),
        |row| row.is("open") || row.is("held") && row.preimage.is_none(),
        |row| row.end("failed", Some("canceled"))))?.ok_or_else(|| not_found("There is no invoice of that hash."))?;
    if canceled { give_back(app, hash) }
    if row.is("failed") { Ok(row.json()) } else { Err(refused("The invoice is paid.")) }
}

/// Gives back what is held for the hash, and what may still arrive. The start of the helper does it again.
pub fn give_back(app: &App, hash: [u8; 32]) {
    if let Err(error) = app.node.bolt11_payment().fail_for_hash(PaymentHash(hash)) {
        crate::log::say(format_args!("A payment could not be given back: {error}"));
    }
}

pub fn settle_invoice(app: &App, params: &Params) -> Answer<Value> {
    let preimage: [u8; 32] = params.fixed("preimage")?;
    let hash = sha256::Hash::hash(&preimage).to_byte_array();
    let _order = app.in_order();
    let (row, _) = app.store.run(|db| rows::change(db, &format!("in:{}", hex(&hash)),
        |row| row.is("held") && row.preimage.is_none(),
        |row| row.preimage = Some(hex(&preimage))))?.ok_or_else(|| not_found("There is no invoice of that hash."))?;
    if row.is("completed") { return Ok(row.json()) }
    if !row.is("held") { return Err(refused(format!("Nothing is held: the invoice is {}.", row.state))) }
    claim(app, &row)?;
    Ok(app.store.run(|db| rows::by_key(db, &row.key))?.unwrap_or(row).json())
}

/// Takes what is held for the row. Taking it again is harmless.
pub fn claim(app: &App, row: &Row) -> Answer<()> {
    let preimage = row.preimage.as_deref().and_then(crate::protocol::unhex).and_then(|bytes| bytes.try_into().ok());
    let (Some(hash), Some(preimage)) = (row.payment_hash(), preimage) else { return Err(unknown("The row has no preimage.")) };
    let amount = row.received_msat.unwrap_or(0);
    app.node.bolt11_payment().claim_for_hash(PaymentHash(hash), amount, PaymentPreimage(preimage)).map_err(Fail::from)
}

pub fn pay_invoice(app: &App, params: &Params) -> Answer<Value> {
    let invoice: Bolt11Invoice = params.parsed("bolt11")?;
    let amount = invoice.amount_milli_satoshis().map_or_else(|| params.msat("amount_msat"), Ok)?;
    let hash = invoice.payment_hash().to_byte_array();
    let row = Row { kind: "bolt11".into(), bolt11: Some(invoice.to_string()), ..new_attempt(app, params, hash, amount)? };
    attempt(app, params, row, hash, |route| app.node.bolt11_payment().send_using_amount(&invoice, amount, route))
}

pub fn pay_keysend(app: &App, params: &Params) -> Answer<Value> {
    let preimage: [u8; 32] = params.fixed("preimage")?;
    let payee: PublicKey = params.parsed("node_pk")?;
    let amount = params.msat("amount_msat")?;
    let message = params.or_null("message", Params::text)?.map(str::to_string);
    let hash = sha256::Hash::hash(&preimage).to_byte_array();
    let row = Row { kind: "keysend".into(), message: message.clone(), ..new_attempt(app, params, hash, amount)? };
    attempt(app, params, row, hash, |route| {
        let tlvs = message.map(|text| CustomTlvRecord { type_num: MESSAGE_TLV, value: text.into_bytes() });
        app.node.spontaneous_payment().send_with_preimage_and_custom_tlvs(
            amount, payee, tlvs.into_iter().collect(), PaymentPreimage(preimage), route)
    })
}

fn new_attempt(app: &App, params: &Params, hash: [u8; 32], amount: u64) -> Answer<Row> {
    let reference = params.or_null("ref", Params::text)?.map(str::to_string);
    Ok(Row { hash: hex(&hash), amount_msat: Some(amount), created_at: now_ms(), opens: app.opens, reference, ..Row::default() })
}

/// Writes the attempt down, calls LDK, and writes down what LDK said at once. The rest is told by events.
fn attempt(
    app: &App, params: &Params, row: Row, hash: [u8; 32],
    send: impl FnOnce(Option<RouteParametersConfig>) -> Result<PaymentId, NodeError>,
) -> Answer<Value> {
    let max_fee = params.msat("max_fee_msat")?;
    let (row, taken) = {
        let _order = app.in_order();
        let asked = app.store.run(|db| {
            if rows::incoming(db, &row.hash)?.is_some() { return Ok(None) }
            rows::ask(db, row).map(Some)
        })?;
        asked.ok_or_else(|| refused("That hash belongs to an invoice of this node."))?
    };
    if taken { return Ok(json!({"row": row.json(), "taken": true})) }
    forget_ended(app, hash)?;
    let route = RouteParametersConfig { max_total_routing_fee_msat: Some(max_fee), ..Default::default() };
    match send(Some(route)) {
        Ok(_) => Ok(json!({"row": set(app, &row.key, |row| row.state = "pending".into())?.json(), "taken": false})),
        Err(error @ (NodeError::PersistenceFailed | NodeError::DuplicatePayment)) => {
            Err(unknown(format!("{error} What became of the attempt is told by its row.")))
        }
        Err(error) => refused_at_once(app, &row.key, error),
    }
}

/// Ends an attempt that LDK certainly did not take.
pub fn refused_at_once(app: &App, key: &str, error: NodeError) -> Answer<Value> {
    let reason = format!("{error:?}");
    set(app, key, |row| row.end("failed", Some(&reason)))?;
    Err(refused(format!("The payment was not sent: {reason}.")))
}

/// Changes the row if LDK's events have not changed it already.
pub fn set(app: &App, key: &str, to: impl FnOnce(&mut Row)) -> Answer<Row> {
    let (row, _) = app.store.run(|db| rows::change(db, key, |row| row.is("asked"), to))?.ok_or_else(|| unknown("The row is gone."))?;
    Ok(row)
}

/// ldk-node's own list may lag behind LDK's events: an attempt that our rows know as failed must not block a new one. One
/// that has paid blocks it, until the event comes that tells of it.
fn forget_ended(app: &App, hash: [u8; 32]) -> Answer<()> {
    let known = app.node.payment(&PaymentId(hash));
    let blocks = known.is_some_and(|known| known.direction == PaymentDirection::Outbound && known.status == PaymentStatus::Pending);
    if blocks { app.node.remove_payment(&PaymentId(hash))? }
    Ok(())
}

pub fn row(app: &App, params: &Params) -> Answer<Value> {
    let (key, reference) = (params.or_null("key", Params::text)?, params.or_null("ref", Params::text)?);
    let row = app.store.run(|db| match (key, reference) {
        (Some(key), _) => rows::by_key(db, key),
        (None, Some(reference)) => rows::of_reference(db, reference),
        (None, None) => rows::newest(db, params.text("hash").unwrap_or_default()),
    })?;
    Ok(row.map_or(Value::Null, |row| row.json()))
}

pub fn rows(app: &App, params: &Params) -> Answer<Value> {
    let (after, limit) = (params.number("after")?, params.number("limit")?);
    let rows = app.store.run(|db| rows::after(db, after, limit))?;
    Ok(json!({"rows": rows.iter().map(Row::json).collect::<Vec<_>>()}))
}
