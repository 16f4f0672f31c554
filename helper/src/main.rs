//! An LDK node in a process of its own, behind JSON lines. See README.md for the words.
mod channels;
mod events;
mod fates;
mod fundings;
mod lightning;
mod log;
mod naming;
mod offers;
mod onchain;
mod open;
mod protocol;
mod rows;
mod source;
mod spend;
mod step;
mod store;
mod transactions;

use open::App;
use protocol::{invalid, refused, say, unknown, Answer, Params};
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Read};
use std::mem::ManuallyDrop;
use std::os::{fd::FromRawFd, unix::net::UnixStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

const REQUEST: &str = "request";
const LDK_LOOKS_EVERY: Duration = Duration::from_secs(10);
/// So many looks at the chain without one for the channels are a connection that stands still.
const STANDS_STILL: u32 = 20;
/// An opening waits so long for the first look at the chain, which a slow Esplora can draw out for minutes.
const FIRST_LOOK: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Helper { app: OnceLock<Arc<App>>, opening: Mutex<()> }

fn main() {
    end_with_any_other_thread();
    outlive_signals();
    let _log_never_waits = ManuallyDrop::new(unsafe { UnixStream::from_raw_fd(2) }).set_nonblocking(true);
    say(&json!({"hello": {"protocol": protocol::PROTOCOL, "version": env!("CARGO_PKG_VERSION"), "ldk_node": "0.7.1"}}));
    let helper = Arc::new(Helper::default());
    let mut input = BufReader::new(std::io::stdin());
    while let Some(line) = next_line(&mut input) { helper.clone().take(line) }
    // An opening that is under way is awaited, so that no node is left half made.
    let _opening = helper.opening.lock();
    if let Some(app) = helper.app.get() { stop(app) }
    std::process::exit(0);
}

fn stop(app: &App) {
    let _order = app.in_order();
    if let Err(error) = app.node.stop() { log::say(format_args!("The node did not stop cleanly: {error}")) }
}

/// LDK gives up by panicking where its state cannot be written. A node that goes on in part would lie.
fn end_with_any_other_thread() {
    std::panic::set_hook(Box::new(|info| {
        log::say(format_args!("{info}"));
        if std::thread::current().name() != Some(REQUEST) { std::process::abort() }
    }));
}

/// A terminal and a service manager signal every process of a group. The end of standard input stops the node, in
/// order; a node that is cut may lose a channel.
fn outlive_signals() {
    extern "C" { fn signal(number: i32, handler: usize) -> usize; }
    let (ignored, hangup, interrupt, terminate) = (1, 1, 2, 15);
    for number in [hangup, interrupt, terminate] { unsafe { signal(number, ignored) }; }
}

/// The next line, or null when the input ends. A line that is too long ends it: the other side is broken.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = input.by_ref().take(protocol::MAX_LINE as u64 + 1).read_until(b'\n', &mut line).ok()?;
    if read == 0 || read > protocol::MAX_LINE { return None }
    Some(String::from_utf8_lossy(&line).into_owned())
}

impl Helper {
    fn take(self: Arc<Self>, line: String) {
        if line.trim().is_empty() { return }
        let request: Value = match serde_json::from_str(&line) {
            Ok(request) => request,
            Err(_) => return say(&json!({"id": null, "error": invalid("The line is no JSON.").json()})),
        };
        let helper = self.clone();
        let id = request["id"].clone();
        let started = std::thread::Builder::new().name(REQUEST.into()).spawn(move || helper.answer(&request));
        if started.is_err() {
            say(&json!({"id": id, "error": refused("There are too many requests.").json()}));
        }
    }

    fn answer(&self, request: &Value) {
        let asked = std::panic::AssertUnwindSafe(|| {
            call(self, request["method"].as_str().unwrap_or(""), &Params(&request["params"]))
        });
        let answer = std::panic::catch_unwind(asked).unwrap_or_else(|_| Err(unknown("The request ended in a panic.")));
        say(&match answer {
            Ok(result) => json!({"id": request["id"], "result": result}),
            Err(error) => json!({"id": request["id"], "error": error.json()}),
        });
    }

