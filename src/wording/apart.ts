// The texts that complete the OpenAPI document: half a megabyte. They are a separate file (src/bundles), because nothing else
// reads them.
export { default as examples } from '../platform/http/reference/examples.json'
export { describeDocument } from './document.ts'
