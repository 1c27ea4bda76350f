// What the OpenAPI document is completed with: texts, half a megabyte of them, which are a file apart (src/bundles) since nothing else reads them.
export { default as examples } from '../platform/http/reference/examples.json'
export { describeDocument } from './document.ts'