    fn open(&self, params: &Params) -> Answer<Value> {
        let _opening = self.opening.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.app.get().is_some() { return Err(refused("The node is open.")) }
        let app = Arc::new(open::open(params)?);
        events::drain(&app)?;
        fates::resume(&app)?;
        channels::note_peers(&app);
        let (opens, seq) = app.store.place()?;
        let follow: [(&str, fn(Arc<App>)); 3] = [("events", events::follow), ("fates", fates::follow), ("chain", follow_chain)];
        for (name, work) in follow {
            let app = app.clone();
            std::thread::Builder::new().name(name.into()).spawn(move || work(app))
                .map_err(|_| refused("A thread could not be started."))?;
        }
        while app.chain.ready().is_err() && app.started.elapsed() < FIRST_LOOK { std::thread::sleep(Duration::from_millis(20)) }
        let node_pk = app.node.node_id().to_string();
        let _ = self.app.set(app);
        Ok(json!({"node_pk": node_pk, "opens": opens, "seq": seq}))
    }
}

fn follow_chain(app: Arc<App>) {
    let mut news = (None, Instant::now());
    loop {
        let synced = app.node.status().latest_lightning_wallet_sync_timestamp;
        if synced != news.0 { news = (synced, Instant::now()) }
        match app.sync_chain().and_then(|()| fundings::know(&app)) {
            Err(error) => log::say(format_args!("{}", error.message)),
            // ldk-node 0.7.1 reads an Electrum server for its channels by a connection that may wait for ever.
            Ok(()) if app.chain.source.may_stand_still() && news.1.elapsed() > STANDS_STILL * app.sync_every => start_again(&app),
            Ok(()) => {}
        }
        std::thread::sleep(app.sync_every);
        // ldk-node itself looks every ten seconds at most.
        if app.sync_every < LDK_LOOKS_EVERY {
            if let Err(error) = app.node.sync_wallets() { log::say(format_args!("{error}")) }
        }
    }
}

/// Ends in good order. The other side starts the process again, with connections of its own.
fn start_again(app: &App) -> ! {
    log::say(format_args!("The chain is not read on for the channels, though its server answers: the node is started again."));
    stop(app);
    std::process::exit(1)
}

fn call(helper: &Helper, method: &str, params: &Params) -> Answer<Value> {
    if method == "open" { return helper.open(params) }
    let app = helper.app.get().ok_or_else(|| refused("The node is not open."))?;
    match method {
        "info" => transactions::info(app),
        "create_invoice" => lightning::create_invoice(app, params),
        "cancel_invoice" => lightning::cancel_invoice(app, params),
        "settle_invoice" => lightning::settle_invoice(app, params),
        "pay_invoice" => lightning::pay_invoice(app, params),
        "pay_keysend" => lightning::pay_keysend(app, params),
        "create_offer" => offers::create_offer(app, params),
        "pay_offer" => offers::pay_offer(app, params),
        "row" => lightning::row(app, params),
        "rows" => lightning::rows(app, params),
        "fee_rate" => spend::fee_rate(app, params),
        "address" => spend::address(app),
        "sign" => spend::sign(app, params),
        "release" => spend::lock(app, params, false),
        "hold" => spend::lock(app, params, true),
        "publish" => spend::publish(app, params),
        "sign_child" => spend::sign_child(app, params),
        "transactions" => transactions::transactions(app, params),
        "coins" => transactions::coins(app),
        "find" => app.chain.find(params),
        "channels" => channels::channels(app),
        "open_channel" => channels::open_channel(app, params),
        "close_channel" => channels::close_channel(app, params),
        "connect" => channels::connect(app, params),
        _ => Err(invalid("There is no such method.")),
    }
}
