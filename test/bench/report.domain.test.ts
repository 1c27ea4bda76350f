import { expect, test } from 'vitest'
import { bundleLine, operationsTable, startUpLine, table } from '../../bench/report.ts'

test('a table has columns as wide as their widest cell, figures to the right', () => {
  expect(
    table([
      ['operation', 'req/s', 'round trips'],
      ['issue', '7.0', 'd1 1, object 1'],
    ]),
  ).toBe('operation  req/s  round trips\nissue        7.0  d1 1, object 1')
})

test('an operation stands with its ratio, the spread of the rounds and the goal', () => {
  const text = operationsTable([
    {
      name: 'get policy',
      kind: 'read',
      goal: 0.8,
      service: 850,
      floor: 1_000,
      ratios: [0.84, 0.91, 0.85],
      ratio: 0.85,
      serviceP99: 12.34,
      floorP99: 10,
      roundTrips: 'd1 1',
    },
  ])
  expect(text.split('\n')[1]!.split(/ {2,}/)).toEqual([
    'get policy',
    '850.0',
    '1000.0',
    '0.85',
    '0.84-0.91',
    '>= 0.8',
    '12.3',
    '10.0',
    'd1 1',
  ])
})

test('start-up and bundle stand beside their goals', () => {
  expect(startUpLine({ routes: 40, serviceMs: 120, emptyAppMs: 50, ratio: 2.4 })).toBe(
    'start-up: 120 ms CPU, an empty app with 40 routes 50 ms: ratio 2.40 (goal <= 3)',
  )
  expect(bundleLine({ bytes: 2_048_000, gzippedBytes: 512_000, apart: { gzippedBytes: 1_024_000 } })).toBe(
    'bundle: 500 KiB gzipped, 2000 KiB plain (goal < 1024 KiB gzipped); loaded when needed: 1000 KiB gzipped',
  )
})
