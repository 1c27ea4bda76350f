import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { completeSecrets, readSecrets, readSettings } from '../../scripts/settings.ts'

describe('Settings', () => {
  test('have defaults', () => {
    expect(readSettings({}, {})).toEqual({
      port: 8787,
      dataFolder: './data',
      administrator: { username: 'administrator', password: undefined },
    })
  })

  test('are read from the environment before .dev.vars', () => {
    const settings = readSettings(
      { PORT: '9000', ADMIN_PASSWORD: 'from the environment', ADMIN_USERNAME: '' },
      { PORT: '9001', ADMIN_PASSWORD: 'from the file', ADMIN_USERNAME: 'chief' },
    )
    expect(settings.port).toBe(9000)
    expect(settings.administrator).toEqual({ username: 'chief', password: 'from the environment' })
  })

  test.each(['0', '65536', 'http', '80.5', '-1', ' 80'])('with PORT %j are rejected', PORT => {
    expect(() => readSettings({ PORT }, {})).toThrow('PORT must be a number from 1 to 65535')
  })
})

describe('.dev.vars', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bindery-settings-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('is created with random secrets that only its owner can read, and then left unchanged', () => {
    expect(completeSecrets(folder)).toEqual(['TOKEN_KEYS', 'TOKEN_SECRET', 'PASSWORD_PEPPER', 'SEALING_KEY'])
    const first = readFileSync(join(folder, '.dev.vars'), 'utf8')
    expect(readSecrets(folder).TOKEN_SECRET).toMatch(/^[\w-]{43}$/)
    expect(JSON.parse(readSecrets(folder).TOKEN_KEYS!)).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.any(String),
          d: expect.any(String),
          kid: expect.any(String),
        },
      ],
    })
    expect(readSecrets(folder).TOKEN_SECRET).not.toBe(readSecrets(folder).PASSWORD_PEPPER)
    expect(statSync(join(folder, '.dev.vars')).mode & 0o077).toBe(0)
    expect(completeSecrets(folder)).toEqual([])
    expect(readFileSync(join(folder, '.dev.vars'), 'utf8')).toBe(first)
  })

  test('keeps every line that a person wrote, and is extended with missing secrets', () => {
    writeFileSync(join(folder, '.dev.vars'), 'ADMIN_PASSWORD="a b#c"\nTOKEN_SECRET=mine')
    expect(completeSecrets(folder)).toEqual(['TOKEN_KEYS', 'PASSWORD_PEPPER', 'SEALING_KEY'])
    expect(readSecrets(folder)).toMatchObject({ ADMIN_PASSWORD: 'a b#c', TOKEN_SECRET: 'mine' })
  })
})
