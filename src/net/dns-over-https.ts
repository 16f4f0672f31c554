import type { Agent } from 'node:https';
import { base64urlnopad } from '@scure/base';
import {
  type DnsAnswer,
  type DnsName,
  decodeDnsAnswer,
  encodeDnsQuery,
  isSameName,
} from '../codecs/dns/index.ts';
import { ApiError } from '../model/errors.ts';
import { get, readBytes } from './bounded-get.ts';
import type { RecordSource } from './dnssec/chain.ts';
import { sortRecords } from './dnssec/record-set.ts';
import { shown } from './dnssec/unproven.ts';
import { serviceFailed } from './service-error.ts';

interface DohOptions {
  /** An https URL that speaks DNS over HTTPS (RFC 8484), configured by the operator. */
  readonly url: string;
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly ca?: string | undefined;
  /** Keeps the connections to the resolver. */
  readonly agent: Agent;
  /** Aborts all requests in progress. */
  readonly signal: AbortSignal;
}

const MEDIA_TYPE = 'application/dns-message';
/** A proof needs two questions for each zone, and each alias may lead through more zones. */
const MAX_QUESTIONS = 32;
/** The most bytes of all answers of one look-up together. */
const MAX_BYTES = 128 * 1024;
const NO_ERROR = 0;
const NAME_ERROR = 3;

/**
 * Opens a source of DNS records for one look-up, which asks a resolver. It does not check that the records are true;
 * the DNSSEC chain does that (docs/decisions.md 98). It asks at most 32 questions, uses at most 128 KiB of answers
 * together, and follows no redirects. It throws error 113, and CodecError('dns') for an answer that cannot be read.
 */
export function openDohSource({ url, ...options }: DohOptions): RecordSource {
  let questions = 0;
  let bytesLeft = MAX_BYTES;
  return async (name, type) => {
    questions += 1;
    if (questions > MAX_QUESTIONS) {
      throw unusable('The name leads through too many zones of the DNS, so it cannot be used.');
    }
    const target = new URL(url);
    target.searchParams.set('dns', base64urlnopad.encode(encodeDnsQuery(name, type)));
    const body = await ask(target, options);
    bytesLeft -= body.length;
    if (bytesLeft < 0) throw unusable('The DNS records that prove the name are too large.');
    const answer = decodeDnsAnswer(body);
    requireAnswerTo(answer, name, type);
    return sortRecords(answer.records);
  };
}

/** Throws error 113 when the resolver reports a failure, answers another question or cuts its answer short. */
function requireAnswerTo(answer: DnsAnswer, name: DnsName, type: number): void {
  const { responseCode, questions, truncated } = answer;
  if (responseCode !== NO_ERROR && responseCode !== NAME_ERROR) {
    throw unusable(`The DNS resolver failed to look up ${shown(name)}: try again later.`);
  }
  const [question, more] = questions;
  if (!question || more || question.type !== type || !isSameName(question.name, name)) {
    throw unusable('The DNS resolver answered another question: check --doh-url.');
  }
  if (truncated) throw unusable('The DNS resolver cut its answer short: check --doh-url.');
}

async function ask(url: URL, options: Omit<DohOptions, 'url'>): Promise<Uint8Array> {
  try {
    const response = await get({ url, accept: MEDIA_TYPE, ...options });
    const { statusCode, headers } = response;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (statusCode === 200 && type === MEDIA_TYPE) return await readBytes(response, url, MAX_BYTES);
    response.destroy();
    throw unusable(
      `The DNS-over-HTTPS resolver does not answer with ${MEDIA_TYPE} (RFC 8484): check --doh-url.`,
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const problem = options.signal.aborted ? 'timed_out' : 'unreachable';
    const message = 'The DNS-over-HTTPS resolver cannot be reached: check --doh-url.';
    throw serviceFailed(problem, message, error);
  }
}

function unusable(message: string) {
  return serviceFailed('unusable_answer', message);
}
