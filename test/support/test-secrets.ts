/** TOKEN_SECRET of the service under test. */
export const TEST_TOKEN_SECRET = 'a token secret that only tests use'
