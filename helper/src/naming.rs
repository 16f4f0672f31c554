//! LDK draws the id of a payment of an offer itself, and ldk-node says it only when LDK has begun. A process that is
//! killed in between must not leave a payment that no row names. So until the row has the id, no message leaves, by
//! which the payee would be asked for an invoice, and no manager is written, in which LDK would find the payment again.
//! A row without an id, of an earlier run, is then of a payment that certainly was never made.
use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub struct Naming(Mutex<()>);

impl Naming {
    /// Work that panics leaves a payment without a name: the process ends before anything leaves.
    fn lock(&self) -> MutexGuard<'_, ()> { self.0.lock().unwrap_or_else(|_| std::process::abort()) }

    /// Has LDK begin a payment and its row named, while nothing passes.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _one = self.lock();
        work()
    }

    /// Returns when no payment is without a name.
    pub fn pass(&self) { drop(self.lock()) }
}

#[cfg(test)]
mod tests {
    use crate::log::StderrLog;
    use crate::store::{tests::Folder, Store};
    use ldk_node::lightning::util::persist::KVStoreSync;
    use std::sync::{mpsc, Arc};
    use std::time::Duration;

    #[test]
    fn nothing_leaves_while_a_payment_has_no_name() {
        let cases: [fn(Arc<Store>); 2] = [
            |store| KVStoreSync::write(&*store, "", "", "manager", vec![1]).unwrap(),
            |store| StderrLog { store }.message("Enqueueing message OnionMessage"),
        ];
        for passes in cases {
            let folder = Folder::new("naming");
            let store = Arc::new(folder.open(None).unwrap());
            let (told, heard) = mpsc::channel();
            let other = store.naming.during(|| {
                let passing = store.clone();
                let other = std::thread::spawn(move || {
                    passes(passing);
                    told.send(()).unwrap();
                });
                assert!(heard.recv_timeout(Duration::from_millis(50)).is_err() && !store.manager_written());
                KVStoreSync::write(&*store, "payments", "", "id", vec![1]).unwrap();
                other
            });
            other.join().unwrap();
            heard.recv().unwrap();
        }
    }
}
