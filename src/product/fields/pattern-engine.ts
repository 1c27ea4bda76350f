// The engine of patterns: built into one file of its own, patterns.bundle.mjs, which the service loads with its first
// configuration (scripts/bundles.ts).
export { RE2JS } from 're2js'
