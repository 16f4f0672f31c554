import { once } from '../lib/once.ts';
import { blankPayment, encodePayment, type PaymentJson } from '../model/payment.ts';
import {
  idOfIndex,
  type PaymentIndex,
  paymentIndexInput,
  updatedIndex,
} from '../model/payment-index.ts';

/**
 * Example values for the documentation. They come from one run of the sandbox and agree with each other: invoices
 * decode to the payments that they belong to, and hashes match their preimages.
 */
export const exampleInvoice =
  'lnbcrt10u1p5jfqg9sp5hchrpfq5snx7rtvjffnpzquggffdc7s3gvwkv6walpy4fruzn48qpp5mv8kp7yl45uc6u5jk9gtxdkg6y8s8knhcfyr986gpds4mca3c5fsdq2gdhkven9v5xqyz5vq9qyysgqkn4qn3ccd2ep9c9nvxlge0s6s98rudu895nsrr2z7hgelc05u3jkjq5g0lv22qghrccp2t47e6dmpu9phy3vesr550km3a670dwn68gq4hxpaj';
/** The offer that {@link exampleOfferPayment} pays. */
export const exampleOffer =
  'lno1qgsqvgnwgcg35z6ee2h3yczraddm72xrfua9uve2rlrm9deu7xyfzrcyzps5ygwesv4vjru4frrfhyhjvfyq5z2ydahxzarfdah8x93pqdxf0yen0xaw0sendzk3sxarwy3p69zxxrz342hvucle72k4d22t7';
/** The address that {@link exampleOnchainPayment} pays. */
export const exampleAddress = 'bcrt1qqev0qrhxmfleqjwedjg0h0gyr6033cfknf9r93';
/** The LNURL that encodes {@link exampleLnurlUrl}. */
export const exampleLnurl =
  'lnurl1dp68gup69uhnzv3h9cczuvpwxyar2veexvhhxctwv33x77p0d3h82unv9anrxvfsxe3nwcmzxgcxyep5vyenycecxp3nzcf489jxzc3sv56rzdjm2dz';
/** The URL of an LNURL-pay service of the sandbox. */
export const exampleLnurlUrl =
  'http://127.0.0.1:5393/sandbox/lnurl/f3106c7cb20bd4a32c80c1a59dab0e41';
/** An LNURL of an LNURL-withdraw service. */
export const exampleLnurlWithdraw =
  'lnurl1dp68gup69uhnzv3h9cczuvpwxyar2veexvhhxctwv33x77p0d3h82unv9ajk2drzvgense3kx43rwdnrxs6rqceev3nrgen989skgv34xscnyq0n9wv';
/** The credentials string of a client. */
export const exampleCredentials =
  'eyJ2IjoyLCJjbGllbnQiOiIxMDhiOGY0YTU4NzU2ZjM5NjZlZWExZmU4NmY2ZDc2Yjc2MTI0MjAxMTU4MGQzN2JlNGEzZWNlYmNkYTVlZWIxIiwic2VjcmV0IjoiMmJkNzU5ZDE4MDU5YmUyNzg0MzIzYTdhY2UxOWM0NzExOGJlNjlmZTZiMjUzNzhkNDE2YzY0YzQ5Mzk3YTcyYSJ9';

type Said = Partial<PaymentJson> & Pick<PaymentJson, 'index' | 'rail' | 'direction' | 'created_at'>;

/** A payment, completed unless it says otherwise, of which nothing is known but what is said. */
function example(said: Said): PaymentJson {
  const { index, rail, direction, created_at: createdAtMs } = said;
  const blank = blankPayment({
    index: index as PaymentIndex,
    rail,
    direction,
    status: 'completed',
    statusMsg: 'completed',
    createdAtMs,
    updatedAtMs: createdAtMs,
  });
  return { ...encodePayment(blank), ...said };
}

/** A completed payment of an invoice. */
export const examplePayment = example({
  description: 'Coffee',
  external_id: 'order-17',
  index: '0000001764000006075-ln_db0f60f89fad398d7292b150b336c8d10f03da77c248329f480b615de3b1c513',
  rail: 'invoice',
  direction: 'outbound',
  hash: 'db0f60f89fad398d7292b150b336c8d10f03da77c248329f480b615de3b1c513',
  preimage: 'f849eb29c74c00ca29c0bd5dfa563c055ec7b6ad05710a3d3ac8ffed4f195027',
  amount: '1000',
  invoice: exampleInvoice,
  personal_note: 'Coffee with Ana',
  expires_at: 1764086405000,
  finalized_at: 1764000006147,
  created_at: 1764000006075,
  updated_at: 1764000006147,
});

