/** The texts of the pages by which a wallet is run: clients, webhooks and node. */
export const enAdmin = {
  clients: {
    title: 'Clients',
    intro:
      'A client is a program or a person with credentials of its own. It may do what you allow here, and nothing else.',
    none: 'No clients yet.',
    add: 'New client',
    unnamed: (publicKey: string) => `Client ${publicKey.slice(0, 8)}`,
    own: 'You are signed in with this one',
    created: (moment: string) => `Made ${moment}`,
    expires: (moment: string) => `Expires ${moment}`,
    never: 'Never expires',
    noBudget: 'May spend the whole wallet',
    spent: (spent: string, amount: string) => `${spent} of ${amount} sats spent`,
    resets: (moment: string) => `starts anew ${moment}`,
    neverResets: 'never starts anew',
    mostPayment: (amount: string) => `at most ${amount} sats for one payment`,
    change: 'Change',
    changeOf: (name: string) => `Change ${name}`,
    changeTitle: (name: string) => `Change “${name}”`,
    notFound: 'This client is not there. It may have been revoked, or have expired.',
    back: 'All clients',
    renew: (moment: string) => `Renew until ${moment}`,
    renewOf: (name: string, moment: string) => `Renew until ${moment}: ${name}`,
    budgets: {
      title: 'Clients with a budget cannot spend now',
      words:
        'The database may be older than what was spent since. Look at each budget below, lower what was spent already, and then confirm them.',
    },
    confirmBudgets: {
      words: 'Confirm the budgets',
      question: 'Are all budgets right? Clients with a budget can spend again at once.',
      confirm: 'They are right',
    },
    budgetsConfirmed: 'The budgets are confirmed. Clients with a budget can spend again.',
    revoke: (name: string, isOwn: boolean) => ({
      words: `Revoke ${name}`,
      question: isOwn
        ? 'Revoke your own credentials for ever? You are signed out at once, and all clients that they made end too. Payments that are sent go on.'
        : `Revoke “${name}” for ever? Its credentials, its open requests and its sessions end at once, and so do all clients that it made. Payments that it has sent go on.`,
      confirm: 'Revoke for ever',
    }),
    label: { label: 'Name', help: 'For you, such as “Till 1”. You may leave it empty.' },
    scopesLegend: 'What it may do',
    scopes: {
      read_info: ['See the wallet', 'Balances, channels and the name.'],
      read_payments: ['See payments', 'Every payment of the wallet, with its notes.'],
      receive: [
        'Receive money',
        'Make invoices, offers and addresses, and cancel invoices that are not paid. It learns that one is paid only if it sees payments too.',
      ],
      send: ['Spend money', 'Pay on Lightning and on chain, and prove payments.'],
      annotate: ['Write notes', 'Change the private notes of payments.'],
      manage_address: ['Choose the name', 'Claim and change the name by which people pay.'],
      manage_channels: [
        'Open and close channels',
        'Money moves between Lightning and the chain, which costs fees.',
      ],
      manage_clients: [
        'Manage clients',
        'Make, change and revoke other clients that may do no more than itself.',
      ],
      full: [
        'Everything',
        'All of this, approve payments that wait, manage webhooks, and what later versions add.',
      ],
    },
    /** What scopes mean for who sees only its own. */
    ownScopes: {
      read_info: 'The name alone: no balances and no channels.',
      read_payments: 'Those that it made itself, with their notes.',
    },
    permissions: {
      approve_payments: ['Approve payments', 'Approve or reject payments of others that wait.'],
      manage_webhooks: ['Manage webhooks', 'Add and remove endpoints, and send deliveries again.'],
    },
    permissionsLegend: 'Single permissions besides',
    ownOnly: [
      'Only what it makes itself',
      'For an employee: its own payments and no balance. Signed in here it gets a till: receiving, and nothing else.',
    ],
    pairing: [
      'For an app, over Nostr',
      'The app is paired by a link of Nostr Wallet Connect, which is shown once.',
    ],
    relay: {
      label: 'Relay',
      help: 'Where the app and the wallet meet, such as wss://relay.example. Leave it empty for the relays of this sidecar.',
    },
    grantWrong: 'Choose at least one thing that it may do.',
    budgetLegend: 'What it may spend',
    hasBudget: 'Limit what it may spend',
    budgetWarning: 'Without a limit it can spend the whole wallet.',
    amount: {
      label: 'At most, in sats',
      help: 'With all fees.',
      wrong: 'Type a number of sats, or take the tick from “Limit what it may spend”.',
    },
    period: 'Within',
    periods: {
      day: 'One day, from midnight UTC',
      week: 'One week, from Monday',
      month: 'One month',
      total: 'All time',
    },
    maxPayment: {
      label: 'At most for one payment, in sats',
      help: 'With its fees. Leave it empty for no such limit.',
    },
    approveAbove: {
      label: 'Needs approval above, in sats',
      help: (most: string | null) =>
        `A payment that may cost more, with its fees, waits until the owner approves it. 0 lets every payment wait. ${most === null ? 'Leave it empty to let it pay alone.' : `At most ${most}, as for you.`}`,
      wrong: (most: string | null) =>
        most === null
          ? 'Type a number of sats, such as 1,000, or 0.'
          : `Type a number of sats, at most ${most}.`,
    },
    waitsAbove: (sats: string) =>
      sats === '0'
        ? 'Every payment waits for approval'
        : `A payment above ${sats} sats waits for approval`,
    lastDay: 'Last day',
    lastDayWrong: 'This day is over. Choose today or a later day.',
    lastDayHelp: 'It stops at the end of that day. Leave it empty to let it work until revoked.',
    lastDayHelpBound: (moment: string) =>
      `It stops at the end of that day, and with your own credentials at the latest: ${moment}.`,
    make: 'Make the client',
    save: 'Save the changes',
    made: {
      title: 'The client is made',
      words:
        'These are its credentials. Copy them now to where the client reads them: they are shown this once, are stored nowhere, and are gone when you leave this page.',
      label: 'Credentials',
      done: 'I have stored them',
    },
    paired: {
      title: 'The client is made',
      words:
        'Scan this with the app, or copy it there. It is shown this once, is stored nowhere, and is gone when you leave this page. Who has it can do what you allowed.',
      label: 'Link for the app',
      done: 'The app has it',
    },
    device: {
      intro: 'A phone or a till needs no credentials: it signs in by a QR code or a link.',
      words: 'Sign in a phone or a till',
      help: 'Scan this with the phone or the till, or open the link in its browser, within 10 minutes. It works once, and the browser stays signed in for 30 days. The phone must reach this address, so open the console by one that it reaches, over https.',
      label: 'Link of the till',
      over: 'The link was used, or its 10 minutes are over. The list of clients says which devices are signed in.',
      since: (since: string, used: string) =>
        `Signed in since ${since}, last used ${used} or up to an hour later`,
      end: (since: string) => ({
        words: 'Sign it out',
        question: `Sign out the device that is in since ${since}? It needs a new link to come back.`,
      }),
    },
    open: {
      title: 'It is not known whether the client was made',
      words:
        'Ask again: that makes one client and no second, and shows its credentials. Or give up and look into the list; a client whose credentials you do not have is best revoked.',
    },
  },
  webhooks: {
    title: 'Webhooks',
    endpoints: 'Endpoints',
    intro: 'An endpoint is a URL of yours that is told when a payment is completed or failed.',
    none: 'No endpoints yet.',
    add: 'Add an endpoint',
    submit: 'Add this endpoint',
    url: { label: 'URL', help: 'http or https, such as https://shop.example/hook' },
    description: { label: 'What it is for', help: 'For you. You may leave it empty.' },
    eventsLegend: 'What it is told of',
    events: {
      'payment.finalized': 'A payment is completed or failed',
      'payment.held': 'A payment waits',
      'payment.approval_requested': 'A payment waits for approval',
      'client.budget_low': 'Little is left of a budget',
    },
    eventsHelp: {
      'payment.finalized': 'From then on it never changes.',
      'payment.held': 'It has arrived for a hold invoice, and you have to settle or cancel it.',
      'payment.approval_requested':
        'A client wants to pay more than it may alone, and you have to approve or reject it.',
      'client.budget_low': 'A client has at most a fifth of its budget left in this period.',
    },
    eventsWrong: 'Choose at least one.',
    configured: 'From --webhook-url, for every wallet of this sidecar. It is removed there.',
    unsigned: 'Not signed',
    created: (moment: string) => `Added ${moment}`,
    expires: (moment: string) => `Goes away ${moment} unless it is kept longer`,
    added: {
      title: 'The endpoint is added',
      words:
        'This is the secret that its deliveries are signed with. Copy it now to where your receiver reads it: it is shown this once, and is gone when you leave this page.',
      label: 'Signing secret',
      done: 'I have stored it',
    },
    open: {
      title: 'It is not known whether the endpoint was added',
      words:
        'Look at the list: if it is there, nobody knows its secret. Remove it then, and add another.',
    },
    newSecret: {
      words: 'New secret',
      question:
        'Add a second endpoint with the same URL and a new secret? Both are told of every payment: let the receiver take both secrets, then remove the old endpoint.',
      confirm: 'Add it with a new secret',
    },
    keep: 'Keep it for another day',
    remove: (url: string) => ({
      words: 'Remove',
      question: `Remove ${url}? It is told of nothing more, and what is not delivered yet is never sent to it.`,
      confirm: 'Remove it',
    }),
    test: 'Send a test',
    taken: (ms: number) => `The receiver took it in ${ms} ms`,
    notTaken: 'The receiver did not take it',
    exchange: 'Request and answer',
    sentHeaders: 'Headers that were sent',
    sentBody: 'Body that was sent',
    answer: (status: number | null) => (status === null ? 'Answer' : `Answer, status ${status}`),
    noAnswer: 'No answer came.',
    emptyAnswer: 'The answer has no body.',
    deliveries: 'Deliveries',
    noDeliveries: 'No deliveries.',
    state: 'Status',
    anyState: 'All',
    states: {
      pending: 'Being sent',
      delivered: 'Delivered',
      failed: 'Not delivered',
      canceled: 'Not sent any more',
    },
    endpoint: 'Endpoint',
    anyEndpoint: 'All',
    refresh: 'Look again',
    older: 'Older',
    newest: 'Newest',
    retried: 'Will be tried again',
    deliveredAt: (moment: string) => `delivered ${moment}`,
    nextAttempt: (seconds: number) => (seconds === 0 ? 'next at once' : `next in ${seconds} s`),
    /** The sidecar's words for what went wrong, such as `answered 500`. */
    problem: (words: string) => words.replace(/^answered (\d+)/, 'answered with HTTP $1'),
    shortIndex: (index: string) => `payment ${index.slice(index.indexOf('-') + 1).slice(0, 11)}…`,
    payment: 'Payment',
    attempts: 'Attempts',
    noAttempts: 'No attempt yet.',
    attempt: (moment: string, ms: number) => `${moment}, ${ms} ms`,
    back: 'All webhooks',
    again: 'Send again',
    againSince: 'Send again all since a time',
    since: {
      label: 'From',
      help: 'Everything from that time on is sent once more, also what was taken. Receivers tell repeats by the webhook-id.',
    },
    againQuestion: (moment: string) => `Send every delivery since ${moment} again?`,
    sentAgain: (count: number) =>
      count === 1 ? '1 delivery is sent again.' : `${count} deliveries are sent again.`,
  },
  node: {
    title: 'Node',
    name: {
      label: 'Your name for this wallet',
      help: 'Stands above the pages, in this browser alone.',
    },
    health: 'Health',
    healthy: 'Everything works.',
    feed: {
      caught_up: (moment: string) => `The node is followed without a gap since ${moment}.`,
      behind: (moment: string) =>
        `The node is not reached since ${moment}, or is not read to the end. Payments may show late.`,
      no_credentials: (moment: string) =>
        `The node takes no credentials of this sidecar since ${moment}. Payments are not followed.`,
    },
    facts: 'This node',
    kind: 'Kind',
    network: 'Network',
    networks: {
      bitcoin: 'Bitcoin, real money',
      testnet: 'Testnet, worthless money',
      signet: 'Signet, worthless money',
      regtest: 'Regtest, worthless money',
    },
    nodeVersion: 'Version of the node',
    sidecarVersion: 'Version of the sidecar',
    nodeId: 'Node id',
    wallet: 'Wallet',
    channels: 'Channels',
    none: 'No channels yet.',
    usable: 'Ready',
    unusable: 'Not ready',
    canSend: 'Can send',
    canReceive: 'Can receive',
    channelId: 'Channel id',
    close: (size: string, ours: string) => ({
      words: `Close the channel of ${size} sats`,
      question: `Close this channel? About ${ours} sats come back to your on-chain money, less an on-chain fee, when the closing transaction confirms. The other side must be online.`,
      confirm: 'Close it',
    }),
    withoutPeer: 'The other side does not answer?',
    force: (ours: string) => ({
      words: 'Close without the other side',
      question: `Close without the other side? About ${ours} sats come back after a delay, often two weeks, and the fees are higher. Do this only when the other side stays away.`,
      confirm: 'Close it without them',
    }),
    closing: 'The channel is being closed.',
    open: 'Open a channel',
    size: 'Size in sats',
    fromOnchain: 'It is paid from your on-chain money.',
    onchain: (sats: string) => `It is paid from your on-chain money: ${sats} sats.`,
    peer: {
      label: 'Node to open it to',
      help: 'As key@host:port. Leave it empty for the node that the sidecar is set up with.',
    },
    peerWrong: 'Type it as 66 hex characters, @, host, colon and port.',
    feeSentence:
      'Opening costs an on-chain fee on top of the size, and closing costs another one later. You can send what is in the channel, less a small reserve, when the opening transaction is confirmed.',
    opening: (sats: string) => ({
      question: `Open a channel of ${sats} sats? The on-chain fee comes on top, and is not paid back.`,
      confirm: 'Open it and pay the fee',
    }),
    opened: {
      title: 'The channel is being opened',
      words: 'It can be used when its transaction is confirmed.',
    },
    notKnown: {
      title: 'It is not known whether the channel was opened',
      words:
        'Ask again: that opens one channel and no second. Or look at the list of channels first.',
    },
  },
} as const;
