// Types of the built file; the file itself is made by `npm run config`.
export { RE2JS } from '../product/fields/pattern-engine.ts'
