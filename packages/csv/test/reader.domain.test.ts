import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CsvFault, CsvReader, type CsvRow, NotUtf8, Utf8Text } from '../reader.ts'

function rowsOf(...pieces: string[]): CsvRow[] {
  const rows: CsvRow[] = []
  const reader = new CsvReader(row => rows.push(row))
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return rows
}

const cellsOf = (...pieces: string[]): string[][] => rowsOf(...pieces).map(row => row.cells)

/** Returns the line of the `CsvFault` that reading the text throws. */
function faultLine(text: string): number {
  try {
    rowsOf(text)
  } catch (error) {
    if (error instanceof CsvFault) return error.line
    throw error
  }
  throw new Error('The text was read.')
}

describe('a CSV', () => {
  it('has rows of trimmed cells, whatever ends its lines, and passes over empty rows', () => {
    expect(cellsOf('a, b \r\nc,\td\r\n\n , \re,f')).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
  })

  it('has commas, line ends and doubled quotes in quoted cells', () => {
    expect(cellsOf('"a,b","c\r\nd","say ""hi"""')).toEqual([['a,b', 'c\r\nd', 'say "hi"']])
  })

  it('says which line a row begins in, and what is wrong with its quotes', () => {
    const rows = rowsOf('a,"b\nc"\nd,"e" f\n')
    expect(rows.map(row => row.line)).toEqual([1, 3])
    expect(rows[1]).toMatchObject({ fault: expect.stringContaining('after a closing quote') })
  })

  it('stops at a quote that is never closed, at too many cells and at a cell that is too long', () => {
    expect(faultLine('a\nb,"c\nd')).toBe(2)
    expect(faultLine(`a\n${','.repeat(200)}`)).toBe(2)
    expect(faultLine(`a\nb\n${'x'.repeat(8_193)}`)).toBe(3)
  })

  it('reads the same in whatever pieces it comes', () => {
    const text = fc.array(fc.constantFrom('a', ',', '"', '\r', '\n', ' ', '""'), { maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(40), (parts, cut) => {
        const whole = parts.join('')
        const outcome = (...pieces: string[]): unknown => {
          try {
            return rowsOf(...pieces)
          } catch (error) {
            return (error as CsvFault).line
          }
        }
        expect(outcome(whole.slice(0, cut), whole.slice(cut))).toEqual(outcome(whole))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('text of UTF-8', () => {
  it('comes in pieces that end within characters, without its byte-order mark', () => {
    const bytes = new TextEncoder().encode('\ufeffäöü€')
    const text = new Utf8Text()
    expect([...bytes].map(byte => text.read(Uint8Array.of(byte))).join('') + text.end()).toBe('äöü€')
  })

  it('says in which line of a piece it is none', () => {
    const bytes = Uint8Array.of(0x61, 0x0a, 0xff, 0x0a)
    expect(() => new Utf8Text().read(bytes)).toThrow(NotUtf8)
    try {
      new Utf8Text().read(bytes)
    } catch (error) {
      expect((error as NotUtf8).line).toBe(1)
    }
  })
})
