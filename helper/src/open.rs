//! Starts the node: reads the settings, refuses a state that must not be used, and puts the parts together.
use crate::log::StderrLog;
use crate::onchain::Chain;
use crate::source::Source;
use crate::protocol::{refused, unreachable, Answer, Params};
use crate::store::{meta, set_meta, Store};
use ldk_node::bitcoin::{hashes::{sha256, Hash}, secp256k1::PublicKey, Network};
use ldk_node::config::{BackgroundSyncConfig, Config, ElectrumSyncConfig, EsploraSyncConfig};
use ldk_node::lightning::ln::msgs::SocketAddress;
use ldk_node::liquidity::LSPS2ServiceConfig;
use ldk_node::{Builder, Node, NodeError};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

const GAP: usize = 20;

/// The running node and what stands beside it.
pub struct App {
    pub node: Arc<Node>,
    pub store: Arc<Store>,
    pub chain: Chain,
    pub network: Network,
    pub lsp: Option<(PublicKey, SocketAddress)>,
    pub opens: u64,
    pub started: Instant,
    pub sync_every: Duration,
    order: Mutex<()>,
    spending: Mutex<()>,
}

impl App {
    /// Held while an attempt is written down, and from an event's commit until LDK forgets the event: so an event
    /// that is told again after a crash can never be taken for one of a later attempt. Held too by what changes a
    /// channel while LDK does not look whether it is stopped.
    pub fn in_order(&self) -> MutexGuard<'_, ()> { self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) }

    /// Held by what chooses coins: by one at a time.
    pub fn spending(&self) -> MutexGuard<'_, ()> { self.spending.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) }

    pub fn sync_chain(&self) -> Answer<()> { self.chain.sync(&crate::channels::sweeps(self)) }
}

pub fn open(params: &Params) -> Answer<App> {
    let (network, seed): (Network, [u8; 64]) = (params.parsed("network")?, params.fixed("seed")?);
    let dir = Path::new(params.text("dir")?);
    let gap = params.or_null("gap", Params::number)?.map_or(GAP, |gap| gap as usize);
    let sync_every = Duration::from_secs(params.number("sync_secs")?.max(1));
    let at_least = params.or_null("at_least", |params, name| {
        let least = params.inside(name);
        Ok((least.number("opens")?, least.number("seq")?))
    })?;
    let lsp = params.or_null("lsp", |params, name| {
        let lsp = params.inside(name);
        Ok((lsp.parsed("pk")?, lsp.parsed("address")?))
    })?;
    let source = Source::open(&params.inside("chain"))?;
    source.require_network(network)?;
    let mut config = Config { network, storage_dir_path: dir.to_string_lossy().into_owned(), ..Default::default() };
    if let (Some(anchors), Some((lsp, _))) = (config.anchor_channels_config.as_mut(), &lsp) {
        anchors.trusted_peers_no_reserve.push(*lsp);
    }
    let mut builder = builder(params, config, &lsp)?;
    builder.set_entropy_seed_bytes(seed);
    set_chain(&mut builder, &params.inside("chain"), sync_every)?;
    let store = Arc::new(Store::open(dir, at_least)?);
    own_seed(&store, network, &seed)?;
    // A full disk is met here, before anything is begun.
    let opens = store.raise_opens().map_err(|error| unreachable(format!("{}. Look after the disk of {}.", error.message, dir.display())))?;
    builder.set_custom_logger(Arc::new(StderrLog { store: store.clone() }));
    let node = builder.build_with_store(store.clone()).map_err(|error| refused(format!("The node cannot be made: {error}")))?;
    let chain = Chain::new(source, &seed, network, gap, store.clone())?;
    node.start().map_err(|error| match error {
        NodeError::FeerateEstimationUpdateFailed | NodeError::FeerateEstimationUpdateTimeout | NodeError::ConnectionFailed => {
            unreachable("The server of the chain did not give fee rates: check --esplora-url or --electrum-url.")
        }
        NodeError::InvalidSocketAddress => refused("A listening address cannot be used: is another program there?"),
        other => other.into(),
    })?;
    Ok(App {
        node: Arc::new(node), store, chain, network, opens, lsp, started: Instant::now(), sync_every,
        order: Mutex::default(), spending: Mutex::default(),
    })
}

/// The state belongs to one seed on one network.
fn own_seed(store: &Store, network: Network, seed: &[u8]) -> Answer<()> {
    let text = format!("ldk-helper {network} {}", crate::protocol::hex(seed));
    let print = sha256::Hash::hash(text.as_bytes()).to_string();
    let known = store.run(|db| meta(db, "seed_print"))?;
    if known.as_ref().is_some_and(|known| *known != print) { return Err(refused("This state belongs to another seed or network.")) }
    store.run(|db| set_meta(db, "seed_print", &print))
}

fn builder(params: &Params, config: Config, lsp: &Option<(PublicKey, SocketAddress)>) -> Answer<Builder> {
    let mut builder = Builder::from_config(config);
    let listen: Vec<SocketAddress> = params.all("listen", |text| text.parse().ok())?;
    if !listen.is_empty() {
        builder.set_listening_addresses(listen).map_err(|error| refused(format!("listen: {error}")))?;
    }
    if let Some((pk, address)) = lsp { builder.set_liquidity_source_lsps2(*pk, address.clone(), None); }
    if params.flag("lsp_service") { builder.set_liquidity_provider_lsps2(test_terms()); }
    Ok(builder)
}

fn set_chain(builder: &mut Builder, chain: &Params, sync_every: Duration) -> Answer<()> {
    let every = sync_every.as_secs().max(10);
    let background_sync_config = Some(BackgroundSyncConfig {
        onchain_wallet_sync_interval_secs: every, lightning_wallet_sync_interval_secs: every,
        fee_rate_cache_update_interval_secs: every.max(60),
    });
    match chain.or_null("esplora", Params::text)? {
        Some(url) => builder.set_chain_source_esplora(url.into(), Some(EsploraSyncConfig { background_sync_config })),
        None => builder.set_chain_source_electrum(chain.text("electrum")?.into(), Some(ElectrumSyncConfig { background_sync_config })),
    };
    Ok(())
}

/// An LSP for tests: its terms are fixed.
fn test_terms() -> LSPS2ServiceConfig {
    LSPS2ServiceConfig {
        require_token: None, advertise_service: false, channel_opening_fee_ppm: 10_000,
        channel_over_provisioning_ppm: 100_000, min_channel_opening_fee_msat: 1_000_000, min_channel_lifetime: 4320,
        max_client_to_self_delay: 1024, min_payment_size_msat: 1_000, max_payment_size_msat: 10_000_000_000,
        client_trusts_lsp: false,
    }
}
