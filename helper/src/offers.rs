//! Offers: made, and paid in one step, in which LDK asks for the invoice itself.
use crate::lightning::{refused_at_once, set};
use crate::open::App;
use crate::protocol::{hex, now_ms, refused, unknown, Answer, Params};
use crate::rows::{self, Row};
use ldk_node::bitcoin::hashes::{sha256, Hash};
use ldk_node::lightning::offers::offer::Offer;
use ldk_node::lightning::routing::router::RouteParametersConfig;
use ldk_node::NodeError;
use rusqlite::{params, Connection, OptionalExtension};
use serde_json::{json, Value};

/// The id that payer and payee calculate from the offer's fields. LDK has one of its own.
fn id_of(offer: &Offer) -> String { sha256::Hash::hash(offer.as_ref()).to_string() }

pub fn create_offer(app: &App, params: &Params) -> Answer<Value> {
    let amount = params.or_null("amount_msat", Params::msat)?;
    let description = params.or_null("description", Params::text)?;
    let offer = made(app, amount, description.unwrap_or(""), params.or_null("expires_at_secs", Params::number)?)?;
    let offer_id = id_of(&offer);
    app.store.run(|db| db.execute("INSERT OR REPLACE INTO offers (ldk_id, offer_id, description) VALUES (?1, ?2, ?3)",
        params![hex(&offer.id().0), offer_id, description]))?;
    let issuer = offer.issuer_signing_pubkey().map(|key| key.to_string());
    Ok(json!({"offer": offer.to_string(), "offer_id": offer_id, "issuer": issuer}))
}

/// ldk-node counts the expiry from now, in whole seconds: it is made again where a second passed meanwhile.
fn made(app: &App, amount: Option<u64>, description: &str, expires_at: Option<u64>) -> Answer<Offer> {
    let bolt12 = app.node.bolt12_payment();
    for _ in 0..5 {
        let secs = expires_at.map(|at| u32::try_from(at.saturating_sub(now_ms() / 1000)).ok().filter(|secs| *secs > 0)
            .ok_or_else(|| refused("The offer would have expired already, or would expire too late."))).transpose()?;
        let offer = match amount {
            Some(amount) => bolt12.receive(amount, description, secs, None),
            None => bolt12.receive_variable_amount(description, secs),
        }.map_err(|_| refused("An offer names a node by which this one is reached: connect to a peer, by a channel, first."))?;
        if offer.absolute_expiry().map(|at| at.as_secs()) == expires_at { return Ok(offer) }
    }
    Err(unknown("The offer could not be made in time."))
}

/// The id and description of the offer that LDK knows by that id.
pub fn own(db: &Connection, ldk_id: &str) -> rusqlite::Result<Option<(String, Option<String>)>> {
    db.query_row("SELECT offer_id, description FROM offers WHERE ldk_id = ?1", [ldk_id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

pub fn pay_offer(app: &App, params: &Params) -> Answer<Value> {
    let offer: Offer = params.parsed("offer")?;
    let amount = params.msat("amount_msat")?;
    let max_fee = params.msat("max_fee_msat")?;
    let message = params.or_null("message", Params::text)?.map(str::to_string);
    let asked = Row {
        kind: "offer".into(), amount_msat: Some(amount), message: message.clone(), offer_id: Some(id_of(&offer)),
        created_at: now_ms(), opens: app.opens, reference: Some(params.text("ref")?.into()), ..Row::default()
    };
    if app.store.run(|db| own(db, &hex(&offer.id().0)))?.is_some() { return Err(refused("The offer is this node's own.")) }
    let (row, taken) = app.store.run(|db| rows::ask_once(db, asked))?;
    if taken { return Ok(json!({"row": row.json(), "taken": true})) }
    let route = RouteParametersConfig { max_total_routing_fee_msat: Some(max_fee), ..Default::default() };
    let quantity = offer.expects_quantity().then_some(1);
    let said = app.store.naming.during(|| {
        match app.node.bolt12_payment().send_using_amount(&offer, amount, quantity, message, Some(route)) {
            Ok(id) => Ok(set(app, &row.key, |row| {
                row.state = "pending".into();
                row.ldk_id = Some(hex(&id.0));
            }).unwrap_or_else(|error| unnamed(error.message))),
            // LDK may have begun, and its id is lost.
            Err(error @ (NodeError::PersistenceFailed | NodeError::DuplicatePayment)) => unnamed(error.to_string()),
            Err(error) => Err(error),
        }
    });
    said.map_or_else(|error| refused_at_once(app, &row.key, error), |row| Ok(json!({"row": row.json(), "taken": false})))
}

fn unnamed(why: String) -> ! {
    crate::log::end(format_args!("A payment of an offer could not be named, and nothing may leave: {why}"))
}
