/** Secrets: set with `wrangler secret put`; locally from .dev.vars. And what may be bound. Joins the generated bindings. */
interface __BaseEnv_Env {
  /**
   * Signs access tokens: a JSON Web Key Set of Ed25519 keys. The first signs; the others are known still, or already, so
   * that a key can be changed without ending a session (`npm run token-key` makes one and says how).
   */
  readonly TOKEN_KEYS: string
  /**
   * Signs links to files and paging tokens of the event stream; at least 32 characters. To change it, put
   * the new one in front of the old with a comma in between, and take the old one out once its links have ended.
   */
  readonly TOKEN_SECRET: string
  /** Goes into every password hash; a change makes all passwords wrong. */
  readonly PASSWORD_PEPPER: string
  /**
   * Seals secrets in the databases, and paging tokens of events; at least 32 characters. To change it, put the new one in
   * front of the old with a comma in between: without the old one what it sealed is unreadable.
   */
  readonly SEALING_KEY: string
  /**
   * Where the plugin runner beside the service listens, and the name of this start, of which both sides make their secret
   * (src/extension/plugins/process-runner.ts). `npm start` gives both; there are none where PLUGIN_RUNNER is `isolate`.
   */
  readonly PLUGIN_RUNNER_ADDRESS?: string
  readonly PLUGIN_RUNNER_START?: string
  /** How long a call of a plugin may take, in milliseconds; by default 4,200. Tests give it more: their machine may be busy. */
  readonly PLUGIN_CALL_MS?: string
  /** Data points of what was done, where a dataset is bound (wrangler.toml, docs/observability.md). */
  readonly METRICS?: AnalyticsEngineDataset
}
