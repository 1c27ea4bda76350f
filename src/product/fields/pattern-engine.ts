// The linear-time engine for field patterns. It is large, so it is built into its own file, patterns.bundle.mjs, which the service
// loads with its first configuration (scripts/bundles.ts).
export { RE2JS } from 're2js'
