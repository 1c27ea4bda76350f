import { describe, expect, it, vi } from 'vitest'
import { addressProblem, callWithin } from '../../../src/platform/outbound/address.ts'

const PUBLIC = [
  'https://hooks.example.com/path?x=1',
  'https://example.co.uk:8443/',
  'https://93.184.216.34/',
  'https://172.32.0.1/',
  'https://localhosting.example.com/',
  'https://ec2-54-12-3-4.eu-central-1.compute.amazonaws.com/',
  'https://internal-audit.example.com/',
  'https://v1-2-3.example.com/',
  'https://notlocalho.st/',
  'https://[2606:4700:4700::1111]/',
]

const LOOPBACK = [
  'http://127.0.0.1:9000/hook',
  'http://localhost:9000/',
  'http://receiver.localhost/',
  'http://localhost../',
  'http://[::1]:80/',
  'http://2130706433/',
  'http://0x7f.1/',
]

const PRIVATE = [
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://0xA9FEA9FE/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[::]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[2001:20::1]/',
  'https://[2001:2::1]/',
  'https://[3fff::1]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[::10.0.0.1]/',
  'https://[fd12:3456::1]/',
  'https://012.1.2.3/',
  'https://167772161/',
  'https://１０.0.0.1/',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://intranet/',
  'https://router.lan./',
  'https://10.0.0.1../',
  'https://db.prod.svc/',
  'https://api.default.svc.cluster.local./',
  'https://localhost.example.com/',
  'https://a.localhost.example.com/',
  'https://host.home.arpa/',
  'https://wiki.intranet/',
  'https://pay.corp/',
  'https://10.0.0.1.nip.io/',
  'https://app.127-0-0-1.sslip.io/',
  'https://7f000001.nip.io/',
  'https://--1.sslip.io/',
  'https://169.254.169.254.example.com/',
  'https://localtest.me/',
  'https://localho.st/',
  'https://app.localho.st/',
  'https://www.traefik.me/',
  'https://7f000001.0a000001.rbndr.us/',
  'https://app.lcl.host/',
  'https://local.gd/',
  'https://fuf.me/',
  'https://localhost4.localdomain4/',
]

describe('An address in production', () => {
  it.each(PUBLIC)('is allowed when it is public: %s', url => {
    expect(addressProblem(url, false)).toBeUndefined()
  })

  it.each([...LOOPBACK, ...LOOPBACK.map(url => url.replace('http:', 'https:')), ...PRIVATE])(
    'is rejected when it leads to an internal network: %s',
    url => {
      expect(addressProblem(url, false)).toBeTypeOf('string')
    },
  )

  it('is rejected with a user name or password', () => {
    for (const url of ['https://me@hooks.example.com/', 'https://me:secret@hooks.example.com/'])
      expect(addressProblem(url, false)).toBe('must not have a user name or password')
  })

  it('is rejected without https', () => {
    expect(addressProblem('http://hooks.example.com/', false)).toBe('must be an https address, not http')
    expect(addressProblem('ftp://hooks.example.com/', false)).toBeTypeOf('string')
    expect(addressProblem('nonsense', false)).toBeTypeOf('string')
  })
})

describe("An address on a developer's computer", () => {
  it.each([...PUBLIC, ...LOOPBACK])('may be loopback, also over http: %s', url => {
    expect(addressProblem(url, true)).toBeUndefined()
  })

  it('is rejected without https unless it is loopback', () => {
    expect(addressProblem('http://hooks.example.com/', true)).toBe('must be an https address, not http')
  })

  it.each(PRIVATE)('is rejected in a private network: %s', url => {
    expect(addressProblem(url, true)).toBeTypeOf('string')
  })
})

it.each(['\n', '\r', '\t', '\0', ' ', '\x7f', '%0a', '%0D', '%00', '%250a', '%7F'])(
  'an address with control characters, which parsers ignore or pass on, is rejected: %j',
  character => {
    for (const url of [`https://a.example.com/x${character}y`, `https://a.example${character}.com/`])
      expect(addressProblem(url, true)).toBe('must have no spaces or control characters')
  },
)

describe('a call with a time limit', () => {
  it('is aborted with a TimeoutError when the time is over', async () => {
    const hanging = callWithin(
      20,
      signal => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('leaves no timer behind, whether it succeeds or fails', async () => {
    vi.useFakeTimers()
    try {
      expect(await callWithin(15_000, async signal => signal.aborted)).toBe(false)
      await expect(callWithin(15_000, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
