import { SIGNED } from '../../src/store/signed-tables.ts';

/** Takes back what later versions than 3 have changed of the schema. */
export const TO_VERSION_3 = `
  DROP TABLE wallet_sidecar.word_bundle, wallet_sidecar.word_loose;
  ALTER TABLE wallet_sidecar.cache DROP COLUMN external_id, DROP COLUMN completed_at, DROP COLUMN words;
  ALTER TABLE wallet_sidecar.client DROP COLUMN approve_above_msat, DROP COLUMN origins, DROP COLUMN own;
  ALTER TABLE wallet_sidecar.spend DROP COLUMN approve_until;
  CREATE TABLE wallet_sidecar.spent (wallet TEXT COLLATE "C" NOT NULL, client_pk TEXT COLLATE "C" NOT NULL,
    starts_at BIGINT NOT NULL, amount_msat NUMERIC NOT NULL, PRIMARY KEY (wallet, client_pk, starts_at));
  ALTER TABLE wallet_sidecar.budget DROP COLUMN spent;
  ${Object.values(SIGNED)
    .filter(({ table }) => table !== 'connector_state')
    .map(({ table }) => `ALTER TABLE wallet_sidecar.${table} DROP COLUMN mac;`)
    .join(' ')}
  ALTER TABLE wallet_sidecar.meta DROP COLUMN confirmed_at, DROP COLUMN unconfirmed;
  DROP TABLE wallet_sidecar.advance;
  ALTER TABLE wallet_sidecar.idempotency DROP COLUMN any_caller;
  DROP TABLE wallet_sidecar.given_way;
  UPDATE wallet_sidecar.schema_version SET version = 3;`;
