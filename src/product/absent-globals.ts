// Globals of Node and browsers that plugins do not have, for messages of checks and of failed calls.

const network =
  'plugins have no network; let an integration fill in data or rate, or write auxiliary data beforehand'
const timers = 'plugins have no timers; return the result at once, or from an async function'
const browser = 'it belongs to browsers'
const addresses = 'build addresses from text with encodeURIComponent'
const encoding = 'encode text with unescape(encodeURIComponent(text))'

/** What authors can do without each of them. */
export const ABSENT_GLOBALS: Readonly<Record<string, string>> = {
  fetch: network,
  XMLHttpRequest: network,
  WebSocket: network,
  setTimeout: timers,
  setInterval: timers,
  setImmediate: timers,
  clearTimeout: timers,
  clearInterval: timers,
  queueMicrotask: 'use Promise.resolve().then',
  requestAnimationFrame: timers,
  process: 'plugins have no environment; keep settings in a table, a module or a secret',
  Buffer: 'it belongs to Node; use btoa and atob for Base64',
  crypto: 'all numbers repeat for the same request; Math.random suffices for a reference',
  performance: 'use Date.now, which is the time of the request',
  TextEncoder: encoding,
  TextDecoder: encoding,
  URL: addresses,
  URLSearchParams: addresses,
  window: browser,
  document: browser,
  navigator: browser,
  localStorage: 'keep data with socotraApi.setAuxData',
  sessionStorage: 'keep data with socotraApi.setAuxData',
}
