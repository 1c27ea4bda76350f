/**
 * Settings of a test's HTTP server that never closes an idle connection. By default Node closes it after 5 s, which may be
 * exactly when a busy machine sends the next request on it. That request then fails.
 */
export const KEPT_OPEN = { keepAliveTimeout: 0 } as const
