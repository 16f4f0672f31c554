//! The words on standard input and output: how parameters are read, and what an answer, an error and news look like.
use ldk_node::NodeError;
use serde_json::{json, Value};
use std::io::Write;
use std::str::FromStr;
use std::sync::Mutex;

pub const PROTOCOL: u64 = 1;
pub const MAX_LINE: usize = 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code { Refused, Unknown, NotFound, Unreachable, Invalid }

/// An error as the other side reads it. The message holds no secret.
#[derive(Clone, Debug)]
pub struct Fail { pub code: Code, pub message: String }
pub type Answer<T> = Result<T, Fail>;

pub fn refused(message: impl Into<String>) -> Fail { Fail { code: Code::Refused, message: message.into() } }
pub fn unknown(message: impl Into<String>) -> Fail { Fail { code: Code::Unknown, message: message.into() } }
pub fn not_found(message: impl Into<String>) -> Fail { Fail { code: Code::NotFound, message: message.into() } }
pub fn unreachable(message: impl Into<String>) -> Fail { Fail { code: Code::Unreachable, message: message.into() } }
pub fn invalid(message: impl Into<String>) -> Fail { Fail { code: Code::Invalid, message: message.into() } }

impl Fail {
    pub fn json(&self) -> Value {
        let code = match self.code {
            Code::Refused => "refused",
            Code::Unknown => "unknown",
            Code::NotFound => "not_found",
            Code::Unreachable => "unreachable",
            Code::Invalid => "invalid",
        };
        json!({"code": code, "message": self.message})
    }
}

/// What became of a call into ldk-node that returned an error.
impl From<NodeError> for Fail {
    fn from(error: NodeError) -> Self {
        use NodeError::*;
        let message = match error {
            ConnectionFailed => "The peer cannot be reached: check its address, and whether it runs.".into(),
            ref other => other.to_string(),
        };
        let code = match error {
            FeerateEstimationUpdateFailed | FeerateEstimationUpdateTimeout | TxSyncFailed
            | TxSyncTimeout | GossipUpdateFailed | GossipUpdateTimeout | LiquidityRequestFailed
            | WalletOperationTimeout => Code::Unreachable,
            PersistenceFailed | WalletOperationFailed | DuplicatePayment => Code::Unknown,
            ConnectionFailed | AlreadyRunning | NotRunning | OnchainTxCreationFailed | InvoiceCreationFailed
            | InvoiceRequestCreationFailed | OfferCreationFailed | RefundCreationFailed | PaymentSendingFailed
            | InvalidCustomTlvs | ProbeSendingFailed | ChannelCreationFailed | ChannelClosingFailed
            | ChannelSplicingFailed | ChannelConfigUpdateFailed | OnchainTxSigningFailed | UriParameterParsingFailed
            | InvalidAddress | InvalidSocketAddress | InvalidPublicKey | InvalidSecretKey | InvalidOfferId
            | InvalidNodeId | InvalidPaymentId | InvalidPaymentHash | InvalidPaymentPreimage | InvalidPaymentSecret
            | InvalidAmount | InvalidInvoice | InvalidOffer | InvalidRefund | InvalidChannelId | InvalidNetwork
            | InvalidUri | InvalidQuantity | InvalidNodeAlias | InvalidDateTime | InvalidFeeRate
            | UnsupportedCurrency | InsufficientFunds | LiquiditySourceUnavailable | LiquidityFeeTooHigh
            | InvalidBlindedPaths | AsyncPaymentServicesDisabled => Code::Refused,
        };
        Fail { code, message }
    }
}

/// Standard output, a line at a time. A reader that is gone is noticed at the end of standard input.
pub struct Out(Mutex<Box<dyn Write + Send>>);
impl Out {
    pub fn new(to: Box<dyn Write + Send>) -> Self { Out(Mutex::new(to)) }
    pub fn say(&self, line: &Value) {
        let mut to = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let _ = writeln!(to, "{line}").and_then(|()| to.flush());
    }
}

