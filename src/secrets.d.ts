/** Secrets: set with `wrangler secret put`; locally from .dev.vars. Joins the generated bindings. */
interface __BaseEnv_Env {
  /** Signs access tokens; at least 32 characters. A change ends all sessions. */
  readonly TOKEN_SECRET: string
  /** Goes into every password hash; a change makes all passwords wrong. */
  readonly PASSWORD_PEPPER: string
  /**
   * Seals secrets in the databases; at least 32 characters. To change it, put the new one in front of the old with a comma
   * in between: without the old one what it sealed is unreadable.
   */
  readonly SEALING_KEY: string
}