/** The invoice of {@link examplePayment}, as its payee created it. */
export const exampleCreatedInvoice = {
  index: '0000001764000005861-ln_db0f60f89fad398d7292b150b336c8d10f03da77c248329f480b615de3b1c513',
  invoice: exampleInvoice,
  description: 'Coffee',
  amount: '1000',
  created_at: 1764000005861,
  expires_at: 1764086405000,
  payment_hash: 'db0f60f89fad398d7292b150b336c8d10f03da77c248329f480b615de3b1c513',
  payment_secret: 'be2e30a41484cde1ad924a661103884252dc7a11431d6669ddf849548f829d4e',
  lsp_fee: null,
};

/** The invoice of {@link examplePayment} while its payee held the money. */
export const exampleHeldPayment = example({
  description: 'Coffee',
  index: exampleCreatedInvoice.index,
  rail: 'invoice',
  direction: 'inbound',
  hash: exampleCreatedInvoice.payment_hash,
  amount: exampleCreatedInvoice.amount,
  status: 'pending',
  status_msg: 'held',
  invoice: exampleInvoice,
  expires_at: exampleCreatedInvoice.expires_at,
  created_at: exampleCreatedInvoice.created_at,
  updated_at: 1764000006120,
});

/** {@link examplePayment} while it waited for approval. */
export const exampleAwaitingPayment: PaymentJson = {
  ...examplePayment,
  preimage: null,
  fees: '0',
  status: 'pending',
  status_msg: 'awaiting approval',
  finalized_at: null,
  updated_at: examplePayment.created_at,
};

/** What is decided about {@link exampleAwaitingPayment}. */
export const exampleApproval = {
  client_pk: '108b8f4a58756f3966eea1fe86f6d76b761242011580d37be4a3ecebcda5eeb1',
  client_label: 'Agent',
  max_fee: '10',
  node_pk: '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad',
  expires_at: examplePayment.created_at + 3_600_000,
};

/** {@link exampleAwaitingPayment} after it was rejected. */
export const exampleRejectedPayment: PaymentJson = {
  ...exampleAwaitingPayment,
  status: 'failed',
  status_msg: 'not approved',
  finalized_at: examplePayment.updated_at,
  updated_at: examplePayment.updated_at,
};

/** The payment in a test delivery, which does not exist. */
export const exampleTestPayment = example({
  index: '0000001764000006000-ln_0000000000000000000000000000000000000000000000000000000000000000',
  rail: 'invoice',
  direction: 'inbound',
  hash: '0000000000000000000000000000000000000000000000000000000000000000',
  amount: '0',
  status: 'failed',
  status_msg: 'test delivery: no payment was made',
  finalized_at: 1764000006000,
  created_at: 1764000006000,
});

/** A completed payment of an offer. */
export const exampleOfferPayment = example({
  description: 'Donations',
  index: '0000001764000006535-fs_b23543fb53dfc0c3be57f5fe5b83c3dfe4168222d3eee7e8725c9e700c409aaf',
  rail: 'offer',
  direction: 'outbound',
  hash: 'e0b5a8168e0450cec51da8e55b676e85cbc3735f96f8e964235d677639ce3aff',
  preimage: '5a1dd1337d2652fa6a8fdf7ffe0ab71f7fb91efbf8bbadb7c749267d2da31137',
  offer_id: 'e7cb35246609e8c9824aaa0db704cf32f2ba4261bb4a0d8cbf06df79796738c0',
  amount: '1000',
  message: 'Thank you',
  finalized_at: 1764000006758,
  created_at: 1764000006535,
  updated_at: 1764000006758,
});

