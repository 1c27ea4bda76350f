import { expect, test } from 'vitest'
import {
  bundleLine,
  changeRows,
  markdownTable,
  operationRows,
  startUpLine,
  table,
} from '../../tools/bench/report.ts'

test('a table has columns as wide as their widest cell, and aligns figures to the right', () => {
  expect(
    table([
      ['operation', 'req/s', 'round trips'],
      ['issue', '7.0', 'd1 1, object 1'],
    ]),
  ).toBe('operation  req/s  round trips\nissue        7.0  d1 1, object 1')
})

const SIDE = {
  perSecond: 850,
  p50: 4,
  p99: 12.34,
  cpuMs: 1.26,
  roundTrips: 'd1 1',
  rowsRead: 40,
  rowsWritten: 0,
}
const MEASURED = {
  name: 'get policy',
  kind: 'read' as const,
  goal: 0.8,
  service: SIDE,
  other: { ...SIDE, perSecond: 1_000, p99: 10, cpuMs: undefined, rowsRead: 60 },
  ratios: [0.84, 0.91, 0.85],
  ratio: 0.85,
}

test('an operation is shown with its ratio, the spread of its rounds, its goal and its costs', () => {
  const [head, row] = operationRows([MEASURED])
  expect(Object.fromEntries(head!.map((name, at) => [name, row![at]]))).toEqual({
    operation: 'get policy',
    'req/s': '850.0',
    'floor req/s': '1000.0',
    ratio: '0.85',
    spread: '0.84-0.91',
    goal: '>= 0.8',
    'p50 ms': '4.0',
    'p99 ms': '12.3',
    'floor p99 ms': '10.0',
    'CPU ms': '1.3',
    'floor CPU ms': '-',
    'rows read': '40',
    'rows written': '0',
    'round trips': 'd1 1',
  })
})

test('compared with another commit, changed counts are shown with their earlier values', () => {
  const [head, row] = changeRows([MEASURED])
  const cells = Object.fromEntries(head!.map((name, at) => [name, row![at]]))
  expect(cells).toMatchObject({ before: '1000.0', 'rows read': '60 -> 40', 'rows written': '0' })
  expect(cells['round trips']).toBe('d1 1')
})

test('a Markdown table aligns figures to the right', () => {
  expect(
    markdownTable([
      ['name', 'a', 'last'],
      ['x', '1', 'y'],
    ]),
  ).toBe('| name | a | last |\n| --- | ---: | --- |\n| x | 1 | y |')
})

test('start-up time and bundle size are shown with their goals', () => {
  expect(startUpLine({ routes: 40, serviceMs: 120, emptyAppMs: 50, ratio: 2.4 })).toBe(
    'start-up: 120 ms CPU, an empty app with 40 routes 50 ms: ratio 2.40 (goal <= 3)',
  )
  expect(bundleLine({ bytes: 2_048_000, gzippedBytes: 512_000, apart: { gzippedBytes: 1_024_000 } })).toBe(
    'bundle: 500 KiB gzipped, 2000 KiB plain (goal < 1024 KiB gzipped); loaded when needed: 1000 KiB gzipped',
  )
})
