/** How a payment stands. */
export const STATUS = { pending: 'Pending', completed: 'Completed', failed: 'Failed' } as const;
/** How a payment stands that waits for approval. */
export const AWAITING = 'Waits for approval';
/** What a payment is called that moves no money. */
export const INFO = 'For your information';
const RAILS = {
  invoice: 'Lightning invoice',
  offer: 'Lightning offer',
  spontaneous: 'Lightning, without an invoice',
  onchain: 'On chain',
} as const;
/** How soon a payment on chain shall confirm. */
export const PRIORITIES = {
  high: 'Next block',
  normal: 'About half an hour',
  background: 'Within a day',
} as const;

/** The texts of the pages that show payments. */
export const enPayments = {
  payments: {
    title: 'Payments',
    search: 'Search',
    status: 'Status',
    statuses: {
      all: 'All',
      ...STATUS,
      finalized: 'Completed or failed',
      awaiting: 'To approve',
    },
    direction: 'Direction',
    directions: { any: 'All', inbound: 'Received', outbound: 'Sent', info: INFO },
    rail: 'Paid by',
    rails: { any: 'All', ...RAILS },
    client: 'Made by',
    anyClient: 'All',
    shown: (count: number, isMore: boolean) =>
      count === 0
        ? 'No payments.'
        : `${count} ${count === 1 ? 'payment' : 'payments'}${isMore ? ', and more' : ''}`,
    more: 'Show more',
    csv: 'Save the books as CSV',
    csvHelp:
      'All completed payments of the wallet, whatever is shown above, in the order in which they were completed, with their prices and the sum so far.',
    csvIncomplete: 'Rows are missing, so nothing was saved. Try again.',
    back: 'All payments',
    saveNote: 'Save the note',
    saved: 'Saved',
    allFields: 'All fields',
    fields: {
      amount: 'Amount',
      fees: 'Fees',
      refunded: 'Refunded, or on its way back',
      partner_base_fee: 'Fixed fee of the partner',
      created_at: 'Made',
      updated_at: 'Last change',
      finalized_at: 'Ended',
      expires_at: 'Can be paid until',
      rail: 'Paid by',
      kind: 'Kind',
      direction: 'Direction',
      status: 'Status',
      priority: 'How soon',
      status_msg: 'What became of it',
      description: 'What it is for',
      external_id: 'Order number',
      refund_of: 'Refund of',
      refunded_payment: 'a payment that you received',
      price: 'Price',
      rate: 'Price of one bitcoin',
      rate_at: 'Rate of',
      rate_source: 'Rate by',
      message: 'Message of the payer',
      payer_name: 'Name of the payer',
      partner_prop_fee: 'Fee of the partner, in millionths',
      index: 'Index',
      hash: 'Payment hash',
      preimage: 'Preimage, the receipt',
      offer_id: 'Id of the offer',
      txid: 'Transaction id',
      replacement: 'Replaced by the transaction',
      address: 'Address',
      invoice: 'Invoice',
      partner_pk: 'Key of the partner',
      tx: 'Transaction',
    },
    values: {
      rail: RAILS,
      kind: {
        ...RAILS,
        waived_channel_fee: 'Fee of a channel, waived',
        waived_liquidity_fee: 'Fee for room to receive, waived',
      },
      direction: { inbound: 'To this wallet', outbound: 'From this wallet', info: INFO },
      status: STATUS,
      priority: PRIORITIES,
    },
    cancel: {
      words: 'Cancel this invoice',
      question: 'Nobody can pay it then. This cannot be undone.',
    },
    bump: 'Raise the fee',
    bumpMost: {
      label: 'Most that raising it may cost, in sats',
      help: 'The payment then confirms sooner.',
    },
    bumpSure: (most: string) => `This costs up to ${most} sats more.`,
    refund: 'Refund…',
    prove: 'Make a proof of this payment',
    proof: 'Proof of this payment',
  },
  approval: {
    waiting: (count: number) =>
      count === 1 ? '1 payment waits for approval' : `${count} payments wait for approval`,
    sum: (sats: string) => `${sats} sats, fees not counted.`,
    look: 'Look at it and decide',
    lookAll: 'Look at them and decide',
    words: 'A client asked for this payment, and may not make it alone. Nothing is sent yet.',
    by: 'Asked by',
    fee: 'Highest fee',
    asked: 'Asked for',
    unnamed: 'a node that only who decides is told',
    end: 'Fails by itself',
    notYours: 'The owner decides.',
    approve: 'Approve…',
    question: (sats: string, recipient: string) =>
      `Send ${sats} sats, and the fee, to ${recipient}? A payment cannot be taken back.`,
    confirm: 'Approve and send',
    reject: 'Reject',
    before: {
      title: 'Nothing was done: this payment does not wait any more',
      words:
        'It was approved or rejected in between, or its time was over. How it stands now is shown here.',
    },
    unknown: 'It is not known whether this was done',
  },
} as const;