/** An on-chain send whose transaction was just published. */
export const exampleOnchainPayment = example({
  index: '0000001764000007068-os_ae6a8986a8c11a7481951cb2b4ac76abfdd2e551347b61cecc9bb50dc4ce5a5b',
  rail: 'onchain',
  direction: 'outbound',
  txid: '08f9d236ad837d8e9383cb13476176ff61411d3d8f688a9df55b618c905ac0bf',
  amount: '50000',
  fees: '705',
  status: 'pending',
  status_msg: 'broadcasted',
  address: exampleAddress,
  tx: {
    version: 2,
    lock_time: 119,
    input: [
      {
        previous_output: 'febfcd47a1377f655bf545fa88664e80b20588904f08e802778dc29146ae70ad:0',
        script_sig: '',
        sequence: 4294967293,
        witness: [
          '3045022100d716328c56060580adb1158368d9423d724c30f0580abd935a012904ce918c790220650777dd41ef66abd6a6fcd3ea5e895316f51550fbe127ec62cc41d99050c3c201',
          '036a98b0e94384a77413b9c1717d2db9b0d78b4fdd31faa6619795fc35c680cda0',
        ],
      },
    ],
    output: [
      { value: 50000, script_pubkey: '00140658f00ee6da7f9049d96c90fbbd041e9f18e136' },
      { value: 949295, script_pubkey: '0014df13cf3571643c984f48e898f67f38cbc5567517' },
    ],
  },
  priority: 'normal',
  created_at: 1764000007068,
  updated_at: 1764000007166,
});

/** A completed payment to an LNURL-pay service. */
export const exampleLnurlPayment = example({
  index: '0000001764000007389-ln_2098a3f5f0b8570090557863010372580cf092e859bbdfd006f2d0e1b7a38b5b',
  rail: 'invoice',
  direction: 'outbound',
  hash: '2098a3f5f0b8570090557863010372580cf092e859bbdfd006f2d0e1b7a38b5b',
  preimage: '7828c21aecea4ed9312152994fbd4a360dae4cc7722db7623451e2c05056b8bc',
  amount: '1000',
  fees: '2',
  invoice:
    'lnbcrt10u1p5jfqg8sp55yn6xl20w3jp3f83vmravl6mzl62qug0f43gy3uvqvqhwptt5s5spp5yzv28a0shptspyz40p3szqmjtqx0pyhgtxaal5qx7tgwrdar3ddshp5rqft05tnz8rlrmzpw4fzst9z64jygdhavqya2zwe7z0dpxr5lclsxqzjc9qyysgqlntsg3u9ytmyty9kqh4m55uskuhl8zc6carxgn7w9jw9ysz64muj5gpgzdr5pc8907cd9qx84vhyqpxtnttv8jljamr7ev0ay77ga3gpxge597',
  message: 'Thank you',
  expires_at: 1764000607000,
  finalized_at: 1764000007418,
  created_at: 1764000007389,
  updated_at: 1764000007418,
});

/** A completed LNURL withdrawal. */
export const exampleWithdrawal = example({
  description: 'Refund',
  index: '0000001764000007565-ln_33c7ee31475b66ab069b7151a50896ae268f4d03046c5de17bcd19086eb10cab',
  rail: 'invoice',
  direction: 'inbound',
  hash: '33c7ee31475b66ab069b7151a50896ae268f4d03046c5de17bcd19086eb10cab',
  preimage: 'bd4df37eb3584ed4ed8240613ead91e903abe486a130f93c30a83d7787b73062',
  amount: '1000',
  invoice:
    'lnbcrt10u1p5jfqg8sp5wyrfal3ucsr020a00zl6l3d38pcmx6zc0u3ys7y5j28kvwn4gv7qpp5x0r7uv28tdn2kp5mw9g62zyk4cng7ngrq3k9mctme5vssm43pj4sdq22fjkvatwvsxqrrss9qyysgqhqfdukyh0ge5nwfknjk9m0r3lwdc303grcffkhyryclp7zjg2utqrvnrashf8aln7d4endd32955t0f7zx860zye6se3ze32h7yn6ngqh30x2u',
  expires_at: 1764003607000,
  finalized_at: 1764000007680,
  created_at: 1764000007565,
  updated_at: 1764000007680,
});

/** The node that {@link exampleSpontaneousPayment} pays. */
export const exampleNodePk = '034c97933379bae7c33368ad181ba371221d144630c51aaaece63f9f2ad56a94bf';

