import { expect, test } from 'vitest'
import { keyedHash, seal, unseal } from '../../src/platform/sealed.ts'

const env = { SEALING_KEY: 'a sealing key that only this test knows' }
const text = 'Authorization: Bearer ünder-tight'

test('a sealed value opens in its own context, differs each time and reveals nothing', async () => {
  const sealed = await seal(env, 'a/1/x', text)
  expect(await unseal(env, 'a/1/x', sealed)).toBe(text)
  expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('Bearer')
  expect(await seal(env, 'a/1/x', text)).not.toBe(sealed)
})

test('a sealed value does not open in another context, with another key or after a change', async () => {
  const sealed = await seal(env, 'a/1/x', text)
  const other = { SEALING_KEY: 'another sealing key that only this test knows' }
  const changed = sealed.slice(0, 30) + (sealed[30] === 'A' ? 'B' : 'A') + sealed.slice(31)
  await expect(unseal(env, 'b/1/x', sealed)).rejects.toThrow('cannot be opened')
  await expect(unseal(other, 'a/1/x', sealed)).rejects.toThrow('SEALING_KEY does not contain the key')
  await expect(unseal(env, 'a/1/x', changed)).rejects.toThrow('cannot be opened')
  await expect(unseal(env, 'a/1/x', text)).rejects.toThrow('is not sealed')
})

test('after a key change the old key still opens what it sealed, and the new one seals', async () => {
  const before = await seal(env, 'a/1/x', text)
  const fresh = 'the sealing key that comes after it and is as long'
  const both = { SEALING_KEY: `${fresh}, ${env.SEALING_KEY}` }
  expect(await unseal(both, 'a/1/x', before)).toBe(text)
  const after = await seal(both, 'a/1/x', text)
  expect(await unseal({ SEALING_KEY: fresh }, 'a/1/x', after)).toBe(text)
  await expect(unseal(env, 'a/1/x', after)).rejects.toThrow('SEALING_KEY does not contain the key')
})

test('keyed hashes stay the same when a new key is put in front, so earlier requests are recognized', () => {
  const hashOf = (keys: string) => keyedHash({ SEALING_KEY: keys }).update(text).digest('hex')
  const fresh = 'the sealing key that comes after it and is as long'
  expect(hashOf(`${fresh},${env.SEALING_KEY}`)).toBe(hashOf(env.SEALING_KEY))
  expect(hashOf(fresh)).not.toBe(hashOf(env.SEALING_KEY))
})

test('nothing is sealed with a key shorter than 32 characters', async () => {
  await expect(seal({ SEALING_KEY: 'short' }, 'a/1/x', text)).rejects.toThrow('at least 32 characters')
})
