/** Secrets (`wrangler secret put`, locally .dev.vars) and optional bindings. Merges with the generated bindings. */
interface __BaseEnv_Env {
  /** Signs access tokens: a JSON Web Key Set of Ed25519 keys (`npm run token-key`). The first key signs, all keys verify. */
  readonly TOKEN_KEYS: string
  /**
   * Signs file links and event paging tokens; at least 32 characters. To rotate it, put the new secret before the old one,
   * separated by a comma, and remove the old one once its links have expired.
   */
  readonly TOKEN_SECRET: string
  /** Part of every password hash. A change makes all passwords wrong. */
  readonly PASSWORD_PEPPER: string
  /**
   * Seals secrets in databases and event paging tokens; at least 32 characters. To rotate it, put the new key before the old one,
   * separated by a comma. Without the old key, what it sealed is unreadable.
   */
  readonly SEALING_KEY: string
  /**
   * Address of the plugin runner, and the name of this start. Both sides derive their shared secret from that name
   * (src/extension/plugins/runners/process-runner.ts). `npm start` sets both; PLUGIN_RUNNER `isolate` uses neither.
   */
  readonly PLUGIN_RUNNER_ADDRESS?: string
  readonly PLUGIN_RUNNER_START?: string
  /** Time limit of a plugin call in milliseconds; default 4,200. Tests set a higher limit, because their machine may be busy. */
  readonly PLUGIN_CALL_MS?: string
  /** Receives data points, where a dataset is bound (wrangler.toml, docs/observability.md). */
  readonly METRICS?: AnalyticsEngineDataset
  /** Files of the library that shows the reference at /docs (wrangler.toml, `assets`). Service tests have none. */
  readonly ASSETS?: Fetcher
}
