//! The log for people, on standard error; and what LDK's log tells the store in time (see step.rs).
use crate::rows;
use crate::store::Store;
use ldk_node::logger::{LogLevel, LogRecord, LogWriter};
use std::{cell::Cell, fmt::Arguments, io::Write, sync::Arc};

thread_local! { static ASKED_FEE: Cell<Option<u64>> = const { Cell::new(None) } }

/// The fee, in millisatoshis, for which an LSP was refused last in this thread. ldk-node's error does not say it.
pub fn asked_fee() -> Option<u64> { ASKED_FEE.take() }

pub struct StderrLog { pub store: Arc<Store> }
impl LogWriter for StderrLog {
    fn log<'a>(&self, record: LogRecord<'a>) {
        match record.module_path {
            "lightning::ln::peer_handler" => self.message(&record.args.to_string()),
            "lightning::ln::channelmanager" => self.unknown_channel(&record.args.to_string()),
            "ldk_node::liquidity" => lsp_fee(&record.args.to_string()),
            "lightning::chain::channelmonitor" | "lightning::chain::onchaintx" => self.chain(&record.args.to_string()),
            _ => {}
        }
        // ldk-node tells invoices, and LDK transactions, at the lower levels.
        let tells_payments = record.module_path.starts_with("ldk_node::payment");
        let least = if tells_payments { LogLevel::Error } else { LogLevel::Info };
        if record.level < least { return }
        say(format_args!("{} [{}:{}] {}", record.level, record.module_path, record.line, record.args));
    }
}

impl StderrLog {
    pub fn message(&self, text: &str) {
        let Some(message) = text.strip_prefix("Enqueueing message ") else { return };
        self.store.naming.pass();
        let rests_on_nothing = ["Ping", "Pong", "Init"].iter().any(|name| message.starts_with(name));
        self.store.step.before_message(&self.store, rests_on_nothing);
    }

    /// LDK tells a peer to close a channel that it knows and we do not, and no event says so.
    fn unknown_channel(&self, text: &str) {
        let Some(rest) = text.strip_prefix("Sending bogus ChannelReestablish for unknown channel ") else { return };
        let id = rest.split(' ').next().unwrap_or(rest).to_string();
        self.store.unknown_channels.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(id);
    }

    fn chain(&self, text: &str) {
        // LDK's event of the failure, 6 blocks later, does not say by what it failed.
        let cut = text.strip_prefix("Failing HTLC with payment_hash ").and_then(|rest| rest.split_once(" from "));
        if let Some((hash, _)) = cut { self.store.run(|db| rows::cut(db, Some(hash))).unwrap_or_else(|error| end(format_args!("{}", error.message))) }
        let closes = text.contains("force closed");
        if closes || text.contains("roadcasting") { self.store.step.before_broadcast(&self.store, closes) }
    }
}

fn lsp_fee(text: &str) {
    let said = text.split_once("LSP's requested total opening fee of ").and_then(|(_, rest)| rest.split_once("msat"));
    if let Some(fee) = said.and_then(|(fee, _)| fee.parse().ok()) { ASKED_FEE.set(Some(fee)) }
}

/// Ends the process at once, where going on could lose money.
pub fn end(why: Arguments) -> ! {
    say(why);
    std::process::abort()
}

/// A reader that is gone, or stands still, must not end the node or hold it up: the line is lost then (see main.rs).
pub fn say(line: Arguments) { let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes()); }
