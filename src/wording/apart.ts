// The texts that complete the OpenAPI document: half a megabyte, in a separate bundle (src/bundles), since only it needs them.
export { default as examples } from '../platform/http/reference/examples.json'
export { describeDocument } from './document.ts'
