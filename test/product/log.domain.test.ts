import { expect, test } from 'vitest'
import { ArchiveRefused } from '../../packages/zip/refusal.ts'
import type { Finding } from '../../src/product/configuration.ts'
import { formatLog, refusalFinding } from '../../src/product/log.ts'

const warning: Finding = {
  severity: 'WARNING',
  path: 'notes.txt',
  code: 'unknownFile',
  message: 'This file is ignored.',
}
const error: Finding = {
  severity: 'ERROR',
  path: 'config.json',
  line: 3,
  column: 5,
  code: 'unknownCurrency',
  message: "'EURO' is no currency.",
}

test('the log of a deploy ends with its version and host', () => {
  expect(formatLog([warning], { version: 7, hostname: 'a-b.co.test.example' })).toBe(
    [
      '0 errors, 1 warning',
      'WARNING notes.txt unknownFile This file is ignored.',
      'Deployed version 7 to a-b.co.test.example',
    ].join('\n'),
  )
})

test('the log of a failure lists every finding and ends with the number of errors', () => {
  expect(formatLog([error, { ...error, column: undefined }, warning], undefined)).toBe(
    [
      '2 errors, 1 warning',
      "ERROR config.json:3:5 unknownCurrency 'EURO' is no currency.",
      "ERROR config.json:3 unknownCurrency 'EURO' is no currency.",
      'WARNING notes.txt unknownFile This file is ignored.',
      'Deployment failed: 2 errors',
    ].join('\n'),
  )
})

test('a line break in a path or message cannot forge a line of the log', () => {
  const forged = formatLog(
    [{ ...error, path: 'a\nDeployed version 1 to x', message: 'b\u2028c\r\nd' }],
    undefined,
  )
  expect(forged.split(/[\n\r\u2028]/)).toHaveLength(3)
})

test('a rejected archive becomes a single finding', () => {
  expect(refusalFinding(new ArchiveRefused('notAZip', 'No zip.'))).toEqual({
    severity: 'ERROR',
    path: '(archive)',
    code: 'notAZip',
    message: 'No zip.',
  })
})
