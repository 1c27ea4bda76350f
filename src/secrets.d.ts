/** Secrets (`wrangler secret put`, locally .dev.vars) and optional bindings. Merges with the generated bindings. */
interface __BaseEnv_Env {
  /** Signs access tokens: a JSON Web Key Set of Ed25519 keys (`npm run token-key`). The first signs, all verify. */
  readonly TOKEN_KEYS: string
  /**
   * Signs file links and event paging tokens; at least 32 characters. To rotate, put the new one before the old with a
   * comma, and remove the old one once its links have expired.
   */
  readonly TOKEN_SECRET: string
  /** Part of every password hash; a change makes all passwords wrong. */
  readonly PASSWORD_PEPPER: string
  /**
   * Seals secrets in databases and event paging tokens; at least 32 characters. To rotate, put the new one before the old
   * with a comma: without the old one, what it sealed is unreadable.
   */
  readonly SEALING_KEY: string
  /**
   * Address of the plugin runner, and the name of this start, from which both sides derive their secret
   * (src/extension/plugins/process-runner.ts). `npm start` sets both; PLUGIN_RUNNER `isolate` uses neither.
   */
  readonly PLUGIN_RUNNER_ADDRESS?: string
  readonly PLUGIN_RUNNER_START?: string
  /** Limit of a plugin call in milliseconds; default 4,200. Tests set more: their machine may be busy. */
  readonly PLUGIN_CALL_MS?: string
  /** Data points, where a dataset is bound (wrangler.toml, docs/observability.md). */
  readonly METRICS?: AnalyticsEngineDataset
  /** Files of the library that shows the reference at /docs (wrangler.toml, `assets`). Tests of the service have none. */
  readonly ASSETS?: Fetcher
}
