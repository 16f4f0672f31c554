export { alwaysDisclosedTypes, createPayerProof, type PayerProofParts } from './create.ts';
export { isDisclosableType, type PayerProofValues } from './fields.ts';
export { type PayerProof, paysIssuerOf, verifyPayerProof } from './verify.ts';