pub fn hex(bytes: &[u8]) -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() }

pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() % 2 == 1 || !text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// The parameters of a request, read by name and type.
pub struct Params<'a>(pub &'a Value);
impl Params<'_> {
    pub fn text(&self, name: &str) -> Answer<&str> {
        self.0[name].as_str().ok_or_else(|| invalid(format!("{name} must be text.")))
    }
    pub fn text_or_null(&self, name: &str) -> Answer<Option<&str>> {
        if self.0[name].is_null() { Ok(None) } else { self.text(name).map(Some) }
    }
    pub fn number(&self, name: &str) -> Answer<u64> {
        self.0[name].as_u64().ok_or_else(|| invalid(format!("{name} must be a whole number.")))
    }
    pub fn number_or_null(&self, name: &str) -> Answer<Option<u64>> {
        if self.0[name].is_null() { Ok(None) } else { self.number(name).map(Some) }
    }
    pub fn flag(&self, name: &str) -> Answer<bool> {
        match &self.0[name] {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            _ => Err(invalid(format!("{name} must be true or false."))),
        }
    }
    pub fn parsed<T: FromStr>(&self, name: &str) -> Answer<T> {
        self.text(name)?.parse().map_err(|_| invalid(format!("{name} cannot be read.")))
    }
    pub fn msat(&self, name: &str) -> Answer<u64> {
        let amount: u64 = self.parsed(name)?;
        if i64::try_from(amount).is_err() { return Err(invalid(format!("{name} is too large."))) }
        Ok(amount)
    }
    pub fn msat_or_null(&self, name: &str) -> Answer<Option<u64>> {
        if self.0[name].is_null() { Ok(None) } else { self.msat(name).map(Some) }
    }
    pub fn bytes(&self, name: &str) -> Answer<Vec<u8>> {
        unhex(self.text(name)?).ok_or_else(|| invalid(format!("{name} must be lower-case hex.")))
    }
    pub fn fixed<const N: usize>(&self, name: &str) -> Answer<[u8; N]> {
        self.bytes(name)?.try_into().map_err(|_| invalid(format!("{name} must have {N} bytes.")))
    }
    pub fn fixed_or_null<const N: usize>(&self, name: &str) -> Answer<Option<[u8; N]>> {
        if self.0[name].is_null() { Ok(None) } else { self.fixed(name).map(Some) }
    }
    pub fn list(&self, name: &str) -> Answer<&[Value]> {
        match &self.0[name] {
            Value::Null => Ok(&[]),
            Value::Array(list) => Ok(list),
            _ => Err(invalid(format!("{name} must be a list."))),
        }
    }
    pub fn inside(&self, name: &str) -> Params<'_> { Params(&self.0[name]) }
    pub fn is_null(&self, name: &str) -> bool { self.0[name].is_null() }
}

pub fn msat(amount: u64) -> Value { Value::String(amount.to_string()) }
pub fn msat_or_null(amount: Option<u64>) -> Value { amount.map_or(Value::Null, msat) }

pub fn now_ms() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_as_it_is_written_and_only_in_lower_case() {
        assert_eq!(unhex(&hex(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!(unhex("0F"), None);
        assert_eq!(unhex("abc"), None);
        assert_eq!(unhex("+1"), None);
    }

    #[test]
    fn amounts_are_text_and_fit_a_column() {
        let value = json!({"a": "21000", "b": 21000, "c": "9223372036854775808", "d": null});
        let params = Params(&value);
        assert_eq!(params.msat("a").unwrap(), 21000);
        assert_eq!(params.msat("b").unwrap_err().code, Code::Invalid);
        assert_eq!(params.msat("c").unwrap_err().code, Code::Invalid);
        assert_eq!(params.msat_or_null("d").unwrap(), None);
        assert_eq!(params.msat("e").unwrap_err().code, Code::Invalid);
    }
}
