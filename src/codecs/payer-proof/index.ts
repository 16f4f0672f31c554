export { alwaysDisclosedTypes, createPayerProof, type PayerProofParts } from './create.ts';
export { isDisclosableType } from './fields.ts';
export { type PayerProof, verifyPayerProof } from './verify.ts';
