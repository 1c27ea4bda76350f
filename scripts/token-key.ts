// `npm run token-key` prints a new key for TOKEN_KEYS.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readArguments } from './command-line.ts'

/** Returns a new Ed25519 key with its private half, as a member of the JSON Web Key Set in TOKEN_KEYS. */
export const newTokenKey = (): object => ({
  ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  kid: randomBytes(6).toString('base64url'),
})

/** Returns a TOKEN_KEYS with one new key. */
export const newTokenKeys = (): string => JSON.stringify({ keys: [newTokenKey()] })

const USAGE = 'npm run token-key    prints a new key for TOKEN_KEYS, and how to replace the old one'

const STEPS = `
This key is secret. It replaces another key in three steps, without ending a session:
  1. add it to TOKEN_KEYS ({"keys":[…]}) after the others, and deploy: from now on its tokens are accepted
  2. move it to the front, and deploy: from now on it signs tokens
  3. an hour later, when the last token of the old key has expired, remove the old key, and deploy`

if (import.meta.main)
  try {
    readArguments(USAGE, { options: {} })
    console.log(JSON.stringify(newTokenKey()))
    console.error(STEPS)
  } catch (problem) {
    console.error(`token-key: ${(problem as Error).message}`)
    process.exitCode = 1
  }
