import { createHash } from 'node:crypto'

/** Namespace of product locators. It must never change: locators of products are stored with policies. */
const NAMESPACE = Buffer.from('6f1d2c9a8b7e4f05a3c41e5d7b90a2f8', 'hex')

/** The product's UUID (version 5 of its name): the same in every tenant and every version of a configuration. */
export function productLocator(name: string): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(name.normalize('NFC'), 'utf8')
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
