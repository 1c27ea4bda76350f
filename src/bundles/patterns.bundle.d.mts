// Types of the built file; the file itself is made by `npm run config`.
export { RE2JS } from '../platform/fields/pattern-engine.ts'
