/**
 * Settings of a test's HTTP server: it never ends an idle connection. As Node has it, it does so after 5 s, just when a busy machine may
 * send the next request on it: that one fails.
 */
export const KEPT_OPEN = { keepAliveTimeout: 0 } as const
