/** The wire form of the DNS, as far as signed answers need it (RFC 1035, 4034, 5155, 8484). */
export {
  type DnsAnswer,
  type DnsRecord,
  decodeDnsAnswer,
  encodeDnsQuery,
  encodeDnsRecord,
  TYPE,
} from './message.ts';
export {
  compareNames,
  type DnsName,
  dnsName,
  encodeDnsName,
  isBelow,
  isSameName,
  isWithin,
  lastLabels,
  parseDnsName,
  showDnsName,
} from './name.ts';
export {
  type Dnskey,
  type Ds,
  type Nsec,
  type Nsec3,
  type Rrsig,
  readAlias,
  readDnskey,
  readDs,
  readNsec,
  readNsec3,
  readRrsig,
  readTxt,
} from './record-data.ts';
