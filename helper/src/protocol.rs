//! The words on standard input and output: how parameters are read, and what an answer, an error and news look like.
use ldk_node::bitcoin::hex::{DisplayHex, FromHex};
use ldk_node::NodeError;
use serde_json::{json, Value};
use std::io::Write;
use std::str::FromStr;

pub const PROTOCOL: u64 = 1;
pub const MAX_LINE: usize = 1024 * 1024;

/// An error as the other side reads it. The message holds no secret.
#[derive(Clone, Debug)]
pub struct Fail { pub code: &'static str, pub message: String }
pub type Answer<T> = Result<T, Fail>;

pub fn refused(message: impl Into<String>) -> Fail { Fail { code: "refused", message: message.into() } }
pub fn unknown(message: impl Into<String>) -> Fail { Fail { code: "unknown", message: message.into() } }
pub fn not_found(message: impl Into<String>) -> Fail { Fail { code: "not_found", message: message.into() } }
pub fn unreachable(message: impl Into<String>) -> Fail { Fail { code: "unreachable", message: message.into() } }
pub fn invalid(message: impl Into<String>) -> Fail { Fail { code: "invalid", message: message.into() } }

impl Fail {
    pub fn json(&self) -> Value { json!({"code": self.code, "message": self.message}) }
}

/// What became of a call into ldk-node that returned an error.
impl From<NodeError> for Fail {
    fn from(error: NodeError) -> Self {
        use NodeError::*;
        match error {
            ConnectionFailed => refused("The peer cannot be reached: check its address, and whether it runs."),
            FeerateEstimationUpdateFailed | FeerateEstimationUpdateTimeout | TxSyncFailed | TxSyncTimeout
            | LiquidityRequestFailed | WalletOperationTimeout => unreachable(error.to_string()),
            AlreadyRunning | NotRunning | InvoiceCreationFailed | OfferCreationFailed | PaymentSendingFailed
            | ChannelCreationFailed | ChannelClosingFailed | InvalidSocketAddress | InvalidPublicKey | InvalidPaymentHash
            | InvalidPaymentPreimage | InvalidAmount | InvalidInvoice | InvalidOffer | InsufficientFunds
            | LiquiditySourceUnavailable | LiquidityFeeTooHigh => refused(error.to_string()),
            _ => unknown(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for Fail {
    fn from(error: rusqlite::Error) -> Self { unknown(format!("The state cannot be written: {error}")) }
}

/// Writes a line to standard output. A reader that is gone is noticed at the end of standard input.
pub fn say(line: &Value) {
    let mut to = std::io::stdout().lock();
    let _ = writeln!(to, "{line}").and_then(|()| to.flush());
}

pub fn hex(bytes: &[u8]) -> String { bytes.to_lower_hex_string() }

pub fn unhex(text: &str) -> Option<Vec<u8>> { Vec::from_hex(text).ok() }

/// The parameters of a request, read by name and type.
pub struct Params<'a>(pub &'a Value);
impl Params<'_> {
    pub fn text(&self, name: &str) -> Answer<&str> {
        self.0[name].as_str().ok_or_else(|| invalid(format!("{name} must be text.")))
    }
    /// What `read` reads; null stays null.
    pub fn or_null<'a, T>(&'a self, name: &str, read: impl FnOnce(&'a Self, &str) -> Answer<T>) -> Answer<Option<T>> {
        if self.0[name].is_null() { Ok(None) } else { read(self, name).map(Some) }
    }
    pub fn number(&self, name: &str) -> Answer<u64> {
        self.0[name].as_u64().ok_or_else(|| invalid(format!("{name} must be a whole number.")))
    }
    pub fn flag(&self, name: &str) -> bool { self.0[name] == true }
    pub fn parsed<T: FromStr>(&self, name: &str) -> Answer<T> {
        self.text(name)?.parse().map_err(|_| invalid(format!("{name} cannot be read.")))
    }
    pub fn msat(&self, name: &str) -> Answer<u64> {
        let amount: u64 = self.parsed(name)?;
        if i64::try_from(amount).is_err() { return Err(invalid(format!("{name} is too large."))) }
        Ok(amount)
    }
    pub fn sats(&self, name: &str) -> Answer<u64> {
        let amount = self.msat(name)?;
        if amount % 1000 != 0 { return Err(invalid(format!("{name} must be whole satoshis."))) }
        Ok(amount / 1000)
    }
    pub fn bytes(&self, name: &str) -> Answer<Vec<u8>> {
        unhex(self.text(name)?).ok_or_else(|| invalid(format!("{name} must be hex.")))
    }
    pub fn fixed<const N: usize>(&self, name: &str) -> Answer<[u8; N]> {
        self.bytes(name)?.try_into().map_err(|_| invalid(format!("{name} must have {N} bytes.")))
    }
    /// A list of text, each read by `read`.
    pub fn all<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Answer<Vec<T>> {
        let all = self.0[name].as_array().and_then(|list| list.iter().map(|one| read(one.as_str()?)).collect());
        all.ok_or_else(|| invalid(format!("{name} cannot be read.")))
    }
    pub fn inside(&self, name: &str) -> Params<'_> { Params(&self.0[name]) }
}

pub fn msat(amount: impl Into<Option<u64>>) -> Value { amount.into().map(|amount| amount.to_string()).into() }

pub fn now_ms() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_as_it_is_written() {
        assert_eq!(unhex(&hex(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!(unhex("abc"), None);
        assert_eq!(unhex("+1"), None);
    }

    #[test]
    fn amounts_are_text_and_fit_a_column() {
        let value = json!({"a": "21000", "b": 21000, "c": "9223372036854775808", "d": null});
        let params = Params(&value);
        assert_eq!(params.msat("a").unwrap(), 21000);
        assert_eq!(params.msat("b").unwrap_err().code, "invalid");
        assert_eq!(params.msat("c").unwrap_err().code, "invalid");
        assert_eq!(params.or_null("d", Params::msat).unwrap(), None);
        assert_eq!(params.msat("e").unwrap_err().code, "invalid");
    }
}
