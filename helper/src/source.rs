//! The server that tells the second wallet of the chain: an Esplora or an Electrum server.
use crate::protocol::{refused, unknown, unreachable, Answer, Params};
use bdk_electrum::electrum_client::{Client, ConfigBuilder, ElectrumApi, Error as ElectrumError};
use bdk_electrum::BdkElectrumClient;
use bdk_esplora::esplora_client::{self, convert_fee_rate, AsyncClient, Error as EsploraError};
use bdk_esplora::EsploraAsyncExt;
use bdk_wallet::bitcoin::{constants::genesis_block, Network, Transaction};
use bdk_wallet::chain::spk_client::{FullScanRequest, FullScanResponse, SyncRequest, SyncResponse};
use bdk_wallet::KeychainKind;
use std::{future::Future, sync::Mutex, time::Duration};

/// Requests at a time.
const REQUESTS: usize = 4;
/// Scripts that one line asks an Electrum server for.
const BATCH: usize = 20;
const SCAN_TAKES: Duration = Duration::from_secs(120);
const ANSWERS_WITHIN_SECS: u8 = 20;
/// Of a server that is busy, each after twice the time: eight seconds in all.
const RETRIES: usize = 5;
/// Of a bitcoin for a thousand virtual bytes.
const SAT_PER_VBYTE: f64 = 100_000.0;

/// Of two threads on one connection of the Electrum library one may wait for ever: the one that is kept has one at a time.
pub enum Source { Esplora(AsyncClient, tokio::runtime::Runtime), Electrum(String, Mutex<BdkElectrumClient<Client>>) }

impl Source {
    pub fn open(chain: &Params) -> Answer<Source> {
        let Some(url) = chain.or_null("esplora", Params::text)? else {
            let url = chain.text("electrum")?;
            return Ok(Source::Electrum(url.into(), Mutex::new(BdkElectrumClient::new(electrum(url)?))));
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
            .map_err(|error| refused(format!("The chain cannot be read: {error}")))?;
        let client = {
            let _inside = runtime.enter();
            esplora_client::Builder::new(url).timeout(ANSWERS_WITHIN_SECS.into()).max_retries(RETRIES).build_async().map_err(of_esplora)?
        };
        Ok(Source::Esplora(client, runtime))
    }

    /// Refuses a server with the chain of another network. An Esplora's is looked at by the sidecar.
    pub fn require_network(&self, network: Network) -> Answer<()> {
        let Source::Electrum(url, _) = self else { return Ok(()) };
        let first = electrum(url)?.block_header(0).map_err(of_electrum)?.block_hash();
        if first == genesis_block(network).block_hash() { return Ok(()) }
        Err(refused(format!("The Electrum server has the chain of another network than {network}: check --electrum-url and --network.")))
    }

    pub fn may_stand_still(&self) -> bool { matches!(self, Source::Electrum(..)) }

    pub fn scan(&self, request: FullScanRequest<KeychainKind>, gap: usize) -> Answer<FullScanResponse<KeychainKind>> {
        match self {
            Source::Esplora(client, runtime) => waited(runtime, client.full_scan(request, gap, REQUESTS))?.map_err(|error| of_esplora(*error)),
            Source::Electrum(_, client) => client.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).full_scan(request, gap, BATCH, true).map_err(of_electrum),
        }
    }

    pub fn sync<I: Send + 'static>(&self, request: SyncRequest<I>) -> Answer<SyncResponse> {
        match self {
            Source::Esplora(client, runtime) => waited(runtime, client.sync(request, REQUESTS))?.map_err(|error| of_esplora(*error)),
            Source::Electrum(_, client) => client.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).sync(request, BATCH, true).map_err(of_electrum),
        }
    }

    /// An error says nothing of whether the network has the transaction.
    pub fn broadcast(&self, tx: &Transaction) -> Answer<()> {
        let said = match self {
            Source::Esplora(client, runtime) => waited(runtime, client.broadcast(tx))?.map_err(of_esplora),
            Source::Electrum(url, _) => electrum(url).and_then(|client| client.transaction_broadcast(tx).map(|_| ()).map_err(of_electrum)),
        };
        said.map_err(|fail| unknown(format!("The transaction was not taken. {}", fail.message)))
    }

    /// In satoshis per virtual byte, of a transaction that is in a block within so many blocks.
    pub fn fee_rate(&self, blocks: usize) -> Answer<f64> {
        let rate = match self {
            Source::Esplora(client, runtime) => {
                let told = waited(runtime, client.get_fee_estimates())?.map_err(of_esplora)?;
                convert_fee_rate(blocks, told).map_or(1.0, f64::from)
            }
            Source::Electrum(url, _) => electrum(url)?.estimate_fee(blocks).map_err(of_electrum)? * SAT_PER_VBYTE,
        };
        Ok(rate.max(1.0))
    }
}

fn electrum(url: &str) -> Answer<Client> {
    Client::from_config(url, ConfigBuilder::new().timeout(Some(ANSWERS_WITHIN_SECS)).build()).map_err(of_electrum)
}

fn waited<T>(runtime: &tokio::runtime::Runtime, work: impl Future<Output = T>) -> Answer<T> {
    runtime.block_on(async { tokio::time::timeout(SCAN_TAKES, work).await })
        .map_err(|_| unreachable("The Esplora did not answer in time."))
}

fn of_esplora(error: EsploraError) -> crate::protocol::Fail {
    unreachable(match error {
        EsploraError::HttpResponse { status, message } => format!("The Esplora said: {status} {}", message.chars().take(300).collect::<String>()),
        _ => "The Esplora did not answer: check its address.".into(),
    })
}

fn of_electrum(error: ElectrumError) -> crate::protocol::Fail {
    unreachable(match error {
        ElectrumError::Protocol(said) => {
            format!("The Electrum server of --electrum-url said: {}", said.to_string().chars().take(300).collect::<String>())
        }
        other if other.to_string().contains("certificate") => "The certificate of the Electrum server was not signed by an \
            authority that the web knows: name another --electrum-url, or one with tcp on your own machine or network.".into(),
        _ => "The Electrum server did not answer: check --electrum-url.".into(),
    })
}
