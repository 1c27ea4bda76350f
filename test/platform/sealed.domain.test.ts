import { expect, test } from 'vitest'
import { seal, unseal } from '../../src/platform/sealed.ts'

const env = { SEALING_KEY: 'a sealing key that only this test knows' }
const text = 'Authorization: Bearer ünder-tight'

test('a sealed value opens where it was sealed for, and says nothing before', async () => {
  const sealed = await seal(env, 'a/1/x', text)
  expect(await unseal(env, 'a/1/x', sealed)).toBe(text)
  expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain('Bearer')
  expect(await seal(env, 'a/1/x', text)).not.toBe(sealed)
})

test('it opens nowhere else, under no other key, and not when it was changed', async () => {
  const sealed = await seal(env, 'a/1/x', text)
  const other = { SEALING_KEY: 'another sealing key that only this test knows' }
  const changed = sealed.slice(0, 30) + (sealed[30] === 'A' ? 'B' : 'A') + sealed.slice(31)
  await expect(unseal(env, 'b/1/x', sealed)).rejects.toThrow('does not open')
  await expect(unseal(other, 'a/1/x', sealed)).rejects.toThrow('SEALING_KEY is another')
  await expect(unseal(env, 'a/1/x', changed)).rejects.toThrow('does not open')
  await expect(unseal(env, 'a/1/x', text)).rejects.toThrow('is not sealed')
})

test('without a key worth its name nothing is sealed', async () => {
  await expect(seal({ SEALING_KEY: 'short' }, 'a/1/x', text)).rejects.toThrow('at least 32 characters')
})