/** A completed payment without an invoice. */
export const exampleSpontaneousPayment = example({
  index: '0000001764000007701-ln_2a4a55b6321dfd95d02b16a666421034bc4ec8c981613e69015ed46332420016',
  rail: 'spontaneous',
  direction: 'outbound',
  hash: '2a4a55b6321dfd95d02b16a666421034bc4ec8c981613e69015ed46332420016',
  preimage: 'caacdfb9c4463efc7fa8f78f7228893b5d6a163e114f54a17a93dad999865d80',
  amount: '100',
  message: 'Thank you',
  finalized_at: 1764000007755,
  created_at: 1764000007701,
  updated_at: 1764000007755,
});

/** Sandbox coins that have arrived. */
export const exampleFunding = example({
  index: '0000001764000003618-ln_2c2f5d9a7cb45134177b2894f201dee4abc18bec7fd48d72e0caa7896b618c09',
  rail: 'spontaneous',
  direction: 'inbound',
  hash: '2c2f5d9a7cb45134177b2894f201dee4abc18bec7fd48d72e0caa7896b618c09',
  preimage: '2331e342ba1fde24b0cffcb76bbcbe92fe11df1dcfa3ff6a1351bacf39deab5a',
  amount: '50000',
  finalized_at: 1764000003618,
  created_at: 1764000003618,
});

/** The result of a purchase. */
export const examplePurchase = {
  redirect_url:
    'https://cash.app/launch/lightning/lnbcrt50u1p5jfqg8sp52hg3j3mu3ppagthsmsrpdunvzg6v9hnw0vm86m7aezsd4g68ap9spp5n94atjfjx56swfazrj8rk2hm2g3ln5f8z0a2vrm23z2tj20z3nysdql2p6hycmgv9ek2gr0vcsxy6t5vdhkjmsxqr8pq9qyysgqxzqpl3du02lwd2q75d2zur0f75j3awk3n5e4c5u2h3dedgfuacar3ltg2gx6sw7ky0ct7mrpqszc3rvnvnh465e3jcxgjydcay3q84gp4ayk8l',
  index: '0000001764000007861-ln_996bd5c93235350727a21c8e3b2afb5223f9d12713faa60f6a8894b929e28cc9',
};

/** A payer proof of {@link exampleOfferPayment}. */
export const exampleProof =
  'lnp1pgy5gmmwv96xjmmwwdvzzqn95krqf4093ea5p2w0mvlgmuq9hlj6rth6k26emv2g2g85gm6p7avsj4rgv9hxkgreda66gprfyjqsd2pquz66s95wq3gva3ga4rj4kemwsh9uxu6ljmuwjeprt4nhvwww8tl65qc0gfqtqggrfjtexvmehtnuxvmg45vphgm3ygw3g33sc5d24m8x870j44t2jjllqsz4nur2x360h02zh5u55cpgneyfwmkptm5x5xpthvm38kfa57pzhlpc7yqfjumsk58fyuh64t9g54cdxn9907x4lk7vq4qp70e5ewzaru2qjnsl6wt5jz3jpwseux4jqrkrxk6c76rtmajta7w3ayd2zgrkwkqgl6thmp4a2lej3s4fq70y7ce2zljqnkd064h7tthdddwwandf7x8aq05jqksa6yeh6fjjlf4glhmllc9tw8mlhy00h79m4kmuwjfx05k6xyfhl5p75zqpqg9scr26twjl6qltuqqe8l8czectrqq49jghzatlywxp4cxr45cdcznaqnex37s360zdyqaqmrq4255d7m5xmj00n9zssyvyv4vzxh35gf7jcp28fwnmt42qmutz4uw48chp8zd8yrjt8mk3ltcz4gn03czj77v2sfn7w2yqcx3rsrtkdg27whcljkmpeahs4p8vm3svrgnjw4mu0pr3gmvwh4v3ux30q6pulaup8j0hnx7jxus34yuuzsl46l5j5u8c0auhupypkuzqxckj3wgk6tnnwm6n5mef5wpmslzvuzcltfngmk9aatrrqdk9xthucwf2q876yh3xyck9pwu4qpcwges2y4f70gwdemzs63taqxtt0cdml5p7ecr35cwxrpa0rg8fvgpxkvcvgvp05mxv5rm0x2u88tj2u7z3qh4evjva32vln2femu8v79lzu9fmw66yuvgzw8sqjxk3urhfdl4nhnf679xutre0dpv4wz93szt4frsgejv5t30nv9gmz8jy3vxsa4lmy47zsx68ss6k54y29zlzrvcy80s5thz03gtae4q4dpzrn2lk6k4ppvq6c870fkqnfj9ckv790q76qdvvynhftc4wswk3njpxpjx8nzf9nydaywcaluh9xkpmwq0tl2lzrnym9rg0fuagrjmy0uhgefz8v6dsw4vt6a92stk2qqh3w2eaeaj59pffkpc5whs9wmaj2vt2vgqzw9elllgra5xyvmmjyphhyer9wgsrzdc';
