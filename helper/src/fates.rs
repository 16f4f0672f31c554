//! What time decides: invoices that expire, money that was held too long, and attempts of an earlier run whose end
//! no event tells.
use crate::lightning::{claim, give_back};
use crate::open::App;
use crate::protocol::{now_ms, unhex, Answer};
use crate::rows::{self, Row};
use ldk_node::lightning::ln::channelmanager::PaymentId;
use ldk_node::payment::PaymentStatus;
use std::sync::Arc;
use std::time::Duration;

/// LDK takes part in a payment for 10 seconds after it was asked; its queue of events is long empty then.
const SETTLED_AFTER: Duration = Duration::from_secs(60);
/// With a known preimage, what is held is taken long before this many blocks have passed.
const BLOCKS_OF_GRACE: u64 = 6;

/// Does again what a crash may have cut: takes what is held with a known preimage, gives back what is not wanted.
pub fn resume(app: &App) -> Answer<()> {
    let height = u64::from(app.node.status().current_best_block.height);
    let (held, unwanted) = app.store.run(|db| Ok((rows::arrived(db)?, rows::given_back(db, height)?)))?;
    for row in held.iter().filter(|row| row.preimage.is_some()) {
        if let Err(error) = claim(app, row) { crate::log::say(format_args!("A payment could not be taken: {}", error.message)) }
    }
    for hash in unwanted.iter().filter_map(Row::payment_hash) { give_back(app, hash) }
    // See naming.rs.
    let asked = app.store.run(|db| rows::in_state(db, "out", "asked"))?;
    for row in asked.iter().filter(|row| row.kind == "offer") { end_unsent(app, row)? }
    Ok(())
}

pub fn follow(app: Arc<App>) {
    for seconds in 0u64.. {
        std::thread::sleep(Duration::from_secs(1));
        let looked = look(&app).and_then(|()| if seconds % 10 == 0 { judge_left(&app) } else { Ok(()) });
        if let Err(error) = looked { crate::log::say(format_args!("{}", error.message)) }
    }
}

fn look(app: &App) -> Answer<()> {
    let height = u64::from(app.node.status().current_best_block.height);
    let now = now_ms();
    let (open, held) = app.store.run(|db| Ok((rows::in_state(db, "in", "open")?, rows::arrived(db)?)))?;
    for row in open.iter().filter(|row| row.expires_at.is_some_and(|at| at <= now)) { expire(app, row)? }
    for row in &held {
        let grace = if row.preimage.is_some() { BLOCKS_OF_GRACE } else { 0 };
        if row.claim_deadline.is_some_and(|deadline| height >= deadline + grace) { expire(app, row)? }
    }
    Ok(())
}

fn judge_left(app: &App) -> Answer<()> {
    if app.started.elapsed() < SETTLED_AFTER || !app.store.manager_written() { return Ok(()) }
    let left = app.store.run(|db| {
        let mut rows = rows::in_state(db, "out", "asked")?;
        rows.extend(rows::in_state(db, "out", "pending")?);
        Ok(rows)
    })?;
    for row in left.iter().filter(|row| row.opens < app.opens) { judge(app, row)? }
    Ok(())
}

fn expire(app: &App, row: &Row) -> Answer<()> {
    let _order = app.in_order();
    let expired = app.store.run(|db| rows::change(db, &row.key,
        |now| now.state == row.state && now.preimage == row.preimage, |now| now.end("failed", Some("expired"))))?;
    if let (Some((_, true)), Some(hash)) = (expired, row.payment_hash()) { give_back(app, hash) }
    Ok(())
}

/// An attempt of an earlier run that LDK knows nothing of was never sent: LDK writes a monitor before any of it leaves,
/// and takes what it finds in a monitor into its manager at the start. Monitors also name what is long over, so after
/// an earlier attempt of the hash only the manager counts. ldk-node's own list is no proof: it is written before LDK's
/// manager is.
fn judge(app: &App, row: &Row) -> Answer<()> {
    let id = row.ldk_id.as_deref().unwrap_or(&row.hash);
    let Some(id) = unhex(id).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) else { return Ok(()) };
    let first = row.ldk_id.is_some() || app.store.run(|db| db.query_row(
        "SELECT COUNT(*) FROM rows WHERE hash = ?1 AND direction = 'out'", [&row.hash], |row| row.get::<_, u64>(0)))? == 1;
    let named = app.store.names("", Some("manager"), &id)? || app.store.names("", Some("events"), &id)?
        || first && (app.store.names("monitors", None, &id)? || app.store.names("monitor_updates", None, &id)?);
    if named { return Ok(()) }
    let _order = app.in_order();
    if let Some(known) = app.node.payment(&PaymentId(id)) {
        if known.status == PaymentStatus::Succeeded { return Ok(()) }
        app.node.remove_payment(&PaymentId(id))?;
    }
    end_unsent(app, row)
}

fn end_unsent(app: &App, row: &Row) -> Answer<()> {
    app.store.run(|db| rows::change(db, &row.key, Row::is_on_its_way, Row::end_unsent))?;
    Ok(())
}
