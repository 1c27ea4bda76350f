// The linear-time engine of field patterns. It is large, so it is built into its own file, patterns.bundle.mjs, which
// the service loads with its first configuration (scripts/bundles.ts).
export { RE2JS } from 're2js'