/** The fields that {@link exampleProof} discloses. */
export const exampleCheckedProof = {
  valid: true as const,
  payer_id: '0265a58604d5e58e7b40a9cfdb3e8df005bfe5a1aefab2b59db148520f446f41f7',
  payee_node_id: '034c97933379bae7c33368ad181ba371221d144630c51aaaece63f9f2ad56a94bf',
  payment_hash: 'e0b5a8168e0450cec51da8e55b676e85cbc3735f96f8e964235d677639ce3aff',
  preimage: '5a1dd1337d2652fa6a8fdf7ffe0ab71f7fb91efbf8bbadb7c749267d2da31137',
  proof_note: 'For order 17',
  invoice_amount: '1000',
  invoice_created_at: 1764000006000,
  offer_description: 'Donations',
  offer_issuer: null,
  invreq_payer_note: 'Thank you',
  disclosed_types: [10, 88, 89, 164, 168, 170, 176],
};

/** An invoice of an outside node. */
export const exampleOutsideInvoice = {
  invoice:
    'lnbcrt10u1p5jfqgxsp5ueh83few3q4g0jzy4k42p2awqzd0q04y75nj3tw0hpn2qw5ue9sspp5j27ajr7tydeh2atf56zee7c8xts05x4ee6hmt3wu2v3avfz2nj6qdqqxqyz5vq9qyysgqec9sy849dy6aatgvjkrrk7ft232rr9cg267p3lxka44wq3rr82tra34vrrveavqdjaygjzddcpgmr7gnlnhj3pwj2wh8c2dg38ahjrqqj00s2u',
  payment_hash: '92bdd90fcb2373757569a6859cfb0732e0fa1ab9ceafb5c5dc5323d6244a9cb4',
};

/** The updated index of {@link examplePayment}. */
export const exampleUpdatedIndex = updatedIndex(
  examplePayment.updated_at,
  idOfIndex(examplePayment.index as PaymentIndex),
);

/** The schema of a payment index in a request. */
export const indexInput = once(() =>
  paymentIndexInput().meta({
    description: 'Index of the payment.',
    examples: [examplePayment.index],
  }),
);

/** A webhook endpoint. */
export const exampleEndpoint = {
  id: 'ep_0d5f7ea1c3b94a6f8e21d7c6b5a49382',
  url: 'https://shop.example/hook',
  events: ['payment.finalized' as const],
  description: null,
  signed: true,
  created_at: 1764000006000,
  expires_at: null,
};

/** A request as it was sent to {@link exampleEndpoint}; its body is cut here. */
export const exampleSentWebhook = {
  headers: {
    'content-type': 'application/json',
    'user-agent': 'wallet-sidecar',
    'webhook-id': 'msg_6df3ebf08cc49a243977e810ea60fb151f7614e2',
    'webhook-timestamp': '1764000006',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  body: '{"index":"0000001764000006535-fs_b23543fb53dfc0c3be57f5fe5b83c3dfe4168222d3eee7e8725c9e700c409aaf"}',
};

/** A client that reads. */
export const exampleClient = {
  client_pk: '108b8f4a58756f3966eea1fe86f6d76b761242011580d37be4a3ecebcda5eeb1',
  created_at: 1764000008338,
  expires_at: null,
  label: 'Shop',
  scopes: ['read_info' as const],
  permissions: [],
  effective_permissions: [
    'node_info' as const,
    'list_channels' as const,
    'get_human_bitcoin_address' as const,
  ],
  budget: null,
  approve_above: null,
  origins: null,
  own: false,
};

/** A client of whose budget little is left. */
export const exampleLowClient = {
  ...exampleClient,
  label: 'Agent',
  scopes: ['send' as const],
  effective_permissions: ['pay_invoice' as const, 'pay_offer' as const, 'pay_onchain' as const],
  budget: {
    amount: '10000',
    period: 'day' as const,
    max_payment: null,
    spent: '8500',
    resets_at: 1764028800000,
  },
};
